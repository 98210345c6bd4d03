"""The report's maps, as SVG, rows × steps with a cell for each value: of gradients, and of dead units."""

from __future__ import annotations

import math
from collections.abc import Callable, Set
from html import escape
from typing import Any

from ..training_faults.evidence import Evidence
from ..training_faults.findings import plain
from ..words import shorten_name, text
from .flow import Row
from .recorded_step import opening

WIDTH, LEFT, SIZE = 600, 150, 14  # of a map: all of it, its names, the height of a row
Shade = Callable[[float], str]  # the attribute that colors the cell of a value


def pick_evenly(items: list[Any], most: int) -> list[Any]:
    """At most so many of the items, from the first to the last."""
    if len(items) <= most:
        return items
    return [items[i] for i in sorted({round(i * (len(items) - 1) / (most - 1)) for i in range(most)})]


def cell_map(
    rows: list[tuple[str, dict[int, float]]], shade: Shade, known: Set[str] = frozenset()
) -> tuple[list[str], int]:
    """A row of cells for each name, a column for each step; the parts, and where the steps are written. The
    `known` modules can be opened."""
    rows = pick_evenly(rows, 40)
    steps = pick_evenly(sorted({step for _, values in rows for step in values}), 120)
    cell = (WIDTH - LEFT - 4) / len(steps)
    parts = []
    for j, (name, values) in enumerate(rows):
        y = 4 + j * SIZE
        row = [f'<text x="0" y="{y + 11}" class="s">{escape(shorten_name(name, 20))}</text>']
        for i, step in enumerate(steps):
            if step in values:
                box = f'x="{LEFT + i * cell:.2f}" y="{y}" width="{cell - 0.4 if cell > 3 else cell:.2f}"'
                about = f"<title>{escape(name)} {step}: {plain(values[step])}</title>"
                row.append(f'<rect {shade(values[step])} {box} height="{SIZE - 2}">{about}</rect>')
        parts.append(opening("".join(row), [name], known))
    low = 4 + len(rows) * SIZE + 14
    for i in dict.fromkeys((0, len(steps) // 2, len(steps) - 1)):
        anchor = "" if i == 0 else "end" if i == len(steps) - 1 else "mid"
        at = LEFT + i * cell + (cell if anchor == "end" else 0)
        parts.append(f'<text x="{at:.1f}" y="{low}" class="m {anchor}">{steps[i]}</text>')
    return parts, low


def map_picture(parts: list[str], height: int, title: str) -> str:
    """The parts of a map as a picture."""
    inside = f"<title>{escape(title)}</title>{''.join(parts)}"
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">{inside}</svg>'


def shade_style(color: str, percent: int) -> str:
    """The style of a cell that mixes a color with the paper."""
    return f'style="fill:color-mix(in srgb,var(--{color}) {percent}%,var(--panel))"'


def heat_map(rows: list[Row], lang: str | None = None, known: Set[str] = frozenset()) -> str:
    """Gradient rms of each module at each sampled step: one row a module, log scale, with its legend. The
    `known` modules can be opened."""
    rows = [row for row in rows if row.grads]
    values = [v for row in rows for v in row.grads.values() if v > 0 and math.isfinite(v)]
    if not values:
        return ""
    top = math.ceil(math.log10(max(values)))
    bottom = max(math.floor(math.log10(min(values))), top - 10)

    def shade(value: float) -> str:
        if not math.isfinite(value):
            return 'class="badge"'
        if value <= 0:
            return 'class="zero"'
        share = (math.log10(value) - bottom) / max(1, top - bottom)
        return shade_style("grad", round(16 + 84 * min(1.0, max(0.0, share))))

    parts, low = cell_map([(row.name, row.grads) for row in rows], shade, known)
    for i in range(11):
        box = f'x="{38 + 6 * i}" y="{low - 10}" width="6" height="10"'
        parts.append(f"<rect {box} {shade_style('grad', 16 + round(8.4 * i))}/>")
    parts.append(f'<text x="34" y="{low}" class="m end">1e{bottom}</text>')
    parts.append(f'<text x="108" y="{low}" class="m">1e{top}</text>')
    return map_picture(parts, low + 6, text("doctor_flow", lang))


def unit_map(e: Evidence, kind: str, title: str) -> str:
    """The share of dead units, or of flat elements, of each activation function at each sampled step."""
    found = [a for a in e.activations.values() if a.kind == kind and a.samples]
    if not found:
        return ""
    rows = [(a.name, dict(a.samples)) for a in found]
    parts, low = cell_map(rows, lambda share: shade_style("error", round(4 + 96 * share)))
    return map_picture(parts, low + 6, title)
