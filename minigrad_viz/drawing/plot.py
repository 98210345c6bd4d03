"""Axes with round numbers, and what is drawn on them as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..arithmetic.typeset import SUPERSCRIPTS
from .style import num, xml

Point = tuple[float, float]

LEFT, TOP, WIDE, HIGH = 64.0, 34.0, 310.0, 230.0  # of the plotted part, in pixels


class Axes(NamedTuple):
    """The plotted part of the plane: (left, bottom) and (right, top) in its own numbers."""

    low: Point
    high: Point

    def at(self, point: Point) -> Point:
        """Where a point stands in the picture."""
        (x0, y0), (x1, y1) = self
        return (
            LEFT + WIDE * (point[0] - x0) / (x1 - x0),
            TOP + HIGH * (1 - (point[1] - y0) / (y1 - y0)),
        )

    def holds(self, point: Point) -> bool:
        """Whether a point lies in the plotted part."""
        return all(low <= v <= high for low, v, high in zip(self.low, point, self.high, strict=True))

    def line(self, through: Point, slope: float) -> tuple[Point, Point] | None:
        """The two ends of a line within the plotted part; None if it passes by."""
        (x0, y0), (x1, y1), (x, y) = self.low, self.high, through
        ends = [x0, x1]
        if slope:
            across = sorted((x + (y0 - y) / slope, x + (y1 - y) / slope))
            ends = [max(x0, across[0]), min(x1, across[1])]
        if ends[0] >= ends[1]:
            return None
        first, last = ((e, y + slope * (e - x)) for e in ends)
        return first, last


def ticks(low: float, high: float) -> list[float]:
    """Three to six round numbers between two numbers."""
    step = 10.0 ** math.floor(math.log10((high - low) / 3))
    step *= next(k for k in (10, 5, 2, 1) if (high - low) / (step * k) >= 2.5)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def label(value: float, step: float) -> str:
    """A round number with as many digits as its step has."""
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:.{places}f}" if places < 5 and abs(value) < 1e5 else f"{value:.4g}"


def rounds(low: float, high: float, here: float) -> dict[float, str]:
    """The round numbers of an axis with their labels; as distances from `here` where the axis is so short
    that the numbers themselves look alike."""
    short = high - low < 1e-3 * max(abs(low), abs(high))
    base = here if short else 0.0
    values = ticks(low - base, high - base)
    step = values[1] - values[0]
    return {base + v: f"{v:+.3g}".replace("e-0", "e-") if short else label(v, step) for v in values}


def decades(low: float, high: float) -> dict[float, str]:
    """Powers of ten, at most seven of them."""
    first, last = math.ceil(low), math.floor(high)
    step = max(1, math.ceil((last - first + 1) / 7))
    return {float(k): f"10{str(k).translate(SUPERSCRIPTS)}" for k in range(first, last + 1) if k % step == 0}


def path(kind: str, points: Iterable[Point], dash: str = "") -> str:
    """A line through points of the picture."""
    data = "".join(f"{'L' if i else 'M'}{num(x)} {num(y)}" for i, (x, y) in enumerate(points))
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path class="{kind}" d="{data}"{dashes}/>'


def dot(kind: str, point: Point, radius: float) -> str:
    """A dot of the picture."""
    return f'<circle class="{kind}" cx="{num(point[0])}" cy="{num(point[1])}" r="{radius:g}"/>'


def words(kind: str, x: float, y: float, content: str) -> str:
    """Text in the picture."""
    return f'<text class="{kind}" x="{num(x)}" y="{num(y)}">{xml(content)}</text>'


def grid(axes: Axes, across: dict[float, str], up: dict[float, str], name: str) -> Iterator[str]:
    """Lines at round numbers with their labels, and the name of the axis across."""
    for value, shown in across.items():
        x, _ = axes.at((value, axes.low[1]))
        yield path("g", [(x, TOP), (x, TOP + HIGH)])
        yield words("m c", x, TOP + HIGH + 17, shown)
    for value, shown in up.items():
        _, y = axes.at((axes.low[0], value))
        yield path("g", [(LEFT, y), (LEFT + WIDE, y)])
        yield words("m e", LEFT - 7, y + 4, shown)
    yield words("c", LEFT + WIDE / 2, TOP + HIGH + 36, name)


def svg(width: float, title: str, about: str, parts: Iterable[str]) -> str:
    """A picture with its alternative text."""
    high = TOP + HIGH + 46
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{num(width)}" height="{num(high)}" role="img" '
        f'viewBox="0 0 {num(width)} {num(high)}"><title>{xml(title)}</title><desc>{xml(about)}</desc>'
        f"{words('b', LEFT, TOP - 14, title)}{''.join(parts)}</svg>"
    )
