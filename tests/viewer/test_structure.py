"""Pictures of one structure share a layout, and a page stores what they say as a table of texts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from cells import traced
from pictures import box_of, parse

from minigrad_viz.drawing import structure
from minigrad_viz.drawing.structure import least_width, structure_of
from minigrad_viz.player.score import content
from minigrad_viz.shell.report import Report

LOOP = (
    "x = torch.tensor(1.6, requires_grad=True)\nfor i in range({n}):\n    loss = (x - 3) ** 2\n"
    "    loss.backward()\n    with torch.no_grad():\n        x -= 0.01 * x.grad\n    x.grad = None\n"
)
ALTERNATING = (
    "w = torch.tensor([1.0, 2.0], requires_grad=True)\nfor i in range(4):\n"
    "    y = (w * w).sum() if i % 2 else w.exp().sum()\n    y.backward()\n"
)


@pytest.fixture
def layouts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Graphviz is asked."""
    asked: list[str] = []
    layout = structure.layout
    monkeypatch.setattr(structure, "layout", lambda dot, **how: (asked.append(dot), layout(dot, **how))[1])
    return asked


def geometry(svg: str) -> list[Any]:
    """Where the stations and arrows of a picture are."""
    root, _ = parse(svg)
    stations = [box_of(e) for e in root.iter() if (e.get("class") or "").startswith("station ")]
    return [root.get("viewBox"), *stations, *re.findall(r' d="([^"]*)"', svg)]


def test_equal_rounds_have_one_layout(library: Any, layouts: list[str]) -> None:
    report = Report(traced(LOOP.format(n=20), library), lang="en")
    page = report.html()
    assert len(report.acts) == 20
    boxes = {panel.box for act in report.acts for panel in act.panels}
    assert len(set(layouts)) == len(layouts) <= 1 + 4 * len(boxes), "one, and the tries in a box"
    assert len(page) < 90_000


def test_nothing_moves_from_round_to_round(library: Any) -> None:
    report = Report(traced(LOOP.format(n=4), library), lang="en")
    first, *others = (geometry(str(act.picture.svg())) for act in report.acts)
    assert all(other == first for other in others)
    assert len({act.picture.prefix for act in report.acts}) == 1
    assert len({str(act.picture.svg()) for act in report.acts}) == 4, "but the numbers are their own"


def test_rounds_that_differ_have_their_own(library: Any, layouts: list[str]) -> None:
    acts = Report(traced(ALTERNATING, library), lang="en", direction="LR").acts
    graphs = [act.picture.graph for act in acts]
    assert len({structure_of(graph) for graph in graphs}) == 2
    prefixes = [act.picture.svg() and act.picture.prefix for act in acts]
    assert len(layouts) == 2 and prefixes[0] == prefixes[2] != prefixes[1] == prefixes[3]


def test_no_station_is_smaller_than_what_it_says(library: Any) -> None:
    """The widest of all rounds decides."""
    grows = LOOP.format(n=4).replace("0.01 * x.grad", "x - 10.0 ** (i * 3)")
    report = Report(traced(grows, library), lang="en", direction="LR")
    for act in report.acts:
        alone = Report(report.trace, lang="en", direction="LR").views
        (graph,) = [view.graph for view in alone if view.call == report.views[report.acts.index(act)].call]
        own = structure.measure(graph, act.picture.look)
        shared = act.picture.measured()
        assert all(shared.boxes[id].width >= box.width for id, box in own.boxes.items())
        assert all(shared.pills[id].width >= pill.width for id, pill in own.pills.items())


def test_no_layout_is_narrower_than_the_least(library: Any) -> None:
    for act in Report(traced(ALTERNATING, library), lang="en", direction="LR").acts:
        graph, picture = act.picture.graph, act.picture
        assert picture.svg()
        _, places = picture.structure.places(0)
        assert 0 < least_width(graph, places.measured) <= places.width


def test_a_round_is_stored_by_what_differs(library: Any) -> None:
    """The last round has all, each other round some hundred bytes."""
    sizes = [len(Report(traced(LOOP.format(n=n), library), lang="en").html(table=False)) for n in (10, 20)]
    whole = Report(traced(LOOP.format(n=1), library), lang="en").act(-1)
    assert sizes[1] - sizes[0] < len(str(content(whole))) / 2
