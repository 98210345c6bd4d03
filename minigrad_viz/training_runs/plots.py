"""The report's pictures, as SVG that takes its colors from the page: the strip of modules with badges, and the
loss over steps.
"""

from __future__ import annotations

import math
from collections.abc import Set
from html import escape

from ..training_faults.evidence import Evidence
from ..training_faults.findings import Finding, percent, plain
from ..words import shorten, shorten_name, text
from .flow import Row, badges, rows_of
from .recorded_step import opening

CARDS = 9
W, LEFT, RIGHT = 1000, 76, 10


def nan_median(values: list[float]) -> float:
    found = sorted(v for v in values if math.isfinite(v))
    return found[len(found) // 2] if found else math.nan


def cards_of(rows: list[Row], marked: dict[str, Finding]) -> list[tuple[str, list[Row]]]:
    """At most nine cards with their titles: neighbors below one module join first, and those with a badge
    stay alone if they can."""
    roots = {row.name.partition(".")[0] for row in rows}
    cards = [[row] for row in rows]
    while len(cards) > CARDS:

        def cost(i: int) -> tuple[int, int, int]:
            pair = [*cards[i], *cards[i + 1]]
            return sum(row.name in marked for row in pair), -len(shared_prefix(pair)), len(pair)

        at = min(range(len(cards) - 1), key=cost)
        cards[at : at + 2] = [[*cards[at], *cards[at + 1]]]
    return [(title_of(card, len(roots) == 1), card) for card in cards]


def shared_prefix(rows: list[Row]) -> list[str]:
    """What the names of modules begin with, in words between dots."""
    parts = [row.name.split(".") for row in rows]
    return [words[0] for words in zip(*parts) if len(set(words)) == 1]


def title_of(rows: list[Row], one_root: bool) -> str:
    """The title of a card; the model itself is named only where there are several."""
    words = rows[0].name.split(".") if len(rows) == 1 else shared_prefix(rows)
    words = words[1:] if one_root and len(words) > 1 else words
    return ".".join(words) + (f" ×{len(rows)}" if len(rows) > 1 else "")


def strip(
    e: Evidence, findings: list[Finding], lang: str | None = None, known: Set[str] = frozenset()
) -> str:
    """The modules in order, each with its gradient, its output and its badge; the bars of all share one log
    scale. The `known` modules can be opened."""
    marked = badges(findings)
    cards = cards_of(rows_of(e), marked)
    if not cards:
        return ""
    steps = sorted({step for _, rows in cards for row in rows for step in row.grads})
    values = [
        v
        for _, rows in cards
        for row in rows
        for v in (row.first(), row.last())
        if v > 0 and math.isfinite(v)
    ]
    top = math.ceil(math.log10(max(values, default=1.0)))
    bottom = min(top - 2, math.floor(math.log10(min(values, default=0.01))))
    bottom = max(bottom, top - 12)
    gap = 12 if len(cards) > 6 else 22
    width = min(150.0, (W - LEFT - RIGHT - gap * (len(cards) - 1)) / len(cards))
    parts = [
        f'<text x="0" y="97" class="m">{escape(text("doctor_step", lang, step=steps[-1]) if steps else "")}</text>'
    ]
    parts.append('<text x="0" y="114" class="g">grad rms</text>')

    def height(value: float) -> float:
        return max(2.0, 46 * (math.log10(value) - bottom) / (top - bottom)) if value > 0 else 0.0

    for power in sorted({bottom, (top + bottom) // 2, top}):
        y = 178 - 46 * (power - bottom) / (top - bottom)
        parts.append(f'<path class="grid" d="M{LEFT},{y:.1f}H{W}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="m end">1e{power}</text>')
    for i, (name, rows) in enumerate(cards):
        x = LEFT + i * (width + gap)
        bad = next((marked[row.name] for row in rows if row.name in marked), None)
        names = [row.name for row in sorted(rows, key=lambda row: row.name not in marked)]
        parts.append(opening(card(x, width, name, rows, bad, lang), names, known))
        if i:
            parts.append(f'<path class="arrow" d="M{x - gap + 2:.1f},60h{gap - 6}m-4,-3l4,3l-4,3"/>')
        firsts, lasts = [r.first() for r in rows], [r.last() for r in rows]
        first, last = nan_median(firsts), nan_median(lasts)
        if math.isnan(first) and math.isnan(last):
            if any(r.grads for r in rows):
                parts.append(f'<text x="{x + 8:.1f}" y="176" class="bad">✗ nan</text>')
            continue
        h = height(first)
        parts.append(f'<rect class="hb" x="{x + 8:.1f}" y="{178 - h:.1f}" width="11" height="{h:.1f}"/>')
        h = height(last)
        parts.append(f'<rect class="gb" x="{x + 22:.1f}" y="{178 - h:.1f}" width="11" height="{h:.1f}"/>')
        label = "0" if last == 0 else ("nan" if math.isnan(last) else plain(last))
        style = "bad" if label in ("0", "nan") else "g"
        sign = "✗ " if style == "bad" else ""
        parts.append(f'<text x="{x + 37:.1f}" y="176" class="{style}">{sign}{label}</text>')
    title = escape(text("doctor_strip_about", lang, step=steps[-1] if steps else 0))
    return f'<svg viewBox="0 0 {W} 188" role="img" aria-label="{title}"><title>{title}</title>{"".join(parts)}</svg>'


def card(x: float, width: float, name: str, rows: list[Row], bad: Finding | None, lang: str | None) -> str:
    """One card: name, class, rms of the output, dead units; a badge if a finding marks it."""
    room = int((width - 12) / 8)
    kinds = list(dict.fromkeys(row.kind for row in rows if row.kind))
    kind = (
        ", ".join(kinds)
        if len(rows) < 3
        else f"{len(rows)} × {kinds[0]}, …"
        if len(kinds) > 1
        else f"{len(rows)} × {''.join(kinds)}"
    )
    dead = [row.dead for row in rows if row.dead is not None]
    outputs = [row.output for row in rows if not math.isnan(row.output)]
    lines = [f'<text x="{x + 8:.1f}" y="27" class="b">{escape(card_name(name, room))}</text>']
    lines.append(f'<text x="{x + 8:.1f}" y="50" class="m">{escape(shorten(kind, room))}</text>')
    if outputs:
        lines.append(
            f'<text x="{x + 8:.1f}" y="70">{escape(shorten(f"out {plain(outputs[-1])}", room))}</text>'
        )
    if dead:
        lines.append(f'<rect class="track" x="{x + 8:.1f}" y="80" width="{width - 16:.1f}" height="7"/>')
        lines.append(
            f'<rect class="err" x="{x + 8:.1f}" y="80" width="{(width - 16) * max(dead):.1f}" height="7"/>'
        )
        lines.append(f'<text x="{x + 8:.1f}" y="103" class="b">{percent(max(dead))} 0</text>')
    box = f'<rect class="{"sc no" if bad else "sc"}" x="{x:.1f}" y="10" width="{width:.1f}" height="102" rx="7"/>'
    head = f'<path class="{"sh no" if bad else "sh"}" d="M{x:.1f},34v-17a7,7 0 0 1 7,-7h{width - 14:.1f}a7,7 0 0 1 7,7v17z"/>'
    badge = ""
    if bad:
        cx = x + width - 2
        about = escape(bad.verdict(lang))
        badge = f'<g><title>{about}</title><circle class="badge" cx="{cx:.1f}" cy="11" r="9"/><path class="cross" d="M{cx - 3.5:.1f},7.5l7,7m0,-7l-7,7"/></g>'
    return box + head + "".join(lines) + badge


def card_name(name: str, room: int) -> str:
    """The title of a card in so many columns: the end of a name distinguishes it from others."""
    name, _, times = name.partition(" ")
    room -= len(times) + 1 if times else 0
    return f"{shorten_name(name, max(4, room))} {times}".rstrip()


def ticks(low: float, high: float) -> list[float]:
    """Three numbers of an axis."""
    return [low, (low + high) / 2, high] if high > low else [low]


def loss_plot(e: Evidence, step: int, lang: str | None = None) -> str:
    """The loss over steps; log scale where it spans more than a hundredfold. Gaps where it is not finite."""
    losses = e.losses
    if len(losses) < 2:
        return ""
    stride = max(1, len(losses) // 600)
    points = [(i + 1, losses[i]) for i in range(0, len(losses), stride)]
    finite = [v for _, v in points if math.isfinite(v)]
    if not finite:
        return ""
    log = min(finite) > 0 and max(finite) > 100 * min(finite)
    scale = (lambda v: math.log10(v)) if log else (lambda v: v)
    low, high = scale(min(finite)), scale(max(finite))
    span = (high - low) or 1.0
    width, height, left = 600, 130, 66
    last = len(losses)

    def x(i: float) -> float:
        return left + (width - left - 8) * (i - 1) / max(1, last - 1)

    def y(v: float) -> float:
        return 14 + (height - 40) * (1 - (scale(v) - low) / span)

    path, pen = "", "M"
    for i, v in points:
        if math.isfinite(v):
            path, pen = f"{path}{pen}{x(i):.1f},{y(v):.1f}", "L"
        else:
            pen = "M"
    parts = []
    for value in ticks(low, high):
        at = 14 + (height - 40) * (1 - (value - low) / span)
        shown = plain(10**value if log else value)
        parts.append(
            f'<path class="grid" d="M{left},{at:.1f}H{width}"/><text x="{left - 6}" y="{at + 4:.1f}" class="m end">{shown}</text>'
        )
    parts.append(f'<path class="line" d="{path}"/>')
    places = [1, last] if not step or step in (1, last) else [1, step, last]
    bad = e.not_finite_loss
    if bad and bad <= last:
        parts.append(f'<text x="{x(bad):.1f}" y="{height - 28}" class="bad mid">✗ nan</text>')
    if step and step <= last:
        parts.append(f'<path class="mark" d="M{x(step):.1f},8V{height - 24}"/>')
        if math.isfinite(losses[step - 1]):
            parts.append(f'<circle class="badge" cx="{x(step):.1f}" cy="{y(losses[step - 1]):.1f}" r="4"/>')
    for i in places:
        anchor = "" if i == 1 else "end" if i == last else "mid"
        parts.append(f'<text x="{x(i):.1f}" y="{height - 6}" class="m {anchor}">{i}</text>')
    title = escape(text("doctor_loss_title", lang))
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{title}"><title>{title}</title>{"".join(parts)}</svg>'
