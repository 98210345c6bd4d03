"""The steps of random cells: each has a text, and shows nothing that picture and source lack."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import HealthCheck, given, settings
from random_cells import cells
from staged import frames_of, scenes_of
from telling import recorded, run_cell
from test_schedule import check
from tiers import examples
from twins import dialect

from minigrad_viz.steps.story import LIMIT
from minigrad_viz.steps.timeline import steps_text, to_markdown
from minigrad_viz.trace.events import Trace
from minigrad_viz.trace.graph import Graph


def parts(graph: Graph) -> Iterator[str]:
    """The ids of everything in a picture that a step may mark."""
    for station in graph.stations:
        yield from (f"{station.id}-c{i}" for i in range(len(station.cards)))
        yield f"{station.id}-d"
    for route in graph.routes:
        yield from (route.id, f"{route.id}-g", f"{route.id}-p")
    for update in graph.updates:
        yield from (update.id, *(f"{update.id}-{change.id}" for change in update.changes))


def inside(source: str, span: tuple[int, int, int, int]) -> bool:
    """Whether a span lies in a text and marks something of it."""
    line, column, end_line, end_column = span
    lines = source.split("\n")
    return (line, column) < (end_line, end_column) and end_column <= len(lines[end_line - 1])


def walk_through(trace: Trace) -> None:
    """All steps of all calls of a trace."""
    for scene in scenes_of(trace, lang="en"):
        steps = frames_of(trace, scene.graph, scene.call or None, "en")
        known = set(parts(scene.graph))
        stations = {station.id for station in scene.graph.stations}
        assert len(steps) <= LIMIT
        for step in steps:
            assert known >= set(step.marks)
            assert step.span is None or inside(trace.source, step.span)
            assert stations >= {*step.ready, *(id for id, missing in step.waiting if missing > 0)}
            assert "\n" not in step.text and step.text.strip() == step.text != ""
            assert all(line.label and line.text for line in step.lines)
        for phase in ("forward", "backward"):
            labels = [step.label for step in steps if step.phase == phase]
            assert labels == [f"{phase} {i} of {len(labels)}" for i in range(1, len(labels) + 1)]
        assert len(steps_text(steps, "en").split("\n")) == max(
            1, sum(1 + len(s.lines) + bool(s.recursion) for s in steps)
        )
        korean = frames_of(trace, scene.graph, scene.call or None, "ko")
        assert [(s.marks, s.span, s.ready) for s in korean] == [(s.marks, s.span, s.ready) for s in steps]
        assert to_markdown(korean, "ko")


@settings(
    max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cell=cells)
def test_random_cells(library, cell):
    with dialect("2"):
        (trace,) = run_cell(cell, library, recorded).kept
        walk_through(trace)
        check(trace)
