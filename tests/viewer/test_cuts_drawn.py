"""Where the path of a gradient ends, in the picture and in words: scissors, fog, ghosts, shared memory."""

from __future__ import annotations

import itertools

import pytest
from pictures import SVG, box_of, draw, extent, overlap, parse, polyline, translation
from signed import SIGNED, detached, fog, halves, with_card, with_route
from sketches import many_uses

from minigrad_viz.drawing.outline import outline
from minigrad_viz.words import CATALOGUES, text

CUTS = ("detach", "data", "no_grad", "inference", "numpy", "item", "tensor", "integer")


def tip(element):
    return element.find(SVG + "title").text


def near(point, rect, by):
    return rect[0] - by <= point[0] <= rect[2] + by and rect[1] - by <= point[1] <= rect[3] + by


# ---------------------------------------------------------------------------------------- scissors, ghosts


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("make", [detached, halves, fog])
def test_scissors_stand_on_the_forward_arrow_and_the_ghost_ends_there(make, direction):
    graph = make()
    _, elements = parse(draw(graph, direction=direction)[0])
    cut = [route for route in graph.routes if route.cut]
    assert [id for id in elements if id.endswith("-cut")] == [f"{route.id}-cut" for route in cut]
    for route in cut:
        place = elements[f"{route.id}-cut"].get("transform").partition(" rotate")[0]
        x, y = map(float, place[len("translate(") : -1].split())
        forward = polyline(elements[route.id].find(SVG + "path").get("d"))
        assert away((x, y), forward) < 2.5, "on the arrow"
        ghost = polyline(elements[f"{route.id}-ghost"].find(SVG + "path").get("d"))
        assert near(ghost[0], box_of(elements[route.target]), 1), "from where the gradient would have come"
        assert 8 < abs(ghost[-1][0] - x) + abs(ghost[-1][1] - y) < 20, "to the handles"
        assert not near((x, y), box_of(elements[route.source]), 0), "beside the stations"
        assert route.tracked is False and f"{route.id}-g" not in elements


def away(point, line):
    """How far a point is from a line that is given by points."""
    (x, y), found = point, []
    for (a, b), (c, d) in itertools.pairwise(line):
        length = (c - a) ** 2 + (d - b) ** 2
        share = min(1.0, max(0.0, ((x - a) * (c - a) + (y - b) * (d - b)) / length)) if length else 0.0
        found.append(abs(x - a - share * (c - a)) + abs(y - b - share * (d - b)))
    return min(found)


def test_scissors_do_not_cover_each_other():
    _, elements = parse(draw(fog())[0])
    (ax, ay), (bx, by) = (translation(elements[f"r{i}-cut"]) for i in (0, 1))
    assert not overlap((ax - 8, ay - 8, ax + 8, ay + 12), (bx - 8, by - 8, bx + 8, by + 12))


@pytest.mark.parametrize("lang", CATALOGUES)
@pytest.mark.parametrize("cut", CUTS)
def test_every_cut_says_what_ended_the_path(cut, lang):
    graph = with_route(detached(), 1, cut=cut)
    said = text(f"cut_{cut}", lang)
    _, elements = parse(draw(graph, lang=lang)[0])
    assert tip(elements["r1-cut"]) == tip(elements["r1-ghost"]) == said
    assert tip(elements["r1"]).split("\n")[1] == said, "and in the details of the arrow"
    assert f"  ✂ y: {said}" in outline(graph, lang).split("\n")


def test_an_input_that_was_cut_is_told_instead_of_one_without_gradient():
    lines = outline(with_route(halves(), 3, cut="tensor"), "en").split("\n")
    at = lines.index(next(line for line in lines if line.startswith("z = y * w")))
    assert lines[at + 2 : at + 4] == ["  ← y", f"  ✂ w: {text('cut_tensor', 'en')}"]


def test_one_cut_of_a_bundle_is_shown_at_the_arrow_that_is_drawn():
    graph = with_route(many_uses(20, chain=False), 7, cut="detach", tracked=False)
    _, elements = parse(draw(graph)[0])
    assert [id for id in elements if id.endswith("-cut")] == ["r0-cut"]


# -------------------------------------------------------------------------------------------------- fog


def test_fog_lies_around_what_was_not_recorded_and_the_ghost_of_its_node_below():
    svg, _ = draw(fog(), lang="en")
    _, elements = parse(svg)
    for id, lines in (
        ("s2", ["(PowBackward1)", "no_grad: not recorded"]),
        ("s3", ["inference mode: not recorded"]),
    ):
        ghost, station = elements[f"{id}-ghost"], box_of(elements[id])
        assert [line.text for line in ghost.findall(SVG + "text")] == lines
        haze = polyline(elements[f"{id}-fog"].find(SVG + "path").get("d").replace("L", "M"))
        left, top, right, bottom = min(x for x, _ in haze), min(y for _, y in haze), *map(max, zip(*haze))
        assert left < station[0] and top < station[1] and right > station[2] and bottom > station[3]
        card = extent(elements[f"{id}-c0"].find(SVG + "path").get("d"))
        deck = extent(ghost.find(SVG + "path").get("d"))
        assert deck[1] == pytest.approx(card[3]) and deck[2] - deck[0] == pytest.approx(card[2] - card[0])
        assert f"{id}-d" not in elements, "it is not a node"
    assert (
        tip(elements["s2-ghost"]) == "no_grad: not recorded\nwithout it, there would be a PowBackward1 here"
    )
    assert "s0-fog" not in elements and "s0-ghost" not in elements
    said = outline(fog(), "en")
    assert (
        "\n  (PowBackward1) no_grad: not recorded\n" in said and "\n  inference mode: not recorded\n" in said
    )


def test_a_node_that_was_made_stands_in_fog_without_a_ghost():
    graph = with_card(SIGNED["hooked"](), 1, fog="no_grad")
    _, elements = parse(draw(graph)[0])
    assert "s1-fog" in elements and "s1-d" in elements and "s1-ghost" not in elements
