"""Colors and style of the picture, one set for light pages and one for dark ones; and small helpers for
writing SVG.

Everything is scoped to the class `mg` of the picture's own `<svg>`, since a style element inside a page
styles the page. `mg-auto` follows the reader's system, and the notebook where it says whether it is dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ..words import clean
from .plane import Cubic

THEMES = ("auto", "light", "dark")

LIGHT = {
    "bg": "#fff", "ink": "#1f2328", "mute": "#59636e", "line": "#57606a", "soft": "#d0d7de", "card": "#fff",
    "head": "#f3f4f6", "edge": "#57606a", "leaf": "#8CCBF0", "leafline": "#0b6aa2", "root": "#4FB58C",
    "rootline": "#1a6b4b", "node": "#e9ebee", "nodeline": "#8c959f", "chip": "#F7C04A",
    "chipink": "#3d2c00", "freed": "#f6e6bf", "freedink": "#70603c", "grad": "#B34700", "gradsoft": "#fbeadd",
    "active": "#FFF176", "activeink": "#1f2328", "panel": "#f6f8fa", "error": "#c24f00",
    "errorink": "#8f3500",
    "lane": "#eaf4fb", "heatn": "#762a83", "heat0": "#f7f7f7", "heatp": "#1b7837",
}  # fmt: skip
DARK = {
    "bg": "#111418", "ink": "#e6edf3", "mute": "#9aa4af", "line": "#9198a1", "soft": "#3d444d",
    "card": "#1a1f26", "head": "#262c34", "edge": "#9198a1", "leaf": "#16577f", "leafline": "#8CCBF0",
    "root": "#1c5f45", "rootline": "#4FB58C", "node": "#2b3138", "nodeline": "#6e7681", "chip": "#6b4e0c",
    "chipink": "#ffe2a0", "freed": "#3a3220", "freedink": "#b09a66", "grad": "#ff9a52", "gradsoft": "#3a2617",
    "active": "#6f6400", "activeink": "#fff", "panel": "#171c22", "error": "#c25300", "errorink": "#ffb27d",
    "lane": "#14212c",
    "heatn": "#c79be0", "heat0": "#2a3037", "heatp": "#7fd18f",
}  # fmt: skip

# Pages that say themselves that they are dark or light, whatever the system prefers.
DARK_PAGES = ('[data-jp-theme-light="false"]', '[data-theme="dark"]', '[theme="dark"]', ".vscode-dark")
LIGHT_PAGES = ('[data-jp-theme-light="true"]', '[data-theme="light"]', ".vscode-light")

RULES = """
.mg{max-width:100%;height:auto}
.mg text{font:12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--ink);direction:ltr}
.mg tspan{unicode-bidi:isolate}
.mg .paper{fill:var(--bg)}
.mg .box{fill:var(--card);stroke:var(--edge)}
.mg .head{fill:var(--head);stroke:var(--edge)}
.mg .leaf>.head,.mg .parameter>.head{fill:var(--leaf)}
.mg .leaf>.box,.mg .leaf>.head,
.mg .parameter>.box,.mg .parameter>.head{stroke:var(--leafline);stroke-width:1.5}
.mg .root>.head{fill:var(--root)}
.mg .root>.box,.mg .root>.head{stroke:var(--rootline);stroke-width:1.6}
.mg .bare>.box{stroke-dasharray:5 4}
.mg .sheet{fill:var(--card);stroke:var(--edge)}
.mg .fold>.card>.box,.mg .fold>.deck>.box{stroke-width:1.6}
.mg .bare>.head{fill:none;stroke:none}
.mg .name{font-weight:700;font-size:13px}
.mg .letter{font-style:italic}
.mg .role,.mg .key,.mg .say,.mg .met{font:11px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.mg .role{font-style:italic;text-anchor:end}
.mg .met{fill:var(--mute);text-anchor:end}
.mg .key{fill:var(--mute)}
.mg .say{fill:var(--mute)}
.mg .note{font-size:13px;fill:var(--ink)}
.mg .kept{fill:var(--grad);font-weight:700}
.mg .gone{fill:var(--mute)}
.mg .deck>.box{fill:var(--node);stroke:var(--nodeline)}
.mg .fn{font-weight:600;font-size:11.5px}
.mg .slot rect{fill:var(--gradsoft);stroke:var(--grad)}
.mg .slot text{fill:var(--grad);font-weight:700;font-size:11.5px;text-anchor:middle}
.mg .slot.old rect{fill:var(--card);stroke:var(--nodeline)}
.mg .slot.old text{fill:var(--mute)}
.mg .slot.miss rect{fill:none;stroke-dasharray:3 3}
.mg .sum,.mg .total{fill:var(--grad);font-weight:700}
.mg .sum{text-anchor:middle}
.mg .slot.active rect{fill:var(--grad)}
.mg .slot.active text{fill:var(--bg)}
.mg .chip rect{fill:var(--chip)}
.mg .chip text{fill:var(--chipink);font-size:11px}
.mg .chip.freed rect{fill:var(--freed)}
.mg .chip.freed text{fill:var(--freedink);text-decoration:line-through}
.mg .chip.packed rect{fill:var(--card);stroke:var(--chip);stroke-width:1.6;stroke-dasharray:4 3}
.mg .chip.packed text{fill:var(--ink)}
.mg .chip.packed.freed rect{stroke:var(--freedink)}
.mg .chip.packed.freed:not(.error) text{fill:var(--freedink)}
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
.mg .edge path{fill:none;stroke:var(--line);stroke-width:1.4}
.mg .edge .tip{fill:var(--line);stroke:none}
.mg .edge.grad path{stroke:var(--grad);stroke-width:1.8}
.mg .edge.grad .tip{fill:var(--grad);stroke:none}
.mg .pill rect{fill:var(--bg);stroke:var(--grad);stroke-width:1.3}
.mg .pill text{fill:var(--grad);font-weight:700;font-size:12px;text-anchor:middle}
.mg .shape{font-size:11px;text-anchor:middle}
.mg .frame rect{fill:var(--panel);stroke:var(--nodeline);stroke-dasharray:2 4}
.mg .frame text{font-style:italic}
.mg .edge.todo path{stroke-dasharray:4 4;opacity:.55}
.mg .edge.todo .tip{opacity:.55}
.mg .edge.active path{stroke-width:4}
.mg .edge.active .tip{stroke:none}
.mg .pill.active rect{fill:var(--grad)}
.mg .pill.active text{fill:var(--bg)}
.mg .station.active>.deck>.box,.mg .deck.active>.box,
.mg .card.active>.head{fill:var(--active);stroke:var(--ink);stroke-width:2}
.mg .station.active .fn,.mg .deck.active .fn,.mg .card.active>text{fill:var(--activeink)}
.mg .chip.active rect{stroke:var(--ink);stroke-width:1.5}
.mg .row.active text{fill:var(--grad);font-weight:700}
.mg .deck.error>.box,.mg .station>.deck.error>.box{fill:var(--error);stroke:#7a2f00;stroke-width:2.5}
.mg .deck.active .met,.mg .deck.active .sum,.mg .deck.active .total{fill:var(--activeink)}
.mg .deck.error .fn,.mg .deck.error .met,.mg .deck.error .sum,.mg .deck.error .total,
.mg .deck.error>.more:not(.error) text,
.mg .deck.error>.hooks text{fill:#fff;font-weight:700}
.mg .card.error>.box,.mg .card.error>.head,
.mg .edge.error path{stroke:#D55E00;stroke-width:2.5;stroke-dasharray:none}
.mg .edge.error .tip{fill:#D55E00;stroke:none}
.mg .chip.error rect{fill:#fff;stroke:#D55E00;stroke-width:1.5}
.mg .chip.error text{fill:#a33f00;font-weight:700;text-decoration:none}
.mg .pill.error rect{fill:var(--error);stroke:#7a2f00}
.mg .pill.error text{fill:#fff}
"""

# What few pictures have. In the steps before a failure nothing is marked.
RARE = {
    "marks": """
.mg .chip.stale rect{stroke-dasharray:2 2}
.mg .chip.stale:not(.error) rect{fill:var(--freed);stroke:#D55E00;stroke-width:1.6}
.mg .chip.stale:not(.error) text{fill:var(--errorink)}
.mg .hooks.removed rect{stroke-dasharray:2 2}
.mg .hooks.removed text{fill:var(--mute);text-decoration:line-through}
.mg .deck.cause>.box,.mg .card.cause>.box,.mg .card.cause>.head,
.mg .edge.cause path{stroke:#D55E00;stroke-width:2.5;stroke-dasharray:7 3}
.mg .edge.cause .tip{fill:#D55E00;stroke:none}
.mg .chip.cause rect{stroke:#D55E00;stroke-width:2;stroke-dasharray:4 2}
.mg .was,.mg.walk:not(.failed) .tag,.mg.walk:not(.failed) .why{display:none}
.mg.walk:not(.failed) .was{display:inline}
.mg .tag rect{fill:var(--error);stroke:none}
.mg .tag text{font:700 11.5px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;text-anchor:middle}
.mg .tag text{fill:#fff}
.mg .tag.cause rect{fill:var(--card);stroke:#D55E00;stroke-dasharray:4 2}
.mg .tag.cause text{fill:var(--errorink)}
.mg .fog path{stroke:var(--nodeline);stroke-opacity:.6}
.mg .ghost>.box{fill:var(--bg);fill-opacity:.8;stroke:var(--nodeline);stroke-dasharray:2 4}
.mg .ghost text{fill:var(--mute)}
.mg .edge.ghost path{stroke:var(--grad);stroke-width:1.8;stroke-dasharray:1 5;stroke-linecap:round}
.mg .cut path{fill:none;stroke:var(--ink);stroke-width:1.6}
.mg .cut .halo{stroke:var(--bg);stroke-width:5}
.mg .memory path{fill:var(--bg);stroke:var(--ink)}
.mg .memory text{font-size:11px;font-weight:700;text-anchor:middle}
""",
    "updates": """
.mg .lane .paper{fill:var(--lane);stroke:var(--leafline);stroke-dasharray:6 4}
.mg .lane .bar{fill:var(--leafline)}
.mg .update>.box{fill:none;stroke:none}
.mg .update .wait{display:none}
.mg.walk .update.later .wait{display:inline}
.mg.walk .update.later .kept:not(.later)~.wait.far,.mg.walk .update.later .kept.later~.wait.near{display:none}
.mg .update .now{font-weight:700;fill:var(--leafline)}
.mg .update.active>.box{fill:var(--card);stroke:var(--leafline);stroke-width:2}
.mg.walk .update.later .now,.mg.walk .update.later .done,.mg.walk .update.later .kept.later{visibility:hidden}
""",
    "heat": """
.mg .heat .hz{fill:var(--heat0);stroke:var(--line)}
.mg .pill .hz,.mg .pill.active .hz{fill:var(--heat0);stroke:var(--line);stroke-width:1}
.mg .pill.map>rect{stroke:none}
.mg .pill.map text{font-size:11px}
.mg .pill.map.active>rect{fill:var(--bg);stroke:var(--grad);stroke-width:2}
.mg .pill.map.active text{fill:var(--grad)}
.mg .heat .hn{fill:var(--heatn)}
.mg .heat .hp{fill:var(--heatp)}
.mg .heat .hn,.mg .heat .hp{stroke:var(--card);stroke-width:.6}
.mg .heat .hd,.mg .heat .hx{fill:none;stroke:var(--ink);stroke-width:1.2}
.mg .heat .hx{stroke:var(--errorink)}
""",
}


def css(theme: str = "auto", parts: Iterable[str] = RARE) -> str:
    """The style sheet for `theme`: "auto", "light" or "dark", with these `parts` of what few pictures have.
    Raises ValueError for any other theme."""
    return palette(theme) + rules(parts)


def every_theme() -> str:
    """The style sheet of a page with pictures of any theme, which then need none of their own."""
    return "".join(map(palette, THEMES)) + rules()


def rules(parts: Iterable[str] = RARE) -> str:
    """The style of pictures without their colors."""
    return RULES + "".join(RARE[part].lstrip() for part in parts)


def palette(theme: str = "auto") -> str:
    """The colors of `theme` alone, as properties of the class `mg-auto`, `mg-light` or `mg-dark`."""
    if theme not in THEMES:
        raise ValueError(f"unknown theme {theme!r}: choose one of {', '.join(THEMES)}")

    def colours(selectors: list[str], palette: dict[str, str]) -> str:
        values = (f"--{name}:{colour}" for name, colour in palette.items())
        scheme = "dark" if palette is DARK else "light"  # for the controls of a player
        return f"{','.join(selectors)}{{{';'.join(values)};--scheme:{scheme}}}"

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
