"""The legend that explains the signs of the picture, the shapes of those signs, and sentences below it."""

from __future__ import annotations

from collections.abc import Iterable

from ..words import clean, sans, text, wrapped
from .style import num, xml

TARGET = '<circle r="6"/><circle class="dot" r="2.4"/>'  # a gradient that was asked for
SHEETS = '<path d="M0 0h16v11h-16z"/><path d="M5 3h16v11h-16z"/>'  # one memory under two tensors
# Scissors around (0, 0), where they cut; the ghost of an arrow comes in at their handles.
BLADES = "M-5 -8L3.4 7M5 -8L-3.4 7M-1.4 9.4a3 3 0 1 0 -6 0a3 3 0 1 0 6 0M7.4 9.4a3 3 0 1 0 -6 0a3 3 0 1 0 6 0"
SCISSORS = f'<path class="halo" d="{BLADES}"/><path d="{BLADES}"/>'
HATCH = 9.0  # pixels from one line of a haze to the next


def haze(left: float, top: float, right: float, bottom: float) -> str:
    """Slanting lines that fill an area."""
    width, height = right - left, bottom - top
    lines = []
    for i in range(1, int((width + height) / HATCH)):
        d = i * HATCH
        begin = (left + d, top) if d < width else (right, top + d - width)
        end = (left, top + d) if d < height else (left + d - height, bottom)
        lines.append(f"M{num(begin[0])} {num(begin[1])}L{num(end[0])} {num(end[1])}")
    return f'<path d="{"".join(lines)}"/>'


def plate(kind: str, part: str = "", inner: str = "") -> str:
    """A rectangle of a class: `part` is its own class, `inner` what else stands in it."""
    own = f' class="{part}"' if part else ""
    return f'<g class="{kind}"><rect{own} width="22" height="14" rx="4"/>{inner}</g>'


def button(kind: str, content: str) -> str:
    """A round sign with a letter."""
    inner = f'<rect x="3" width="16" height="14" rx="7"/><text x="11" y="11">{content}</text>'
    return f'<g class="{kind}">{inner}</g>'


SHEET = '<path class="sheet" d="M5 -1h12v8h-12z"/><path class="sheet" d="M0 3h22v11h-22z"/>'
ONWARD, BACK = (
    f'<path d="{line}"/><path class="tip" d="{tip}"/></g>'
    for line, tip in (("M0 7H14", "M22 7l-9 -4v8z"), ("M8 7H22", "M0 7l9 -4v8z"))
)
# The key of what each sign stands for, and the sign, in the order of the legend: 22 wide and 14 high, around
# (0, 0)…(22, 14).
SIGNS = {
    "leaf": ("role_leaf", plate("leaf", "head")),
    "parameter": ("legend_parameter", plate("parameter", "head")),
    "root": ("legend_root", plate("root", "head")),
    "constant": ("legend_constant", plate("bare", "box")),
    "fold": ("legend_fold", SHEET),
    "node": ("legend_node", plate("deck", "box")),
    "saved": ("legend_saved", plate("chip")),
    "freed": ("legend_freed", plate("chip freed", inner='<text x="1" y="11">abc</text>')),
    "stale": ("legend_stale", plate("chip stale")),
    "packed": ("legend_packed", plate("chip packed")),
    "again": ("legend_again", plate("chip packed")),
    "forward": ("forward", '<g class="edge fwd">' + ONWARD),
    "gradient": ("legend_gradient", '<g class="edge grad">' + BACK),
    "todo": ("legend_todo", '<g class="edge grad todo">' + BACK),
    "unseen": ("legend_unseen", '<g class="edge grad todo">' + BACK),
    "hook": ("legend_hook", button("hooks", "1")),
    "removed": ("legend_removed", button("hooks removed", "1")),
    "none": ("legend_none", button("none", "∅")),
    "asked": ("legend_asked", f'<g class="asked" transform="translate(11 7)">{TARGET}</g>'),
    "skipped": ("legend_skipped", plate("deck skipped", "box")),
    "cut": ("legend_cut", f'<g class="cut" transform="translate(11 5) scale(.8)">{SCISSORS}</g>'),
    "fog": ("legend_fog", f'<g class="fog">{haze(0, 0, 22, 14)}</g>'),
    "lost": ("legend_lost", '<g class="edge ghost"><path d="M0 7H22"/></g>'),
    "ghost": ("legend_ghost", plate("ghost", "box")),
    "memory": ("legend_memory", f'<g class="memory">{SHEETS}<text x="13" y="12">A</text></g>'),
    "guilty": ("legend_guilty", plate("deck error", "box")),
    "cause": ("legend_cause", plate("deck cause", "box")),
}


def legend(
    kinds: Iterable[str], left: float, top: float, width: float, lang: str | None
) -> tuple[str, float]:
    """The signs of `kinds` (keys of `SIGNS`; others are left out) with their words, and where they end below.

    They stand side by side in as many lines as `width` asks for.
    """
    parts: list[str] = []
    x, y = left, top
    present = set(kinds)
    for kind in SIGNS:
        if kind not in present:
            continue
        key, sign = SIGNS[kind]
        words = text(key, lang)
        wide = 28 + sans(words)
        if x > left and x + wide > left + width:
            x, y = left, y + 21
        parts.append(
            f'<g transform="translate({x:.0f} {y:.0f})">{sign}'
            f'<text class="say" x="28" y="11">{xml(words)}</text></g>'
        )
        x += wide + 14
    return f'<g class="legend">{"".join(parts)}</g>' if parts else "", y + 14 if parts else top


def sentences(says: Iterable[str], left: float, top: float, width: float) -> tuple[str, float]:
    """Sentences below the picture, broken to `width`, and where they end below."""
    parts: list[str] = []
    y = top
    for sentence in says:
        for line in wrapped(clean(sentence), width, measure=lambda line: sans(line, 13)).split("\n"):
            parts.append(f'<text class="say note" x="{left:.0f}" y="{y + 13:.0f}">{xml(line)}</text>')
            y += 19
        y += 5
    return "".join(parts), y + (6 if parts else 0)
