"""Where the pills of a picture lie, and random cells to look at."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import NamedTuple

from pictures import SVG, box_of, overlap, parse, polyline

Point = tuple[float, float]
Rect = tuple[float, float, float, float]
NEAR = 4.0  # pixels between a pill that touches its arrow and the arrow, at most
OPS = ("{a} * {b}", "{a} + {b}", "{a} ** 2", "torch.sin({a})", "torch.exp({a} * 0.1)", "{a} - {b}", "{a} / 3")


class Lying(NamedTuple):
    """How many pills a picture has, and the ids of those that lie on a box, a pill or a crossing, and of
    those that are not at their own arrow, or at that of others as well."""

    pills: int
    on_box: list[str]
    on_pill: list[str]
    on_crossing: list[str]
    astray: list[str]


def lying(svg: str) -> Lying:
    """Where the pills of a picture lie."""
    root, _ = parse(svg)
    boxes, pills, lines = [], {}, {}
    for element in root.iter():
        kind = (element.get("class") or "").split()
        if kind[:1] in (["station"], ["reference"]):
            boxes.append(box_of(element))
        elif kind[:1] == ["pill"] and element.get("id"):
            rect = element.find(SVG + "rect")
            x, y, width, height = (float(rect.get(side)) for side in ("x", "y", "width", "height"))
            pills[element.get("id")] = (x, y, x + width, y + height)
        elif kind[:1] == ["edge"] and element.get("id") and "ghost" not in kind:
            lines[element.get("id")] = polyline(element.find(SVG + "path").get("d"))
    on_box = [id for id, pill in pills.items() if any(overlap(pill, box) for box in boxes)]
    pairs = itertools.combinations(pills.items(), 2)
    on_pill = [first for (first, a), (_, b) in pairs if overlap(a, b)]
    crossed = [id for id, pill in pills.items() if any(crossings(id[:-1] + "g", pill, lines))]
    astray = [id for id, pill in pills.items() if not at_its_own(id[:-1] + "g", pill, lines)]
    return Lying(len(pills), on_box, on_pill, crossed, astray)


def at_its_own(own: str, pill: Rect, lines: dict[str, list[Point]]) -> bool:
    """Whether a pill lies on its arrow, or touches it and lies on no other gradient arrow."""
    if any(inside(lines[own], pill)):
        return True
    left, top, right, bottom = pill
    near = left - NEAR, top - NEAR, right + NEAR, bottom + NEAR
    others = (line for id, line in lines.items() if id.endswith("-g") and id != own)
    return any(inside(lines[own], near)) and not any(any(inside(line, pill)) for line in others)


def crossings(own: str, pill: Rect, lines: dict[str, list[Point]]) -> Iterator[str]:
    """The arrows that cross a pill's own one under the pill."""
    mine = list(inside(lines[own], pill))
    for id, line in lines.items():
        if id != own and any(cross(*a, *b) for b in inside(line, pill) for a in mine):
            yield id


def inside(line: list[Point], rect: Rect) -> Iterator[tuple[Point, Point]]:
    """The pieces of a line that are at least partly inside a rectangle."""
    left, top, right, bottom = rect
    for (a, b), (c, d) in itertools.pairwise(line):
        if max(a, c) > left and min(a, c) < right and max(b, d) > top and min(b, d) < bottom:
            yield clipped((a, b), (c, d), rect)


def clipped(a: Point, b: Point, rect: Rect) -> tuple[Point, Point]:
    """A level or upright piece, cut off at the borders of a rectangle; any other as it is."""
    left, top, right, bottom = rect
    if a[1] == b[1]:
        low, high = sorted((a[0], b[0]))
        return (max(low, left), a[1]), (min(high, right), a[1])
    if a[0] == b[0]:
        low, high = sorted((a[1], b[1]))
        return (a[0], max(low, top)), (a[0], min(high, bottom))
    return a, b


def cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether two pieces cross."""

    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def random_cell(seed: int) -> str:
    """A cell of a few leaves and up to 14 ops on what is there."""
    draw = random.Random(seed)
    names = [f"x{i}" for i in range(draw.randint(1, 3))]
    lines = [f"{name} = torch.tensor({draw.uniform(0.5, 2):.2f}, requires_grad=True)" for name in names]
    for i in range(draw.randint(2, 14)):
        a, b = draw.choice(names[-4:]), draw.choice(names)
        lines.append(f"y{i} = {draw.choice(OPS).format(a=a, b=b)}")
        names.append(f"y{i}")
    used = [name for name in names if not any(name in line.partition("=")[2] for line in lines)]
    return "\n".join([*lines, f"z = {' + '.join(used)}", "z.backward()", ""])
