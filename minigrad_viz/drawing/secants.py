"""The definition of the derivative: secants that turn into the tangent, and how the error of their slopes
depends on h.

Dashes and the legend distinguish the lines. A plot is an image, because the ids in Matplotlib's SVG would
clash with those of the next plot on a page.
"""

from __future__ import annotations

import html
import importlib.util
import io
import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..number_text import number
from ..words import columns, text
from .export import address
from .style import element

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Point = tuple[float, float]


class Quotient(NamedTuple):
    """(f(x + h) − f(x)) / ((x + h) − x). `there` is x + h and f(x + h); `slope` is NaN where x + h is x, or f
    has no value."""

    h: float
    there: Point
    slope: float


class Limit(NamedTuple):
    """The measurements of f at `here`, which is (x, f(x)): quotients for some h; the slope of the tangent,
    from autograd or else from a central difference; points of the curve; the quotient's error for many h."""

    here: Point
    dtype: str
    quotients: tuple[Quotient, ...]
    tangent: float
    by_autograd: bool
    curve: tuple[Point, ...]
    sweep: tuple[Point, ...]


SECANTS = 3  # drawn secants: those of the largest h, because the others look like the tangent
DASHES = ("-", (0, (5, 2)), (0, (1, 2)), (0, (5, 2, 1, 2)))  # the tangent, then the secants
SLACK = 3.0  # how many times larger an error must be to be called larger
ROOM = 4.0  # heights of the curve that lines may take above and below it
INSTALL = 'pip install "minigrad-viz[lab]"'

STYLE = element("secant")


# ── in words ────────────────────────────────────────────────────────────────────────────────────────────────


def sentences(limit: Limit, lang: str | None = None) -> list[str]:
    """What was computed, the slope of the tangent, and where the error is smallest."""
    x, y = (number(v, limit.dtype) for v in limit.here)
    said = [text("limit_head", lang, x=x, y=y, dtype=limit.dtype)]
    tangent = number(limit.tangent, limit.dtype)
    said.append(text("limit_autograd" if limit.by_autograd else "limit_central", lang, value=tangent))
    best = smallest_error(limit)
    if best is not None:
        said.append(text("limit_smallest", lang, h=f"{best[0]:.2g}", dtype=limit.dtype))
    lost = [f"{q.h:g}" for q in limit.quotients if q.there[0] == limit.here[0]]
    if lost:
        said.append(text("limit_lost", lang, h=", ".join(lost), dtype=limit.dtype))
    return said


def smallest_error(limit: Limit) -> Point | None:
    """The h around which the error is smallest, with its error; None unless the error grows both for larger
    and for smaller h. The adjacent errors count too, because a single error may be small by luck."""
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


def limit_text(limit: Limit, lang: str | None = None) -> str:
    """Sentences and table; without Matplotlib also what installs it."""
    table = rows(limit, lang)
    widths = [max(columns(row[i]) for row in table) for i in range(3)]
    lines = ("  ".join(" " * (w - columns(c)) + c for c, w in zip(row, widths, strict=True)) for row in table)
    return "\n".join([*sentences(limit, lang), *lines, *install_hint(lang)])


def limit_html(limit: Limit, lang: str | None = None) -> str:
    """Both plots, sentences and table for a page; without Matplotlib its install command instead of plots."""
    said = [*sentences(limit, lang), *install_hint(lang)]
    plots = [] if install_hint() else list(filter(None, (secants(limit, lang), errors(limit, lang))))
    if len(plots) == 2 and any(not e for _, e in limit.sweep):
        said.append(text("limit_exact", lang))
    paragraphs = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in said)
    head, *body = rows(limit, lang)
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in body)
    heads = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in head)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    pictures = "".join(map(image, plots))
    return f'{STYLE}<div class="mgd"><div>{pictures}</div>{paragraphs}{table}</div>'


def install_hint(lang: str | None = None) -> list[str]:
    """A sentence with the command that installs Matplotlib, where it is not installed."""
    installed = importlib.util.find_spec("matplotlib") is not None
    return [] if installed else [text("limit_no_plot", lang, command=INSTALL)]


# ── plots ───────────────────────────────────────────────────────────────────────────────────────────────────


def figure(title: str, wide: float) -> tuple[Figure, Axes]:
    """An empty figure of some inches, which pyplot does not know and so never shows."""
    from matplotlib.figure import Figure

    made = Figure((wide, 3.3))
    made.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
    axes = made.add_subplot(title=title)
    axes.grid(alpha=0.3)
    return made, axes


def secants(limit: Limit, lang: str | None = None) -> Figure | None:
    """The curve near x, the tangent, and the secants of the largest h; None where the curve has no points."""
    curve = [point for point in limit.curve if all(map(math.isfinite, point))]
    if len(curve) < 2:
        return None
    drawn, x = drawn_of(limit.quotients), number(limit.here[0], limit.dtype)
    made, axes = figure(text("limit_title", lang, x=x), 6.4)
    axes.plot(*zip(*curve), color="C0", linewidth=2, label="f(x)")
    tangent = number(limit.tangent, limit.dtype)
    told = [(limit.tangent, text("limit_tangent", lang, value=tangent))]
    told += [(q.slope, f"h = {q.h:g} → {number(q.slope, limit.dtype)}") for q in drawn]
    for i, ((slope, label), dash) in enumerate(zip(told, DASHES)):
        axes.axline(limit.here, slope=slope, color=f"C{min(i, 1) + 1}", linestyle=dash, label=label)
    axes.plot([q.there[0] for q in drawn], [q.there[1] for q in drawn], "o", color="C2", markersize=5)
    axes.plot(*limit.here, "o", color="C0", markersize=7)
    axes.set(xlabel="x", xlim=(curve[0][0], curve[-1][0]), ylim=height(curve, limit, [s for s, _ in told]))
    made.legend(loc="outside right upper")
    made.set_label(text("limit_about", lang, slopes="; ".join(label for _, label in told)))
    return made


def drawn_of(quotients: Sequence[Quotient]) -> list[Quotient]:
    """The quotients whose secants are drawn."""
    known = [q for q in quotients if math.isfinite(q.slope)]
    return sorted(known, key=lambda q: -abs(q.h))[:SECANTS]


def height(curve: list[Point], limit: Limit, slopes: list[float]) -> Point:
    """What to show of the second axis: the curve, and the lines unless they leave it far behind."""
    (x, y), low, high = limit.here, min(y for _, y in curve), max(y for _, y in curve)
    ends = [y + slope * (end - x) for slope in slopes for end, _ in (curve[0], curve[-1])]
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    bottom, top = max(min(ends), low - ROOM * room), min(max(ends), high + ROOM * room)
    return min(low, bottom) - room, max(high, top) + room


def errors(limit: Limit, lang: str | None = None) -> Figure | None:
    """|error| over h, both logarithmic; errors of 0 are hollow dots on the lowest line. None where there are
    too few, or none but 0."""
    from matplotlib.ticker import LogLocator

    known = sorted((h, e) for h, e in limit.sweep if e > 0)
    if len(known) < 3:
        return None
    made, axes = figure(text("limit_error_title", lang), 4.6)
    axes.loglog(*zip(*known), "o-", color="C0", markersize=4)
    axes.minorticks_off()
    axes.xaxis.set_major_locator(LogLocator(numticks=6))  # more labels than that touch each other
    exact = [h for h, e in limit.sweep if not e]
    axes.plot(
        exact, [0.0] * len(exact), "o", color="C0", markersize=5, markerfacecolor="none", clip_on=False,
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip
    best, about, across = smallest_error(limit), text("limit_error_about", lang), "h"
    if best is not None:
        if best[1]:  # where it is 0 by luck, it has a place of its own
            axes.plot(*best, "o", color="C1", markersize=12, markerfacecolor="none", markeredgewidth=2)
        rounding, truncation = text("limit_rounding", lang), text("limit_truncation", lang)
        across = f"{rounding}\N{EM SPACE}h\N{EM SPACE}{truncation}"
        about = text("limit_smallest", lang, h=f"{best[0]:.2g}", dtype=limit.dtype)
    axes.set_xlabel(across)
    made.set_label(about)
    return made


def image(shown: Figure) -> str:
    """A figure as an `<img>`; its title and what its label says of it are the alternative text."""
    from matplotlib import rc_context

    written = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "minigrad"}), warnings.catch_warnings():
        # Matplotlib only measures with its own font; what shows the image has a font with Hangul.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        shown.savefig(written, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    alt = html.escape(f"{shown.axes[0].get_title()}. {shown.get_label()}")
    return f'<img src="{address(written.getvalue())}" alt="{alt}">'
