"""The player as HTML that needs nothing: no kernel, no network, no other file.

The first picture stands as an image with the outline as alternative text. Where scripts run, one script
puts the player in its place: the module of the widget (`stepper.js`), its style and the score, written out.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..drawing.picture import SMALLEST, width_of
from ..drawing.style import palette
from .score import Act, deflated, packed, score_of

MODULES = ("stepper_parts.js", "stepper_picture.js", "stepper.js")
LARGE = 16_000  # characters of an act that is deflated even if it is shown first
HEAVY = 500_000  # characters of SVG; a larger picture is packed, and the outline alone stands in its place

# Notebooks run the scripts of an output in different places: in the output itself, or appended to what holds
# it. So the holder is found by its key, and the first that has no player yet is taken.
START = """<script>(()=>{{
const score={score};
const player={module};
const here=document.currentScript,root=here?here.getRootNode():document;
const box=here&&here.closest("[data-mgp]")||root.querySelector('[data-mgp="{key}"]:not([data-on])');
if(!box)return;
box.dataset.on="";
player.mount(box,score,"{style}");
}})()</script>"""


def player_html(acts: Sequence[Act], source: str = "", lang: str | None = None, counted: int = 0) -> str:
    """Self-contained HTML of a player over `acts`, the last of which is shown first; `source` is the cell's,
    `counted` more backward calls were only counted. ValueError without any act."""
    score = score_of(acts, source, lang, counted)
    shown = score["acts"][score["shown"]]
    svg = shown["svg"]
    outline = html.escape(acts[-1].picture.outline(), quote=True)
    if svg and len(svg) <= HEAVY:
        shown["svg"] = ""  # the player takes it from the image
        data = base64.b64encode(svg.encode()).decode()
        size = f"max-width:100%;min-width:{width_of(svg) * SMALLEST:.0f}px"
        alt = outline.replace("\n", "&#10;")
        still = f'<img src="data:image/svg+xml;base64,{data}" alt="{alt}" style="{size}">'
    else:
        still = f"<pre>{outline}</pre>"
    if len(in_script(shown)) > LARGE:
        label = shown.pop("label")
        score["acts"][score["shown"]] = {"label": label, "z": packed(shown)}
    key = hashlib.sha256((svg + in_script(score)).encode()).hexdigest()[:8]
    # The picture brings its colours along.
    colours = "" if svg else palette(score["theme"])
    script = START.format(
        score=in_script(score), module=expression(), key=key, style=deflated(colours + style())
    )
    return f'<div data-mgp="{key}" style="overflow-x:auto">{still}{script}</div>'


def in_script(data: Any) -> str:
    """JSON that may stand in a script of a page, whatever its texts say."""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()
    return written.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@functools.cache
def style() -> str:
    """The style of the player in as few characters as it takes."""
    sheet = re.sub(r"/\*.*?\*/|\s+", " ", source("stepper.css"), flags=re.S)
    return re.sub(r" *([{};,]) *|(?<=:) +", r"\1", sheet).replace(";}", "}").strip()


@functools.cache
def module() -> str:
    """The player as one ES module, which is what a widget wants: its three files, one after the other."""
    *parts, player = (re.sub(r"^import .*\n", "", source(name), flags=re.M) for name in MODULES)
    return "".join(re.sub(r"^export ", "", part, flags=re.M) for part in parts) + player


@functools.cache
def expression() -> str:
    """The module as one squeezed expression, whose value is what it exports by default."""
    body = re.sub(r"^export (?!default)", "", module(), flags=re.M)
    return f"(()=>{{{squeezed(re.sub(r'^export default ', 'return ', body, flags=re.M))}}})()"


def source(name: str) -> str:
    """One of the files beside this one."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def squeezed(code: str) -> str:
    """JavaScript without `//` comments and without the blanks that it does not need; strings stay as they
    are.

    The code must end every statement that is no block with a semicolon, and have no other comments, no
    quotes or blanks in regular expressions and no nested template strings.
    """
    parts = re.split(r"""("(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|//.*""", code)
    for i in range(0, len(parts), 2):
        part = re.sub(r"\s+", " ", parts[i] or "")
        part = re.sub(r" ?(=>|&&|\|\||\?\?|[=!]==|[{}(),;:?=<>*]) ?", r"\1", part)
        parts[i] = re.sub(r"(?<=[\w)\]]) ([+-]) (?=[\w(])", r"\1", part)
    return "".join(part or "" for part in parts).strip()
