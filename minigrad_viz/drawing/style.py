"""Colours and style of the picture, one set for light pages and one for dark ones; the legend that explains
them; and the small change of writing SVG.

Everything is scoped to the class `mg` of the picture's own `<svg>`, since a style element inside a page
styles the page. `mg-auto` follows the reader's system, and the notebook where it says whether it is dark.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

from ..words import clean, sans, text
from .curves import Cubic

THEMES = ("auto", "light", "dark")

LIGHT = {
    "bg": "#fff", "ink": "#1f2328", "mute": "#656d76", "line": "#3a424b", "soft": "#d0d7de", "card": "#fff",
    "head": "#f3f4f6", "edge": "#57606a", "leaf": "#8CCBF0", "leafline": "#0b6aa2", "root": "#4FB58C",
    "rootline": "#1a6b4b", "node": "#e9ebee", "nodeline": "#8c959f", "chip": "#F7C04A",
    "chipink": "#3d2c00", "freed": "#f6e6bf", "freedink": "#7a6a45", "grad": "#B34700", "active": "#FFF176",
    "activeink": "#1f2328", "panel": "#f6f8fa",
}  # fmt: skip
DARK = {
    "bg": "#111418", "ink": "#e6edf3", "mute": "#9198a1", "line": "#b1bac4", "soft": "#3d444d",
    "card": "#1a1f26", "head": "#262c34", "edge": "#9198a1", "leaf": "#16577f", "leafline": "#8CCBF0",
    "root": "#1c5f45", "rootline": "#4FB58C", "node": "#2b3138", "nodeline": "#6e7681", "chip": "#6b4e0c",
    "chipink": "#ffe2a0", "freed": "#3a3220", "freedink": "#b09a66", "grad": "#ff9a52", "active": "#6f6400",
    "activeink": "#fff", "panel": "#171c22",
}  # fmt: skip

# Pages that say themselves that they are dark or light, whatever the system prefers.
DARK_PAGES = ('[data-jp-theme-light="false"]', '[data-theme="dark"]', ".vscode-dark")
LIGHT_PAGES = ('[data-jp-theme-light="true"]', '[data-theme="light"]', ".vscode-light")

RULES = """
.mg{max-width:100%;height:auto}
.mg text{font:12.5px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--ink);direction:ltr}
.mg tspan{unicode-bidi:isolate}
.mg .paper{fill:var(--bg)}
.mg .box{fill:var(--card);stroke:var(--edge)}
.mg .head{fill:var(--head);stroke:var(--edge)}
.mg .leaf>.head,.mg .parameter>.head{fill:var(--leaf)}
.mg .leaf>.box,.mg .leaf>.head,
.mg .parameter>.box,.mg .parameter>.head{stroke:var(--leafline);stroke-width:1.6}
.mg .root>.head{fill:var(--root)}
.mg .root>.box,.mg .root>.head{stroke:var(--rootline);stroke-width:1.6}
.mg .bare>.box{stroke-dasharray:5 4}
.mg .sheet{fill:var(--card);stroke:var(--edge)}
.mg .fold>.card>.box,.mg .fold>.deck>.box{stroke-width:1.6}
.mg .bare>.head{fill:none;stroke:none}
.mg .name{font-weight:700;font-size:14px}
.mg .role,.mg .key,.mg .say,.mg .mark{font:11.5px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.mg .role{font-style:italic;text-anchor:end}
.mg .key{fill:var(--mute)}
.mg .say{fill:var(--mute)}
.mg .note{font-size:13px;fill:var(--ink)}
.mg .kept{fill:var(--grad);font-weight:700}
.mg .gone,.mg .dim{fill:var(--mute)}
.mg .deck>.box{fill:var(--node);stroke:var(--nodeline)}
.mg .fn{font-weight:600}
.mg .chip rect{fill:var(--chip)}
.mg .chip text{fill:var(--chipink);font-size:11px}
.mg .chip.freed rect,.mg .chip.done rect{fill:var(--freed)}
.mg .chip.freed text,.mg .chip.done text{fill:var(--freedink);text-decoration:line-through}
.mg .chip.packed rect{fill:var(--card);stroke:var(--chip);stroke-width:1.6;stroke-dasharray:4 3}
.mg .chip.packed text{fill:var(--ink)}
.mg .chip.packed.freed rect{stroke:var(--freedink)}
.mg .chip.packed.freed text{fill:var(--freedink)}
.mg .deck.skipped>.box{fill:var(--card);stroke-dasharray:5 4}
.mg .deck.skipped .fn{fill:var(--mute);font-weight:400}
.mg .asked circle{fill:none;stroke:var(--grad);stroke-width:1.6}
.mg .asked .dot{fill:var(--grad);stroke:none}
.mg .chip.more rect,.mg .hooks rect{fill:none;stroke:var(--nodeline)}
.mg .chip.more text,.mg .hooks text{fill:var(--ink);font-size:11px}
.mg .hooks text{text-anchor:middle}
.mg .hooks.changed rect{stroke:var(--grad);stroke-width:2}
.mg .none rect{fill:var(--card);stroke:var(--nodeline)}
.mg .none text{fill:var(--mute);font-size:11px;text-anchor:middle}
.mg .edge path{fill:none;stroke:var(--line);stroke-width:1.5}
.mg .edge .tip{fill:var(--line);stroke:none}
.mg .edge.grad path{stroke:var(--grad);stroke-width:1.8}
.mg .edge.grad .tip{fill:var(--grad);stroke:none}
.mg .pill rect{fill:var(--bg);stroke:var(--grad);stroke-width:1.2}
.mg .pill text{fill:var(--grad);font-weight:600;font-size:12px;text-anchor:middle}
.mg .frame rect{fill:var(--panel);stroke:var(--nodeline);stroke-dasharray:2 4}
.mg .frame text{font-style:italic}
.mg .edge.todo path{stroke-dasharray:4 4;opacity:.55}
.mg .edge.todo .tip{opacity:.55}
.mg .pill.todo text{opacity:.6}
.mg .pill.todo rect{stroke-opacity:.55;stroke-dasharray:3 3}
.mg .station.todo,.mg .deck.todo,.mg .chip.todo,.mg .card.todo{opacity:.55}
.mg .edge.active path{stroke-width:4}
.mg .edge.active .tip{stroke:none}
.mg .pill.active rect{fill:var(--grad)}
.mg .pill.active text{fill:var(--bg)}
.mg .station.active>.deck>.box,.mg .deck.active>.box,
.mg .card.active>.head{fill:var(--active);stroke:var(--ink);stroke-width:2}
.mg .station.active .fn,.mg .deck.active .fn,.mg .card.active>.name{fill:var(--activeink)}
.mg .chip.active rect{stroke:var(--ink);stroke-width:1.5}
.mg .row.active text{fill:var(--grad);font-weight:700}
.mg .station.error>.deck>.box,.mg .deck.error>.box{fill:#D55E00;stroke:#7a2f00;stroke-width:2.5}
.mg .station.error .fn,.mg .deck.error .fn,.mg .mark{fill:#fff;font-weight:700}
.mg .card.error>.box,.mg .edge.error path{stroke:#D55E00;stroke-width:2.5}
.mg .edge.error .tip{fill:#D55E00;stroke:none}
.mg .chip.error rect{fill:#fff;stroke:#D55E00;stroke-width:1.5}
.mg .chip.error text{fill:#a33f00;font-weight:700;text-decoration:none}
.mg .pill.error rect{fill:#D55E00;stroke:#7a2f00}
.mg .pill.error text{fill:#fff}
"""


def css(theme: str = "auto") -> str:
    """The style sheet for `theme`: "auto", "light" or "dark". Raises ValueError for any other."""
    return palette(theme) + RULES


def palette(theme: str = "auto") -> str:
    """The colours of `theme` alone, as properties of the class `mg-auto`, `mg-light` or `mg-dark`."""
    if theme not in THEMES:
        raise ValueError(f"unknown theme {theme!r}: choose one of {', '.join(THEMES)}")
    if theme != "auto":
        return _colours([".mg-" + theme], DARK if theme == "dark" else LIGHT)
    return (
        _colours([".mg-auto"], LIGHT)
        + f"@media(prefers-color-scheme:dark){{{_colours(['.mg-auto'], DARK)}}}"
        + _colours([f"{page} .mg-auto" for page in LIGHT_PAGES], LIGHT)
        + _colours([f"{page} .mg-auto" for page in DARK_PAGES], DARK)
    )


def _colours(selectors: list[str], palette: dict[str, str]) -> str:
    values = ";".join(f"--{name}:{colour}" for name, colour in palette.items())
    return f"{','.join(selectors)}{{{values}}}"


# ----------------------------------------------------------------------------------------------------- legend

TARGET = '<circle r="6"/><circle class="dot" r="2.4"/>'  # a gradient that was asked for

# What each sign stands for, in the order of the legend; 22 wide and 14 high around (0, 0)…(22, 14).
SIGNS = {
    "leaf": '<g class="leaf"><rect class="head" width="22" height="14" rx="4"/></g>',
    "parameter": '<g class="parameter"><rect class="head" width="22" height="14" rx="4"/></g>',
    "root": '<g class="root"><rect class="head" width="22" height="14" rx="4"/></g>',
    "constant": '<g class="bare"><rect class="box" width="22" height="14" rx="4"/></g>',
    "fold": '<path class="sheet" d="M5 -1h12v8h-12z"/><path class="sheet" d="M0 3h22v11h-22z"/>',
    "node": '<g class="deck"><rect class="box" width="22" height="14" rx="4"/></g>',
    "saved": '<g class="chip"><rect width="22" height="14" rx="4"/></g>',
    "freed": '<g class="chip freed"><rect width="22" height="14" rx="4"/><text x="1" y="11">abc</text></g>',
    "packed": '<g class="chip packed"><rect width="22" height="14" rx="4"/></g>',
    "again": '<g class="chip packed"><rect width="22" height="14" rx="4"/></g>',
    "forward": '<g class="edge fwd"><path d="M0 7H14"/><path class="tip" d="M22 7l-9 -4v8z"/></g>',
    "gradient": '<g class="edge grad"><path d="M8 7H22"/><path class="tip" d="M0 7l9 -4v8z"/></g>',
    "todo": '<g class="edge grad todo"><path d="M8 7H22"/><path class="tip" d="M0 7l9 -4v8z"/></g>',
    "hook": '<g class="hooks"><rect x="3" width="16" height="14" rx="7"/><text x="11" y="11">1</text></g>',
    "none": '<g class="none"><rect x="3" width="16" height="14" rx="7"/><text x="11" y="11">∅</text></g>',
    "asked": f'<g class="asked" transform="translate(11 7)">{TARGET}</g>',
    "skipped": '<g class="deck skipped"><rect class="box" width="22" height="14" rx="4"/></g>',
    "not_kept": '<text class="gone" x="0" y="11">(…)</text>',
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
        words = text(f"legend_{kind}", lang)
        wide = 28 + sans(words)
        if x > left and x + wide > left + width:
            x, y = left, y + 21
        parts.append(
            f'<g transform="translate({x:.0f} {y:.0f})">{SIGNS[kind]}'
            f'<text class="say" x="28" y="11">{xml(words)}</text></g>'
        )
        x += wide + 14
    return f'<g class="legend">{"".join(parts)}</g>' if parts else "", y + 14 if parts else top


def sentences(says: Iterable[str], left: float, top: float, width: float) -> tuple[str, float]:
    """Sentences below the picture, broken to `width`, and where they end below."""
    parts: list[str] = []
    y = top
    for sentence in says:
        for line in _broken(clean(sentence), width):
            parts.append(f'<text class="say note" x="{left:.0f}" y="{y + 13:.0f}">{xml(line)}</text>')
            y += 19
        y += 5
    return "".join(parts), y + (6 if parts else 0)


def _broken(sentence: str, width: float) -> list[str]:
    """A sentence in lines of at most `width` pixels, broken at spaces (a single long word may be wider)."""
    lines = [""]
    for word in sentence.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and sans(longer, 13) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


# -------------------------------------------------------------------------------------------------------- XML


def num(x: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{x:.1f}".removesuffix(".0").replace("-0.0", "0")


def area(x: float, y: float, width: float, height: float) -> str:
    """Attributes of a rectangle."""
    return f'x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}"'


def xml(content: str) -> str:
    """Text of XML: control characters out, markup escaped; line breaks separate the lines of a tooltip."""
    return escape("\n".join(map(clean, content.split("\n"))), {'"': "&quot;"})


def spaced(content: str) -> str:
    """Text of XML whose spaces count."""
    return xml(content.replace(" ", "\u00a0"))


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


def rounded(x: float, y: float, width: float, height: float, top: float, bottom: float) -> str:
    """Path data of a rectangle with upper corners rounded by `top` and lower ones by `bottom` pixels."""
    return (
        f"M{num(x)} {num(y + top)}a{num(top)} {num(top)} 0 0 1 {num(top)} -{num(top)}h{num(width - 2 * top)}"
        f"a{num(top)} {num(top)} 0 0 1 {num(top)} {num(top)}v{num(height - top - bottom)}"
        f"a{num(bottom)} {num(bottom)} 0 0 1 -{num(bottom)} {num(bottom)}h-{num(width - 2 * bottom)}"
        f"a{num(bottom)} {num(bottom)} 0 0 1 -{num(bottom)} -{num(bottom)}z"
    )
