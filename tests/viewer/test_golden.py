"""What is shown of the cells of `golden`, word for word, in both libraries; and what holds of all of them.

`python tests/helpers/golden.py` writes it anew.
"""

from __future__ import annotations

import pytest
from cells import traced
from golden import (
    FOLDER,
    PICTURES,
    SHOWN,
    TOPICS,
    ZOO,
    Cell,
    cells_of,
    drawn,
    golden_text,
    part_text,
    report_of,
)
from latex_check import check
from staged import build, explanations_of, frames_of
from twins import dialect

from minigrad_viz.drawing.picture import Picture
from minigrad_viz.shell.report import Report
from minigrad_viz.steps.timeline import steps_text
from minigrad_viz.trace.events import Trace

OF_CELLS = [topic for topic in TOPICS if topic not in (PICTURES, ZOO)]
CELLS = {f"{topic}: {cell.title}": cell for topic in OF_CELLS for cell in cells_of(topic)}
MISTAKES = {cell.title: cell for cell in cells_of(ZOO)}
GRAPHS = {cell.title: cell for cell in cells_of(PICTURES)}
LIBRARY = {"minigrad": "minigrad", "torch": "PyTorch"}


@pytest.mark.sample(2000)
@pytest.mark.quick(24)
@pytest.mark.parametrize("name", CELLS)
def test_what_is_shown(name, library):
    as_it_stands(CELLS[name], LIBRARY[library.__name__])


@pytest.mark.sample(40)
@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_said_of_a_mistake(name):
    as_it_stands(MISTAKES[name], "minigrad")


def as_it_stands(cell: Cell, library: str) -> None:
    """A cell shows what its file says."""
    parts = [part for part in cell.parts if library in part.libraries]
    if not parts:
        pytest.skip(f"not of {library}")
    with dialect("2"):
        report = report_of(cell.source, library)
        for part in parts:
            assert part_text(report, part) == part.text, part
        assert not report.problem
        if library == "minigrad":
            from_a_file(report.trace)
            in_korean(report)


@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_drawn(name):
    for part in GRAPHS[name].parts:
        assert drawn(GRAPHS[name].source, part.name, part.how) == part.text, part


def from_a_file(trace: Trace) -> None:
    """A trace that is written and read back is the same."""
    again = Trace.from_json(trace.to_json())
    assert again == trace and repr(again) == repr(trace), "also where different things are equal: 1 and 1.0"


def in_korean(report: Report) -> None:
    """The same is explained, with the same marks."""
    korean = explanations_of(report.trace, "ko")
    assert [(e.key, e.error, e.call, e.span, e.cause) for e in report.diagnosed] == [
        (e.key, e.error, e.call, e.span, e.cause) for e in korean
    ]
    for one, other in zip(report.diagnosed, korean):
        assert [(m.part, m.kind) for m in one.marks] == [(m.part, m.kind) for m in other.marks]
        assert bool(one.why) == bool(other.why) == has_korean(other.why)
        assert bool(one.fix) == bool(other.fix) == has_korean(other.fix)


def has_korean(sentence: str) -> bool:
    return any("가" <= letter <= "힣" for letter in sentence)


@pytest.mark.sample(24)
@pytest.mark.parametrize("name", CELLS)
def test_the_dialect_of_1_4_has_the_same_explained(name):
    """With other names of nodes, and other words of errors."""
    with dialect("2"):
        today = explanations_of(traced(CELLS[name].source), "en")
    before = explanations_of(traced(CELLS[name].source), "en")
    said = [
        [(e.key, e.call, e.span, e.cause, bool(e.why), bool(e.fix), len(e.marks)) for e in told]
        for told in (before, today)
    ]
    assert said[0] == said[1]


@pytest.mark.sample(24)
@pytest.mark.parametrize("name", CELLS)
def test_steps_are_whole(name):
    """Every mark is a part of the picture, every formula is LaTeX; in Korean the same is marked."""
    trace = traced(CELLS[name].source)
    graph = build(trace)
    picture = Picture(graph)
    svg = picture.svg()
    pills = {f"{r.id}-p" for r in graph.routes if not r.gradients}  # nothing flowed: no pill
    english, korean = (frames_of(trace, graph, lang=lang) for lang in ("en", "ko"))
    for frame in english:
        for mark in set(frame.marks) - pills:
            assert f'id="{picture.prefix}{mark}"' in svg, mark
        for line in frame.lines:
            check(line.latex)
    marks = [[(f.marks, f.span, f.phase, f.failed) for f in told] for told in (english, korean)]
    assert marks[0] == marks[1] and has_korean(steps_text(korean, "ko"))


@pytest.mark.parametrize("topic", TOPICS)
def test_titles_are_told_apart_and_parts_are_known(topic):
    cells = cells_of(topic)
    titles = [cell.title for cell in cells]
    assert len(set(titles)) == len(titles) > 0
    known = ("drawn", "outline") if topic == PICTURES else SHOWN
    assert all(cell.parts and all(part.name in known for part in cell.parts) for cell in cells)


def test_one_command_writes_them(torch):
    """What it writes is what stands there."""
    topic = TOPICS[0]
    text = (FOLDER / f"{topic}.txt").read_text(encoding="utf-8")
    assert text.startswith(golden_text(topic, cells_of(topic)[0]))
