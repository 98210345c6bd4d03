"""Drawing graphs and reading what was drawn, for the tests of pictures."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from minigrad_viz.drawing.boxes import measure
from minigrad_viz.drawing.dot import to_dot
from minigrad_viz.drawing.geometry import at
from minigrad_viz.drawing.layout import layout
from minigrad_viz.drawing.look import Look
from minigrad_viz.drawing.positions import read_positions
from minigrad_viz.drawing.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"
LOOK = ("detail", "values", "saved", "lang")


def laid(graph, *, direction="LR", look=None, **options):
    """Where everything is in a picture, and Graphviz's answer for it."""
    measured = measure(graph, look, direction == "TB")
    positions = layout(to_dot(graph, measured, direction).source, deadline=20)
    return read_positions(positions, measured, direction, routes=graph.routes, **options), positions


def draw(graph, **options):
    """The picture's SVG, and where everything is in it."""
    look = Look(**{name: options.pop(name) for name in LOOK if name in options})
    places, _ = laid(graph, look=look, direction=options.pop("direction", "LR"))
    return to_svg(graph, places, lang=look.lang, **options), places


def parse(svg):
    """The root element, and all elements with an id by it."""
    root = ElementTree.fromstring(svg)
    named = [element for element in root.iter() if element.get("id")]
    assert len({element.get("id") for element in named}) == len(named), "an id occurs twice"
    return root, {element.get("id"): element for element in named}


def tokens(path):
    """Commands of path data with their numbers."""
    for command, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        yield command, [float(x) for x in re.findall(r"-?\d*\.?\d+", numbers)]


def extent(path):
    """Left, top, right and bottom of path data of rounded rectangles (M, a, h, v, z)."""
    x = y = 0.0
    xs, ys = [], []
    for command, numbers in tokens(path):
        right, down = {"M": numbers[:2], "a": numbers[5:], "h": [*numbers, 0], "v": [0, *numbers]}.get(
            command, (0, 0)
        )
        x, y = (right, down) if command == "M" else (x + right, y + down)
        xs.append(x)
        ys.append(y)
    return min(xs), min(ys), max(xs), max(ys)


def polyline(path):
    """Points along path data of an arrow (M, H, V, C), and its ends."""
    points = []
    for command, n in tokens(path):
        if command == "C":
            piece = (points[-1], (n[0], n[1]), (n[2], n[3]), (n[4], n[5]))
            points += [at(piece, i / 50) for i in range(1, 51)]
        elif command in "HV":
            points.append((n[0], points[-1][1]) if command == "H" else (points[-1][0], n[0]))
        else:
            points.append((n[0], n[1]))
    return points


def translation(element):
    return tuple(map(float, re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform")).groups()))


def box_of(element):
    """Extent of a station as it is drawn: all its boxes, moved to where it stands."""
    dx, dy = translation(element)
    boxes = [extent(path.get("d")) for path in element.iter(SVG + "path")]
    lefts, tops, rights, bottoms = zip(*boxes)
    return min(lefts) + dx, min(tops) + dy, max(rights) + dx, max(bottoms) + dy


def texts(svg):
    root, _ = parse(svg)
    return ["".join(element.itertext()).replace("\u00a0", " ") for element in root.iter(SVG + "text")]


def covers_nothing(graph, **options):
    root, _ = parse(draw(graph, **options)[0])
    solid = [box_of(e) for e in root.iter() if (e.get("class") or "").startswith(("station", "reference"))]
    pills = []
    for element in root.iter():
        if element.get("class") == "pill":
            rect = element.find(SVG + "rect")
            x, y, w, h = (float(rect.get(side)) for side in ("x", "y", "width", "height"))
            pills.append((x, y, x + w, y + h))
    for i, pill in enumerate(pills):
        for other in solid + pills[:i]:
            assert not overlap(pill, other), f"{pill} over {other}"


def crosses_nothing(graph, **options):
    root, _ = parse(draw(graph, **options)[0])
    boxes = [box_of(e) for e in root.iter() if (e.get("class") or "").startswith(("station", "reference"))]
    for edge in [e for e in root.iter() if (e.get("class") or "").startswith("edge") and e.get("id")]:
        for x, y in polyline(edge.find(SVG + "path").get("d"))[1:-1]:
            for left, top, right, bottom in boxes:
                assert not (left + 1 < x < right - 1 and top + 1 < y < bottom - 1), edge.get("id")


def overlap(a, b):
    return min(a[2], b[2]) - max(a[0], b[0]) > 0.5 and min(a[3], b[3]) - max(a[1], b[1]) > 0.5


MEASURE = """() => {
  const spilled = [];
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.viewBox.baseVal;
    for (const text of svg.querySelectorAll('text')) {
      const small = '.chip, .pill, .hooks, .none, .tag, .memory';
      const holder = text.closest(`${small}, .ghost, .deck, .card, .frame`) || svg;
      const shape = holder.querySelector(':scope > rect, :scope > .box, :scope > .head');
      const mine = text.getBBox();
      if (!mine.width) continue;
      let outer = shape ? shape.getBBox() : frame;
      let box = mine;
      if (holder === svg) {
        const m = text.getCTM(), o = svg.getCTM().inverse();
        const at = new DOMPoint(mine.x, mine.y).matrixTransform(m).matrixTransform(o);
        box = {x: at.x, y: at.y, width: mine.width, height: mine.height};
        outer = frame;
      }
      if (box.x < outer.x - 0.5 || box.x + box.width > outer.x + outer.width + 0.5)
        spilled.push([svg.id, holder.id, text.textContent, box.x, box.width, outer.x, outer.width]);
    }
    for (const role of svg.querySelectorAll('.role')) {
      const title = role.previousElementSibling.getBBox(), mine = role.getBBox();
      if (title.x + title.width > mine.x) spilled.push([svg.id, 'over role', role.parentNode.textContent]);
    }
  }
  return spilled;
}"""
