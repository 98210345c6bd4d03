"""The picture: all stands where Graphviz says, nothing spills or breaks, every kind of graph can be drawn."""

from __future__ import annotations

import re
import time
from xml.etree import ElementTree

import pytest
from cells import traced
from lab import BROWSER_OPTIONS, find_chromium
from pictures import MEASURE, SVG, box_of, covers_nothing, crosses_nothing, draw, laid, parse, polyline, texts
from sketches import GRAPHS, Sketch, chain, code_4, code_9, code_13, code_18, many_uses
from staged import build

from minigrad_viz.drawing.boxes import measure
from minigrad_viz.drawing.digraph import Digraph
from minigrad_viz.drawing.dot import to_dot as dot_of
from minigrad_viz.drawing.geometry import at
from minigrad_viz.drawing.layout import render
from minigrad_viz.drawing.look import Look
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.drawing.positions import FORWARD, GRADIENT
from minigrad_viz.drawing.style import css
from minigrad_viz.drawing.svg import to_svg
from minigrad_viz.trace.graph import ROOT, Graph
from minigrad_viz.words import clean
from minigrad_viz.words.display_text import text_pixels

# --------------------------------------------------------------------------------------- Graphviz's positions


@pytest.mark.sample(8)
@pytest.mark.quick(6)
@pytest.mark.parametrize("detail", ["normal", "full"])
@pytest.mark.parametrize("name", GRAPHS)
def test_every_station_stands_where_graphviz_put_it(name, detail):
    graph = GRAPHS[name]()
    svg, places = draw(graph, detail=detail, prefix="p-")
    _, positions = laid(graph, look=Look(detail=detail))
    _, elements = parse(svg)
    height = float(positions["bb"].split(",")[3])
    nodes = [thing for thing in positions["objects"] if not thing["name"].startswith("cluster")]
    assert {thing["name"] for thing in nodes} >= {station.id for station in graph.stations}
    order = sorted(nodes, key=lambda thing: float(thing["pos"].split(",")[0]))
    columns = [places.column[thing["name"]] for thing in order]
    assert columns == sorted(columns), "columns keep their order; only the gaps between them change"
    for thing in nodes:
        left, top, right, bottom = box_of(elements["p-" + thing["name"]])
        _, y = map(float, thing["pos"].split(","))
        assert (left + right) / 2 == pytest.approx(places.centres[thing["name"]][0], abs=0.2)
        assert (top + bottom) / 2 == pytest.approx(height - y, abs=0.2)
        assert right - left == pytest.approx(72 * float(thing["width"]), abs=0.2)
        assert bottom - top == pytest.approx(72 * float(thing["height"]), abs=0.2)


@pytest.mark.parametrize("name", GRAPHS)
def test_every_route_follows_graphviz_between_decks(name):
    """Ends are at the decks; heights change inside the gaps between columns; in between lies Graphviz's curve
    (the gradient arrow one of a few fixed distances beside it)."""
    graph = GRAPHS[name]()
    svg, places = draw(graph)
    _, elements = parse(svg)
    measured = places.measured
    for route in graph.routes:
        if measured.line(route) != route.id:
            continue
        tail = measured.tail(route)
        first, last = places.column[tail], places.column[route.target]
        assert last > first, "forward arrows run from left to right"
        assert route.id in places.curves
        arrows = [("", FORWARD)] + [("-g", GRADIENT)] * route.tracked
        for suffix, asides in arrows:
            points = polyline(elements[route.id + suffix].find(SVG + "path").get("d"))
            points = points if points[0][0] < points[-1][0] else points[::-1]
            box, (left, top) = measured.boxes[tail], places.corner(tail)
            low, high = places.span(route.target, 0, bool(suffix))
            assert low < points[-1][1] < high
            assert points[-1][0] == pytest.approx(places.corner(route.target)[0], abs=9.5)
            if route.card == len(box.cards) - 1 or suffix or not box.cards:
                assert points[0][0] == pytest.approx(left + box.width, abs=9.5)
                low, high = places.span(tail, route.card if box.cards else 0, bool(suffix))
                assert low < points[0][1] < high
            else:  # out over the top of the cards that stand behind
                assert points[0][1] == pytest.approx(top, abs=0.2)
                assert left + box.cards[route.card].x < points[0][0] < left + box.width
            if last - first < 2:
                continue
            ours = inside(points, places.columns[first + 1][0] + 1, places.columns[last - 1][1] - 1)
            curve = [at(piece, i / 200) for piece in places.curves[route.id] for i in range(201)]
            assert ours and min(distance(ours, curve, aside) for aside in asides) < 3


def distance(points, curve, aside):
    """The farthest that any of `points`, `aside` below it, is from `curve`."""
    return max(min(abs(x - u) + abs(y - aside - v) for u, v in curve) for x, y in points)


def inside(points, left, right):
    return [(x, y) for x, y in points if left <= x <= right]


@pytest.mark.parametrize("name", GRAPHS)
def test_frames_are_graphvizs_clusters(name):
    graph = GRAPHS[name]()
    svg, _ = draw(graph)
    _, positions = laid(graph)
    root, elements = parse(svg)
    height = float(positions["bb"].split(",")[3])
    clusters = [thing for thing in positions["objects"] if thing["name"].startswith("cluster_")]
    assert len(clusters) == sum(element.get("class") == "frame" for element in root.iter())
    for cluster in clusters:
        _, bottom, _, top = map(float, cluster["bb"].split(","))
        rect = elements["frame" + cluster["name"][8:]].find(SVG + "rect")
        drawn = [float(rect.get(name)) for name in ("x", "y", "width", "height")]
        assert drawn[1::2] == pytest.approx([height - top, top - bottom], abs=0.2)
        order = int(cluster["name"][8:])
        inside = [box_of(elements[s.id]) for s in graph.stations if s.order == order]
        assert drawn[0] < min(box[0] for box in inside)
        assert max(box[2] for box in inside) < drawn[0] + drawn[2]


def test_recipe_of_the_layout():
    def to_dot(graph, **options):
        return dot_of(graph, measure(graph), **options)

    dot = to_dot(code_18())
    assert isinstance(dot, Digraph) and dot.source == to_dot(code_18()).source, "deterministic"
    assert 'node [fixedsize=true label="" shape=box]' in dot.source
    assert "rankdir=LR" in dot.source and "subgraph cluster_2" in dot.source
    assert dot.source.count(" -> ") == len(code_18().routes)
    assert not re.search(r"constraint|headport|tailport|\w:\w+ ->", dot.source)
    assert "rankdir=TB" in to_dot(code_18(), direction="TB").source
    assert (
        "\ty = x ** 3" not in to_dot(code_4()).source
        and "PowBackward0" in to_dot(code_4(), labels=True).source
    )


@pytest.mark.parametrize("name", GRAPHS)
def test_labels_for_graphvizs_own_drawing_are_literal(name):
    graph = GRAPHS[name]()
    root = ElementTree.fromstring(
        render(dot_of(graph, measure(graph), labels=True).source, "svg", deadline=20)
    )
    shown = "".join(root.itertext())
    for station in graph.stations:
        if station.deck and len(station.deck.name) < 100:
            assert re.sub(r"\s", "", clean(station.deck.name)) in re.sub(r"\s", "", shown)


# --------------------------------------------------------------------------------------------------- contents


def test_inputs_without_an_edge_end_in_a_sign():
    svg, _ = draw(code_13())
    root, _ = parse(svg)
    assert sum(element.get("class") == "none" for element in root.iter()) == 2 + 1  # and once in the legend
    s = Sketch()
    inputs = [(s.constant(f"c{i}", 1.0), False) for i in range(9)]
    s.op("CatBackward0", "y", "torch.cat(…)", 1.0, [*inputs, (s.leaf("x", 1.0), None)], role=ROOT)
    assert "∅9" in texts(draw(s.graph())[0]), "many are counted"


def test_a_much_used_leaf_has_a_sign_at_each_use():
    svg, _ = draw(many_uses(20))
    root, _ = parse(svg)
    assert sum(element.get("class") == "reference" for element in root.iter()) == 19
    root, elements = parse(draw(many_uses(20, chain=False))[0])
    assert not any(element.get("class") == "reference" for element in root.iter()), "one user needs no sign"
    assert [e.text for e in elements["r0-p"].iter(SVG + "text")] == ["1.", "×20"]


def test_more_saved_values_than_fit_are_counted_and_told_in_the_tooltip():
    s = Sketch()
    x = s.leaf("x", 1.0)
    s.op(
        "ConvolutionBackward0",
        "y",
        "conv(x)",
        1.0,
        [(x, None)],
        [(f"parameter_{i}", f"({i}, {i})") for i in range(12)],
    )
    graph = s.graph()
    svg, _ = draw(graph)
    (more,) = [e for e in parse(svg)[0].iter() if e.get("class") == "chip more"]
    hidden = int(more.find(SVG + "text").text[1:])
    assert 0 < hidden < 12 and more.find(SVG + "title").text.count("parameter_") == hidden
    assert "chip more" not in draw(graph, detail="full")[0]


def test_alternative_text():
    root, elements = parse(draw(code_9(), lang="en", prefix="fig1-")[0])
    assert root.get("role") == "img" and root.get("aria-labelledby") == "fig1-title fig1-desc"
    assert elements["fig1-title"].text == "Computation graph of z"
    assert elements["fig1-desc"].text == "Tensors: 6. Backward nodes: 6. Root: z. Leaves: x."
    tip = elements["fig1-s0-c0"].find(SVG + "title").text
    assert tip.startswith("x\nrole: leaf\nvalue: 5.\ngrad: 1.6\nrequires_grad: True")
    assert elements["fig1-r0-p"].find(SVG + "title").text == "gradient from y to x: 0.6"


def test_a_limit_that_was_reached_is_told():
    graph = code_4()
    svg, _ = draw(Graph(graph.stations, graph.routes, omitted=12), lang="en")
    assert "The graph exceeds the limit. Boxes left out: 12." in " ".join(texts(svg))


def test_themes():
    light, dark, auto = (css(theme) for theme in ("light", "dark", "auto"))
    assert "--leaf:#8CCBF0" in light and "#16577f" not in light and "--leaf:#16577f" in dark
    assert "prefers-color-scheme:dark" in auto and '[data-jp-theme-light="false"] .mg-auto' in auto
    assert auto.count("{") == auto.count("}")
    rules = re.sub(r"@media\([^)]*\)|:is\([^)]*\)", "", auto).replace("}}", "}")
    for selectors in re.findall(r"([^{}]+)\{", rules):
        assert all(".mg" in selector for selector in selectors.split(",")), "styles nothing else on a page"


def test_the_same_every_time_and_small():
    svg, places = draw(code_9())
    assert svg == to_svg(code_9(), places)
    assert len(svg.encode()) < 20_000


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", GRAPHS)
def test_hostile_or_not_it_is_well_formed(name):
    svg, _ = draw(GRAPHS[name]())
    root, _ = parse(svg)
    names = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert names <= {"svg", "title", "desc", "style", "rect", "g", "path", "text", "tspan"}
    assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", svg)
    svg.encode("utf-8")
    _, _, width, height = map(float, root.get("viewBox").split())
    assert (width, height) == (float(root.get("width")), float(root.get("height")))


@pytest.mark.parametrize("name", GRAPHS)
def test_pills_cover_no_station_and_no_other_pill(name):
    covers_nothing(GRAPHS[name]())


@pytest.mark.parametrize("name", GRAPHS)
def test_arrows_run_over_no_station(name):
    crosses_nothing(GRAPHS[name]())


@pytest.mark.full
@pytest.mark.parametrize(
    "graph", [chain(999), many_uses(1000), many_uses(1000, chain=False)], ids=["chain", "uses", "fan in"]
)
def test_a_thousand_stations_or_uses_in_time(graph):
    start = time.process_time()
    svg, _ = draw(graph)
    assert time.process_time() - start < 15, "some 3 s are usual"
    parse(svg)


# ------------------------------------------------------------------------------------------------ real widths


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
def test_no_text_spills_out_of_its_box_in_a_real_browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    pictures = []
    for name, make in GRAPHS.items():
        for lang in ("en", "ko"):
            for detail in ("normal", "full"):
                svg, _ = draw(make(), lang=lang, detail=detail, prefix=f"{name}-{lang}-{detail}-")
                pictures.append(
                    svg.replace("<svg ", f'<svg id="{name}-{lang}-{detail}" style="max-width:none" ', 1)
                )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
        page = browser.new_page()
        page.set_content("<!doctype html><meta charset='utf-8'>" + "".join(pictures))
        assert page.evaluate("document.querySelectorAll('svg .station').length") > 100
        assert page.evaluate("document.querySelectorAll('script').length") == 0
        assert page.evaluate(MEASURE) == []
        browser.close()


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
@pytest.mark.parametrize(
    "system, page_says, theme, dark",
    [
        ("light", "", "auto", False), ("dark", "", "auto", True), ("light", "", "dark", True),
        ("dark", "", "light", False),
        ("dark", 'data-jp-theme-light="true"', "auto", False),
        ("light", 'data-jp-theme-light="false"', "auto", True),
        ("light", 'data-jp-theme-light="false"', "light", False),
        ("light", 'class="vscode-dark"', "auto", True),
    ],
)  # fmt: skip
def test_colours_follow_the_system_and_the_notebook(system, page_says, theme, dark):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    svg, _ = draw(code_4(), theme=theme)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
        page = browser.new_page(color_scheme=system)
        page.set_content(f"<!doctype html><body {page_says}>{svg}")
        colour = page.evaluate("getComputedStyle(document.querySelector('.paper')).fill")
        browser.close()
    assert colour == ("rgb(17, 20, 24)" if dark else "rgb(255, 255, 255)")


def test_the_scales_below_a_narrow_picture_fit(library):
    """Both scales of a picture from top to bottom do not fit beside each other."""
    source = (
        "x = torch.arange(32.0).reshape(4, 8).requires_grad_()\ny = torch.tanh(x)\ny.backward(x.detach())\n"
    )
    picture = Picture(build(traced(source, library)), direction="TB", lang="en")
    root, _ = parse(picture.svg())
    right = float(root.get("viewBox").split()[2]) - 22
    said = [
        e
        for e in root.iter(SVG + "text")
        if e.text and e.text.startswith(("all values", "all gradients", "−"))
    ]
    assert len(said) == 4 and all(float(e.get("x")) + text_pixels(e.text) <= right for e in said)


def test_a_card_without_rows_has_round_corners(library):
    """Its head fills it."""
    (head,) = {
        e.get("d")
        for e in parse(Picture(build(traced("x = torch.ones(2)\n", library)), values=False).svg())[0].iter()
        if e.get("class") == "head"
    }
    assert head.count("a7 7") == 4
