"""The definition of the derivative as pictures: secants that turn into the tangent, and how the error of
their slopes depends on h.

Lines are told apart by dashes and by their labels, which stand in a column of their own beside the picture.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from typing import NamedTuple

from ..numbers import number
from ..words import columns, text
from .plot import HIGH, LEFT, TOP, WIDE, Axes, Point, decades, dot, grid, path, rounds, svg, words
from .style import palette


class Quotient(NamedTuple):
    """(f(x + h) − f(x)) / ((x + h) − x). `there` is x + h and f(x + h); `slope` is NaN where x + h is x, or f
    has no value."""

    h: float
    there: Point
    slope: float


class Limit(NamedTuple):
    """What is known of f at `here`, x and f(x): quotients for some h; the slope of the tangent, by autograd
    or else by a central difference; points of the curve; and the error of the quotient for many h."""

    here: Point
    dtype: str
    quotients: tuple[Quotient, ...]
    tangent: float
    by_autograd: bool
    curve: tuple[Point, ...]
    sweep: tuple[Point, ...]


SECANTS = 3  # that are drawn: those of the largest h, for the others cannot be told from the tangent
DASHES = ("", "8 4", "2 3", "8 3 2 3")  # the tangent, then the secants
SLACK = 3.0  # how many times larger an error must be to be called larger

SIDE = LEFT + WIDE + 30  # where the labels of lines begin
CHARACTER = 7.3  # pixels
STYLE = (
    f"<style>{palette()}"
    """
.mgd{color:var(--ink);margin:.5em 0}
.mgd>div{display:flex;flex-wrap:wrap;gap:8px 20px}
.mgd svg{max-width:100%;height:auto;background:var(--bg);border-radius:6px}
.mgd p{font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;\
margin:.3em 0!important;color:inherit}
.mgd text{font:12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--ink)}
.mgd .m{fill:var(--mute)}
.mgd .b{font:600 12.5px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.mgd .e{text-anchor:end}.mgd .c{text-anchor:middle}
.mgd path{fill:none;stroke:var(--line);stroke-width:1.6}
.mgd .g{stroke:var(--soft);stroke-width:1}
.mgd .f{stroke-width:2.2}
.mgd .t{stroke:var(--grad);stroke-width:2.2}.mgd .tt{fill:var(--grad);font-weight:700}
.mgd .s{stroke:var(--leafline)}.mgd .l{stroke-width:1.2}
.mgd circle{fill:var(--line)}.mgd .q{fill:var(--leafline)}.mgd .z{fill:var(--bg);stroke:var(--line)}
.mgd .r{fill:none;stroke:var(--grad);stroke-width:2}
.mgd table{border-collapse:collapse;margin:.3em 0;\
font:12.5px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.mgd tr,.mgd td,.mgd th{background:none!important;border:0!important;padding:2px 14px 2px 0!important;\
text-align:right!important;color:inherit}
.mgd th{font-weight:600;border-bottom:1px solid var(--nodeline)!important}</style>"""
)


# ── in words ────────────────────────────────────────────────────────────────────────────────────────────────


def sentences(limit: Limit, lang: str | None = None) -> list[str]:
    """What was computed, the slope of the tangent, and where the error is smallest."""
    x, y = (number(v, limit.dtype) for v in limit.here)
    said = [text("limit_head", lang, x=x, y=y, dtype=limit.dtype)]
    tangent = number(limit.tangent, limit.dtype)
    said.append(text("limit_autograd" if limit.by_autograd else "limit_central", lang, value=tangent))
    best = smallest(limit)
    if best is not None:
        said.append(text("limit_smallest", lang, h=f"{best[0]:.2g}", dtype=limit.dtype))
    lost = [f"{q.h:g}" for q in limit.quotients if q.there[0] == limit.here[0]]
    if lost:
        said.append(text("limit_lost", lang, h=", ".join(lost), dtype=limit.dtype))
    return said


def smallest(limit: Limit) -> Point | None:
    """The h around which the error is smallest, with its error; None unless it grows both for larger and for
    smaller h. The neighbours count, for a single error may be small by luck."""
    sweep = sorted(limit.sweep)
    around = [max(e for _, e in sweep[i - 1 : i + 2]) for i in range(1, len(sweep) - 1)]
    if not around:
        return None
    i = min(range(len(around)), key=lambda k: (around[k], sweep[k + 1][1]))
    grows = max(around[:i], default=0.0) > SLACK * around[i] < max(around[i + 1 :], default=0.0)
    return sweep[i + 1] if grows else None


def rows(limit: Limit, lang: str | None = None) -> list[tuple[str, str, str]]:
    """The table: its heads, then h, the quotient and its error against the slope of the tangent."""
    found = [("h", text("limit_quotient", lang), text("limit_error", lang))]
    for q in limit.quotients:
        known = math.isfinite(q.slope)
        error = number(q.slope - limit.tangent, limit.dtype) if known else "–"
        found.append((f"{q.h:g}", number(q.slope, limit.dtype) if known else "–", error))
    return found


def to_text(limit: Limit, lang: str | None = None) -> str:
    """Sentences and table."""
    table = rows(limit, lang)
    widths = [max(columns(row[i]) for row in table) for i in range(3)]
    lines = ("  ".join(" " * (w - columns(c)) + c for c, w in zip(row, widths, strict=True)) for row in table)
    return "\n".join([*sentences(limit, lang), *lines])


def to_html(limit: Limit, lang: str | None = None) -> str:
    """Both pictures, sentences and table for a page."""
    pictures = secants(limit, lang) + errors(limit, lang)
    hollow = [text("limit_exact", lang)] if 'class="z"' in pictures else []
    said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in [*sentences(limit, lang), *hollow])
    head, *body = rows(limit, lang)
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in body)
    heads = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in head)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    return f'{STYLE}<div class="mgd mg-auto"><div>{pictures}</div>{said}{table}</div>'


# ── secants and tangent ─────────────────────────────────────────────────────────────────────────────────────


def secants(limit: Limit, lang: str | None = None) -> str:
    """The curve near x, the tangent, and the secants of the largest h; "" where the curve has no points."""
    drawn = drawn_of(limit)
    curve = [point for point in limit.curve if all(map(math.isfinite, point))]
    if len(curve) < 2:
        return ""
    slopes = [(limit.tangent, "t", text("limit_tangent", lang, value=number(limit.tangent, limit.dtype)))]
    slopes += [(q.slope, "s", f"h = {q.h:g} → {number(q.slope, limit.dtype)}") for q in drawn]
    x, y = limit.here
    axes = around(
        curve, [y + slope * (end[0] - x) for slope, _, _ in slopes for end in (curve[0], curve[-1])]
    )
    (left, bottom), (right, top) = axes
    parts = [*grid(axes, rounds(left, right, x), rounds(bottom, top, y), "x"), path("f", map(axes.at, curve))]
    last = axes.at(curve[-1])
    labels = [Label(last[1], "f", "", last, "f(x)")]
    for (slope, kind, shown), dash in zip(slopes, DASHES, strict=False):
        ends = axes.line(limit.here, slope)
        if ends is not None:
            parts.append(path(kind, map(axes.at, ends), dash))
            _, beyond = axes.at((axes.high[0], y + slope * (axes.high[0] - x)))
            labels.append(Label(beyond, kind, dash, axes.at(ends[1]), shown))
    parts += [dot("q", axes.at(q.there), 4) for q in drawn if axes.holds(q.there)]
    parts += [dot("p", axes.at(limit.here), 5), *column(labels)]
    told = "; ".join(shown for _, _, shown in slopes)
    title = text("limit_title", lang, x=number(x, limit.dtype))
    width = SIDE + 8 + CHARACTER * max(columns(each.words) for each in labels)
    return svg(width, title, text("limit_about", lang, slopes=told), parts)


def drawn_of(limit: Limit) -> list[Quotient]:
    """The quotients whose secants are drawn."""
    known = [q for q in limit.quotients if math.isfinite(q.slope)]
    return sorted(known, key=lambda q: -abs(q.h))[:SECANTS]


def around(curve: list[Point], lines: list[float]) -> Axes:
    """The part of the plane that a curve fills, and `lines` as far as these do not leave it far behind."""
    low, high = min(y for _, y in curve), max(y for _, y in curve)
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    least, most = max(min(lines), low - 4 * room), min(max(lines), high + 4 * room)
    return Axes((curve[0][0], min(low, least) - room), (curve[-1][0], max(high, most) + room))


class Label(NamedTuple):
    """What to call a line: how far down it would reach the right edge, its class and dashes, where it ends,
    and the words."""

    down: float
    kind: str
    dash: str
    end: Point
    words: str


def column(labels: list[Label]) -> Iterator[str]:
    """Labels one below the other, each as near to the end of its line as there is room, and joined to it."""
    labels = sorted(labels)
    places: list[float] = []
    for each in labels:
        places.append(max(each.down, places[-1] + 19 if places else TOP + 6))
    below = TOP + HIGH - 4
    for i in range(len(places) - 1, -1, -1):
        places[i] = min(places[i], below)
        below = places[i] - 19
    for each, y in zip(labels, places, strict=True):
        yield path(f"{each.kind} l", [each.end, (LEFT + WIDE + 8, y), (SIDE - 5, y)], each.dash)
        yield words("tt" if each.kind == "t" else "", SIDE, y + 4, each.words)


# ── the error over h ────────────────────────────────────────────────────────────────────────────────────────


def errors(limit: Limit, lang: str | None = None) -> str:
    """|error| over h, both logarithmic; errors of 0 stand hollow on the lowest line. "" where there are too
    few, or none but 0."""
    known = [(math.log10(h), math.log10(e)) for h, e in limit.sweep if e > 0]
    if len(known) < 3:
        return ""
    across, up = zip(*known, strict=True)
    exact = [math.log10(h) for h, e in limit.sweep if not e]
    low, high = math.floor(min(up)), math.ceil(max(up))
    axes = Axes(
        (min((*across, *exact)) - 0.3, low - 0.3), (max((*across, *exact)) + 0.3, max(high, low + 1) + 0.1)
    )
    (left, bottom), (right, top) = axes
    parts = list(grid(axes, decades(left, right), decades(bottom, top), "h"))
    parts.append(path("f", map(axes.at, sorted(known))))
    parts += [dot("p", axes.at(point), 3) for point in known]
    parts += [dot("z", axes.at((h, axes.low[1])), 3) for h in exact]
    best = smallest(limit)
    about = text("limit_error_about", lang)
    if best is not None:
        if best[1]:  # where it is 0 by luck, it has a place of its own
            parts.append(dot("r", axes.at((math.log10(best[0]), math.log10(best[1]))), 7))
        y = TOP + HIGH + 36
        parts.append(words("", LEFT, y, text("limit_rounding", lang)))
        parts.append(words("e", LEFT + WIDE, y, text("limit_truncation", lang)))
        about = text("limit_smallest", lang, h=f"{best[0]:.2g}", dtype=limit.dtype)
    return svg(LEFT + WIDE + 12, text("limit_error_title", lang), about, parts)
