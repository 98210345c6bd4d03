"""Heat maps: numbers as colored cells, where there are too many to write.

Note [One scale]
    All values of a picture share one scale and all gradients another, from −m over 0 to m, with m the largest
    magnitude among them: so two maps of a picture can be compared. Both scales are below the picture.
    Purple is negative, green is positive (safe for the common kinds of color blindness), and a negative cell
    also has a dash. What is not finite has a cross.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..number_text import RMS, number, shape_text, written_out
from ..protocol import BINS, Value
from ..words import columns as columns_of
from ..words import text
from ..words.display_text import text_pixels
from .look import MONO
from .style import area, num, text_label

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
    if wide == 1 and high > 4:  # a tall column lies
        wide, high = high, 1
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


def map_width(cell: Heat | str) -> float:
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


def in_short(value: Value) -> str:
    """A value of many numbers by its root mean square; by its sizes where that is not known."""
    told = "" if value.dtype == "bool" else rms_text(value)
    return f"rms {told}" if told and not value.special else told or shape_text(value)


def rms_text(value: Value) -> str:
    """The root mean square of a value, or that some of its numbers are not finite; "" if neither is known."""
    return value.special or ("" if value.rms is None else number(value.rms, digits=RMS))


def heat_map(heat: Heat, scale: float, x: float, y: float) -> str:
    """A map with its upper left corner at a place."""
    return cells(heat.value.items or (), heat.wide, heat.cell, scale, x, y)


def cells(
    items: Iterable[float], wide: int, cell: tuple[float, float], scale: float, left: float, top: float
) -> str:
    """Cells in rows of `wide`: the zero below all, the shades over it, a path for each."""
    across, down = cell
    shades: dict[tuple[str, int], list[str]] = {}
    dashes, crosses, last = [], [], 0
    # Each coordinate is written once: large maps have thousands of cells.
    columns = [(num(left + i * across), num(left + i * across + across / 2 - 2)) for i in range(wide)]
    shape = f"h{num(across)}v{num(down)}h{num(-across)}z"
    for i, item in enumerate(items):
        if not i % wide:
            last = i // wide
            row, middle = num(top + last * down), num(top + last * down + down / 2)
        if not math.isfinite(item):
            x, y = left + i % wide * across, top + last * down
            crosses.append(
                f"M{num(x + 2)} {num(y + 2)}l{num(across - 4)} {num(down - 4)}m0 {num(4 - down)}"
                f"l{num(4 - across)} {num(down - 4)}"
            )
            continue
        shade = math.ceil(STEPS * abs(item) / scale) if scale else 0
        if shade:
            start, dash = columns[i % wide]
            shades.setdefault(("hn" if item < 0 else "hp", shade), []).append(f"M{start} {row}{shape}")
            if item < 0:
                dashes.append(f"M{dash} {middle}h4")
    parts = [f'<rect class="hz" {area(left, top, wide * across, (last + 1) * down)}/>']
    for (sign, shade), squares in sorted(shades.items()):
        parts.append(f'<path class="{sign}" fill-opacity="{shade / STEPS:.3g}" d="{"".join(squares)}"/>')
    parts += [f'<path class="hd" d="{"".join(dashes)}"/>'] if dashes else []
    parts += [f'<path class="hx" d="{"".join(crosses)}"/>'] if crosses else []
    return f'<g class="heat">{"".join(parts)}</g>'


def bins_of(value: Value | None) -> Sequence[int]:
    """How many numbers lie in each part of the range."""
    if value is None or value.low is None or value.high is None:
        return ()
    if value.summary is not None:
        return value.summary.bins
    if value.items is None or len(value.items) < BINS:
        return ()
    found = [float(item) for item in value.items if math.isfinite(item)]  # histogram() warns of booleans
    return [int(n) for n in np.histogram(found, BINS)[0]]


def histogram(value: Value | None, x: float, y: float, width: float, height: float) -> str:
    """The histogram of a value on a line at `y`."""
    bins = bins_of(value)
    if not bins or not max(bins) or width < BINS:
        return ""
    column, most = width / len(bins), max(bins)
    bars = "".join(
        f"M{num(x + column * i)} {num(y)}v{num(-height * n / most)}h{num(column * 0.8)}"
        f"v{num(height * n / most)}z"
        for i, n in enumerate(bins) if n
    )  # fmt: skip
    return f'<path class="hist" d="{bars}"/>'


def legend_of_heat(
    scales: Mapping[str, float], numbered: bool, left: float, top: float, width: float, lang: str | None
) -> tuple[str, float]:
    """The scales below the picture, what the number at a map is if some have one, and where that ends.
    They are side by side in as many lines as fit `width`."""
    words = {VALUES: text("heat_values", lang), GRADIENTS: text("heat_gradients", lang)}
    parts, x = [], left
    for of in (VALUES, GRADIENTS):
        scale = scales.get(of)
        if not scale:
            continue
        ends = f"−{number(scale, digits=3)} … {number(scale, digits=3)}"
        bar, behind = text_pixels(words[of]) + 8, text_pixels(words[of]) + BAR * 12 + 16
        wide = behind + columns_of(ends) * MONO
        if x > left and x + wide > left + width:
            x, top = left, top + 21
        steps = [scale * (i - BAR // 2) / (BAR // 2) for i in range(BAR)]
        parts.append(text_label(words[of], x, top + 11, "say"))
        parts.append(cells(steps, BAR, (12.0, 12.0), scale, x + bar, top + 1))
        parts.append(text_label(ends, x + behind, top + 11))
        x += wide + 28
    if parts and numbered:
        said = text("heat_rms", lang)
        if x + text_pixels(said) > left + width:
            x, top = left, top + 21
        parts.append(text_label(said, x, top + 11, "say"))
    return (f'<g class="legend">{"".join(parts)}</g>', top + 22) if parts else ("", top)
