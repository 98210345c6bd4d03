"""Colors and style of the picture, for light and dark pages; helpers for writing SVG; the legend and its
signs.

Everything is scoped to the class `mg` of the picture's own `<svg>`, since a style element inside a page
styles the page. `mg-auto` follows the reader's system, and the notebook where it says whether it is dark.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from ..words import clean, text, wrap_text
from ..words.display_text import text_pixels
from .geometry import Cubic

# ─── Colors and style of the picture, one set for light pages and one for dark ones


THEMES = ("auto", "light", "dark")
MARGIN = 22.0  # pixels of paper around what is drawn

# Pages that say themselves that they are dark or light, whatever the system prefers.
DARK_PAGES = ('[data-jp-theme-light="false"]', '[data-theme="dark"]', '[theme="dark"]', ".vscode-dark")
LIGHT_PAGES = ('[data-jp-theme-light="true"]', '[data-theme="light"]', ".vscode-light")

# What few pictures have has a file of its own. In the steps before a failure nothing is marked.
RARE = ("marks", "updates", "heat", "strip", "subjects")


@functools.cache
def styles(name: str, folder: Path = Path(__file__).parent) -> str:
    """The rules in a file."""
    return (folder / f"{name}.css").read_text(encoding="utf-8")


def element(name: str, folder: Path = Path(__file__).parent) -> str:
    """The rules in a file for a page."""
    return f"<style>{styles(name, folder).rstrip()}</style>"


# By name, as `colors.css` has them.
LIGHT, DARK = (dict(re.findall(r"--(\w+):([^;}]+)", rule)) for rule in styles("colors").splitlines())


def css(theme: str = "auto", parts: Iterable[str] = RARE) -> str:
    """The style sheet for `theme`: "auto", "light" or "dark", with `parts` of what few pictures have."""
    return palette(theme) + rules(parts)


def every_theme() -> str:
    """The style sheet of a page with pictures of any theme, which then need none of their own."""
    return "".join(map(palette, THEMES)) + rules()


def rules(parts: Iterable[str] = RARE) -> str:
    """The style of pictures without their colors."""
    return "\n" + styles("picture") + "".join(map(styles, parts))


def palette(theme: str = "auto") -> str:
    """The colors of `theme` alone, as properties of the class `mg-auto`, `mg-light` or `mg-dark`."""

    def colours(selectors: list[str], palette: dict[str, str]) -> str:
        values = (f"--{name}:{colour}" for name, colour in palette.items())
        return f"{','.join(selectors)}{{{';'.join(values)}}}"

    if theme != "auto":
        return colours([".mg-" + theme], DARK if theme == "dark" else LIGHT)
    system = f"@media(prefers-color-scheme:dark){{{colours(['.mg-auto'], DARK)}}}"
    light = colours([f"{page} .mg-auto" for page in LIGHT_PAGES], LIGHT)
    dark = colours([f"{page} .mg-auto" for page in DARK_PAGES], DARK)
    return colours([".mg-auto"], LIGHT) + system + light + dark


# -------------------------------------------------------------------------------------------------------- XML


def num(x: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{x:.1f}".removesuffix(".0").replace("-0.0", "0")


def area(x: float, y: float, width: float, height: float) -> str:
    """Attributes of a rectangle."""
    return f'x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}"'


def xml(content: str) -> str:
    """Text of XML: control characters out, markup escaped; line breaks separate the lines of a tooltip."""
    # Not by `xml.sax.saxutils`, which loads `urllib` and `http`: 17 ms of 110 of loading the extension.
    return escape("\n".join(map(clean, content.split("\n"))), quote=False).replace('"', "&quot;")


def xml_with_spaces(content: str) -> str:
    """Text of XML whose spaces count."""
    return xml(content.replace(" ", "\u00a0"))


def text_label(content: str, x: float, y: float, kind: str = "") -> str:
    """A text at a place, of a class."""
    own = f' class="{kind}"' if kind else ""
    return f'<text{own} x="{num(x)}" y="{num(y)}">{xml(content)}</text>'


def path_data(pieces: Iterable[Cubic]) -> str:
    """Path data; pieces along an axis as straight lines, as few as possible."""
    parts: list[str] = []
    for piece in pieces:
        (x, y), d = piece[0], piece[3]
        if not parts:
            parts.append(f"M{num(x)} {num(y)}")
        if all(q == y for _, q in piece):
            step = f"H{num(d[0])}"
        elif all(p == x for p, _ in piece):
            step = f"V{num(d[1])}"
        else:
            step = "C" + " ".join(f"{num(p)} {num(q)}" for p, q in piece[1:])
        if step[0] in "HV" and parts[-1][0] == step[0]:
            parts.pop()
        parts.append(step)
    return "".join(parts)


def rounded_rectangle(x: float, y: float, width: float, height: float, corners: Sequence[float]) -> str:
    """Path data of a rectangle whose corners are rounded by so many pixels: upper left, upper right, lower
    right, lower left."""
    a, b, c, d = corners

    def corner(radius: float, across: str, down: str) -> str:
        r = num(radius)
        return f"a{r} {r} 0 0 1 {across}{r}{down or ' '}{r}" if radius else ""

    return (
        f"M{num(x)} {num(y + a)}{corner(a, '', '-')}h{num(width - a - b)}"
        f"{corner(b, '', '')}v{num(height - b - c)}"
        f"{corner(c, '-', '')}h-{num(width - c - d)}"
        f"{corner(d, '-', '-')}z"
    )


# ─── The legend that explains the signs of the picture, the shapes of those signs, and sentences below it


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
    """A rectangle of a class: `part` is its own class, `inner` what else is in it."""
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

    They are side by side in as many lines as fit `width`.
    """
    parts: list[str] = []
    x, y = left, top
    present = set(kinds)
    for kind in SIGNS:
        if kind not in present:
            continue
        key, sign = SIGNS[kind]
        words = text(key, lang)
        wide = 28 + text_pixels(words)
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
        for line in wrap_text(clean(sentence), width, measure=lambda line: text_pixels(line, 13)).split("\n"):
            parts.append(f'<text class="say note" x="{left:.0f}" y="{y + 13:.0f}">{xml(line)}</text>')
            y += 19
        y += 5
    return "".join(parts), y + (6 if parts else 0)
