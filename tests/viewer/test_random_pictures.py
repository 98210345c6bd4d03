"""Pictures of random small graphs: each is made, nothing covers anything else, and all is inside."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from cells import traced
from pictures import SVG, box_of, overlap, parse, polyline
from random_graphs import options, random_cell, random_graph
from sketches import ROOT, Sketch, code_9

from minigrad_viz.drawing.picture import Picture
from minigrad_viz.shell.report import Report

GRAPHS, CELLS, PART = 1200, 400, 20  # the cells are drawn with both libraries
EDGE = 0.6  # pixels: numbers are rounded


def faults(svg: str) -> Iterator[str]:
    """What is wrong with a picture: boxes or pills that cover others, and what is not inside."""
    root, _ = parse(svg)
    left, top, width, height = map(float, str(root.get("viewBox")).split())
    solid: dict[str, Any] = {}
    lines: dict[str, Any] = {}
    for element in root.iter():
        kind, id = (element.get("class") or "").split()[:1], element.get("id") or ""
        if kind in (["station"], ["reference"]):
            solid[id] = box_of(element)
        elif kind == ["pill"]:
            solid[id or f"pill {len(solid)}"] = box_of_rect(element.find(f"{SVG}rect"))
        elif kind == ["edge"] and id:
            lines[id] = polyline(element.find(f"{SVG}path").get("d"))  # type: ignore[union-attr]
    for (one, a), (other, b) in itertools.combinations(solid.items(), 2):
        if overlap(a, b):
            yield f"{one} covers {other}"
    points = {id: [(x, y), (z, w)] for id, (x, y, z, w) in solid.items()} | lines
    for id, corners in points.items():
        if not all(
            left - EDGE <= x <= left + width + EDGE and top - EDGE <= y <= top + height + EDGE
            for x, y in corners
        ):
            yield f"{id} is not inside"


def box_of_rect(rect: ElementTree.Element | None) -> tuple[float, float, float, float]:
    """The extent of a rectangle."""
    assert rect is not None
    x, y, width, height = (float(str(rect.get(side))) for side in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def drawn(picture: Picture) -> list[str]:
    """What is wrong with a picture."""
    svg = picture.svg()
    return [str(picture.problem)] if svg is None else list(faults(svg))


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(0, GRAPHS, PART))
def test_graphs_made_by_hand(first):
    for seed in range(first, first + PART):
        chosen = options(random.Random(seed))
        assert not drawn(Picture(random_graph(seed), deadline=20, **chosen)), (seed, chosen)


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(0, CELLS, PART))
def test_recorded_cells(library, first):
    for seed in range(first, first + PART):
        source = random_cell(seed)
        report = Report(traced(source, library, {"fw": library.autograd.forward_ad}), deadline=20)
        assert report.graph.stations and report.trace.error is None, source
        assert not drawn(report.picture), source


DUALS = """\
with fw.dual_level():
    d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.ones(2))
    y = {function}
    p, t = fw.unpack_dual(y)
    z = p * t
"""


@pytest.mark.parametrize("function", ["d", "d.mul_(3)", "d ** 2"])
def test_a_tangent_that_comes_back_is_the_one_that_was_given(library, function):
    """`unpack_dual` returns the tensor that `make_dual` was given, where nothing computed another."""
    graph = Report(
        traced(DUALS.format(function=function), library, {"fw": library.autograd.forward_ad})
    ).graph
    cards = [card.id for _, card in graph.cards()]
    order = {station.id: i for i, station in enumerate(graph.stations)}
    assert len({*cards}) == len(cards)
    assert all(order[route.source] < order[route.target] for route in graph.routes)
    (z,) = [station for station, card in graph.cards() if card.name == "z"]
    (t,) = [station for station, card in graph.cards() if card.name == "t"]
    assert (t.id, z.id) in [(route.source, route.target) for route in graph.routes]
    assert not drawn(Picture(graph))


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("rows", [(3, 3), (3, 3, 3), (1, 3), (2, 8, 3)])
def test_high_pills_of_parallel_arrows_cover_nothing(direction, rows):
    sketch = Sketch()
    x = sketch.leaf("x", 1.0)
    gradients = [[[float(i)] for i in range(count)] for count in rows]
    sketch.op("MulBackward0", "y", None, 1.0, [(x, each) for each in gradients], (), 1.0, role=ROOT)
    assert not drawn(Picture(sketch.graph(), direction=direction))


def test_the_check_finds_faults():
    """Boxes moved on each other, and out of the frame."""
    svg = str(Picture(code_9(), direction="LR").svg())
    assert not list(faults(svg))
    moved = re.sub(r"translate\(\S+ \S+\)", "translate(20 20)", svg)
    assert any("covers" in fault for fault in faults(moved))
    assert any("not inside" in fault for fault in faults(re.sub('viewBox="\\S+', 'viewBox="400', svg)))
