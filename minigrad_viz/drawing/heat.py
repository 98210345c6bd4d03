"""Heat maps: numbers as colored cells, where they are too many to be written.

Note [One scale]
    All values of a picture share one scale and all gradients another, from −m over 0 to m, with m the largest
    magnitude among them: so two maps of a picture can be compared. Both scales stand below the picture.
    Purple is negative, green is positive (safe for the common kinds of color blindness), and a negative cell
    also has a dash. What is not finite has a cross.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..numbers import number, shape_text, written_out
from ..protocol import Value
from ..words import columns as columns_of
from ..words import sans, text
from .look import MONO
from .style import area, label, num

HIGH, WIDE = 16, 24  # cells of a map at most
STRIP = 16  # numbers of a map in one row
MOST = 64  # numbers of a map; for more, only their sizes and range are written
STEPS = 8  # shades of a color
SIZES = ((4, 10.0), (8, 9.0), (WIDE, 7.0))  # how large a cell is, by how many there are side by side
BAR = 9  # cells of the scales below the picture
VALUES, GRADIENTS = "values", "gradients"  # what a map shows, and so whose scale it has


@dataclass(frozen=True, slots=True)
class Heat:
    """The map of a value, `high` by `wide` cells of `cell` pixels; it begins at `x` in its row."""

    value: Value
    of: str
    high: int
    wide: int
    cell: tuple[float, float]
    x: float = 0.0

    @property
    def width(self) -> float:
        """Pixels across."""
        return self.wide * self.cell[0]

    @property
    def height(self) -> float:
        """Pixels down."""
        return self.high * self.cell[1]


def heat_of(value: Value | None, of: str) -> Heat | None:
    """The map of a value; None for one number, for more than can be drawn, and where they are not real."""
    if value is None or value.items is None or not 1 < len(value.items) <= MOST:
        return None
    if not are_real(value):
        return None
    wide = value.shape[-1] if value.shape else 1
    high = len(value.items) // wide
    if wide > WIDE or high > HIGH:
        return None
    cell = next(size for most, size in SIZES if max(high, wide) <= most)
    return Heat(value, of, high, wide, (cell, cell))


def are_real(value: Value) -> bool:
    """Whether the numbers of a value, as far as they are known, are real."""
    return not any(isinstance(item, complex | bool | str) for item in value.items or ())


def heat_beyond(value: Value, of: str, width: int) -> Heat | None:
    """The map of a value whose numbers are not written in `width` columns."""
    return None if written_out(value, width) else heat_of(value, of)


def across(cell: Heat | str) -> float:
    """How wide a map is, or the text instead of it."""
    return columns_of(cell) * MONO if isinstance(cell, str) else cell.width


def strip_of(value: Value | None, of: str) -> Heat | None:
    """The map of a value in one row, for a line of the lane."""
    found = heat_of(value, of)
    if found is None or len(found.value.items or ()) > STRIP:
        return None
    return Heat(found.value, of, 1, found.high * found.wide, (9.0, 12.0))


def scales_of(heats: Iterable[Heat]) -> dict[str, float]:
    """The largest finite magnitude of all values, and of all gradients, as far as there are any."""
    scales: dict[str, float] = {}
    for heat in heats:
        finite = (abs(item) for item in heat.value.items or () if math.isfinite(item))
        scales[heat.of] = max(scales.get(heat.of, 0.0), max(finite, default=0.0))
    return scales


def norm(value: Value) -> float:
    """The Euclidean norm of a value whose numbers are known."""
    return math.sqrt(sum(abs(item) ** 2 for item in value.items or ()))


def in_short(value: Value, lang: str | None) -> str:
    """A value of many numbers by its norm; by its range where its numbers are not known."""
    if value.items is not None and are_real(value):
        return text("norm", lang, value=number(norm(value), digits=3))
    if value.low is None or value.high is None or value.dtype == "bool":
        return shape_text(value)
    return "…".join(number(end, value.dtype, digits=3) for end in (value.low, value.high))


def heat_map(heat: Heat, scale: float, x: float, y: float) -> str:
    """A map with its upper left corner at a place."""
    return _cells(heat.value.items or (), heat.wide, heat.cell, scale, x, y)


def _cells(
    items: Iterable[float], wide: int, cell: tuple[float, float], scale: float, left: float, top: float
) -> str:
    """Cells in rows of `wide`: the zero below all, the shades over it, a path for each."""
    across, down = cell
    shades: dict[tuple[str, int], list[str]] = {}
    dashes, crosses, last = [], [], 0
    for i, item in enumerate(items):
        x, y, last = left + i % wide * across, top + i // wide * down, i // wide
        if not math.isfinite(item):
            crosses.append(
                f"M{num(x + 2)} {num(y + 2)}l{num(across - 4)} {num(down - 4)}m0 {num(4 - down)}"
                f"l{num(4 - across)} {num(down - 4)}"
            )
            continue
        shade = math.ceil(STEPS * abs(item) / scale) if scale else 0
        if shade:
            square = f"M{num(x)} {num(y)}h{num(across)}v{num(down)}h{num(-across)}z"
            shades.setdefault(("hn" if item < 0 else "hp", shade), []).append(square)
        if item < 0 and shade:
            dashes.append(f"M{num(x + across / 2 - 2)} {num(y + down / 2)}h4")
    parts = [f'<rect class="hz" {area(left, top, wide * across, (last + 1) * down)}/>']
    for (sign, shade), squares in sorted(shades.items()):
        parts.append(f'<path class="{sign}" fill-opacity="{shade / STEPS:.3g}" d="{"".join(squares)}"/>')
    parts += [f'<path class="hd" d="{"".join(dashes)}"/>'] if dashes else []
    parts += [f'<path class="hx" d="{"".join(crosses)}"/>'] if crosses else []
    return f'<g class="heat">{"".join(parts)}</g>'


def legend_of_heat(
    scales: Mapping[str, float], norms: bool, left: float, top: float, width: float, lang: str | None
) -> tuple[str, float]:
    """The scales below the picture, what the number at a map is if some are `norms`, and where that ends.
    They stand side by side in as many lines as `width` asks for."""
    words = {VALUES: text("heat_values", lang), GRADIENTS: text("heat_gradients", lang)}
    parts, x = [], left
    for of in (VALUES, GRADIENTS):
        scale = scales.get(of)
        if not scale:
            continue
        ends = f"−{number(scale, digits=3)} … {number(scale, digits=3)}"
        bar, behind = sans(words[of]) + 8, sans(words[of]) + BAR * 12 + 16
        wide = behind + columns_of(ends) * MONO
        if x > left and x + wide > left + width:
            x, top = left, top + 21
        steps = [scale * (i - BAR // 2) / (BAR // 2) for i in range(BAR)]
        parts.append(label(words[of], x, top + 11, "say"))
        parts.append(_cells(steps, BAR, (12.0, 12.0), scale, x + bar, top + 1))
        parts.append(label(ends, x + behind, top + 11))
        x += wide + 28
    if parts and norms:
        said = text("heat_norm", lang)
        if x + sans(said) > left + width:
            x, top = left, top + 21
        parts.append(label(said, x, top + 11, "say"))
    return (f'<g class="legend">{"".join(parts)}</g>', top + 22) if parts else ("", top)
