"""Colors and style of the picture, one set for light pages and one for dark ones; and small helpers for
writing SVG.

Everything is scoped to the class `mg` of the picture's own `<svg>`, since a style element inside a page
styles the page. `mg-auto` follows the reader's system, and the notebook where it says whether it is dark.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from ..words import clean
from .plane import Cubic

THEMES = ("auto", "light", "dark")

# Pages that say themselves that they are dark or light, whatever the system prefers.
DARK_PAGES = ('[data-jp-theme-light="false"]', '[data-theme="dark"]', '[theme="dark"]', ".vscode-dark")
LIGHT_PAGES = ('[data-jp-theme-light="true"]', '[data-theme="light"]', ".vscode-light")

# What few pictures have has a file of its own. In the steps before a failure nothing is marked.
RARE = ("marks", "updates", "heat")


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


def spaced(content: str) -> str:
    """Text of XML whose spaces count."""
    return xml(content.replace(" ", "\u00a0"))


def label(content: str, x: float, y: float, kind: str = "") -> str:
    """A text at a place, of a class."""
    own = f' class="{kind}"' if kind else ""
    return f'<text{own} x="{num(x)}" y="{num(y)}">{xml(content)}</text>'


def path_data(pieces: Iterable[Cubic]) -> str:
    """Path data; pieces along an axis as straight lines, as few as can be."""
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


def rounded(x: float, y: float, width: float, height: float, corners: Sequence[float]) -> str:
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
