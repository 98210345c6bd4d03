"""The picture from left to right and from top to bottom."""

from __future__ import annotations

import pytest
from pictures import SVG, box_of, covers_nothing, crosses_nothing, draw, parse, polyline
from sketches import GRAPHS, chain, code_9, many_uses

from minigrad_viz.drawing.geometry import AXES

TURNED = ("TB",)
# How a forward arrow runs, and the sides on which it leaves a box and reaches the next.
RUNS = {"LR": (1, 0), "TB": (0, 1)}


@pytest.mark.sample(14)
@pytest.mark.quick(4)
@pytest.mark.parametrize("direction", RUNS)
@pytest.mark.parametrize("name", GRAPHS)
def test_arrows_leave_and_reach_the_right_sides(name, direction):
    graph = GRAPHS[name]()
    svg, places = draw(graph, direction=direction)
    _, elements = parse(svg)
    measured = places.measured
    dx, dy = RUNS[direction]
    for route in graph.routes:
        if measured.line(route) != route.id:
            continue
        tail, head = box_of(elements[measured.tail(route)]), box_of(elements[route.target])
        assert (centre(head)[0] - centre(tail)[0]) * dx + (centre(head)[1] - centre(tail)[1]) * dy > 0
        arrows = {"": 1, "-g": -1} if route.tracked else {"": 1}
        for suffix, sign in arrows.items():
            points = polyline(elements[route.id + suffix].find(SVG + "path").get("d"))[::sign]
            cards = measured.boxes[measured.tail(route)].cards
            nearest = route.card == len(cards) - 1  # others leave over the top
            if dy or suffix or nearest or not cards:
                assert on_side(points[0], tail, (dx, dy)), (route.id, suffix)
            assert on_side(points[-1], head, (-dx, -dy)), (route.id, suffix)
            low, high = places.span(route.target, 0, bool(suffix))
            assert low < (points[-1][0] if dy else points[-1][1]) < high


def centre(box):
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def on_side(point, box, side):
    """Whether a point lies on one side of a box, but for the length of an arrow's head."""
    (x, y), (left, top, right, bottom), (dx, _) = point, box, side
    edge = {(1, 0): right, (-1, 0): left, (0, 1): bottom, (0, -1): top}[side]
    away = abs((x if dx else y) - edge)
    inside = top - 1 <= y <= bottom + 1 if dx else left - 1 <= x <= right + 1
    return away < 9.6 and inside


@pytest.mark.sample(6)
@pytest.mark.parametrize("direction", TURNED)
@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_is_covered(name, direction):
    crosses_nothing(GRAPHS[name](), direction=direction)
    covers_nothing(GRAPHS[name](), direction=direction)


@pytest.mark.parametrize("direction", TURNED)
def test_the_two_arrows_of_a_station_stay_apart(direction):
    _, places = draw(code_9(), direction=direction)
    for station in code_9().stations:
        assert places.lower(station.id) - places.upper(station.id) > 80


@pytest.mark.full
@pytest.mark.parametrize("direction", TURNED)
def test_large_graphs(direction):
    parse(draw(chain(300), direction=direction)[0])
    parse(draw(many_uses(100), direction=direction)[0])


def test_turning_and_turning_back():
    for axes in AXES.values():
        assert axes.back(axes.into((3.0, -7.0))) == (3.0, -7.0)
        assert axes.into(axes.back((3.0, -7.0))) == (3.0, -7.0)
    assert AXES["TB"].into((1.0, 2.0)) == (2.0, 1.0)
