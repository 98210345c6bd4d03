"""The player as HTML that needs nothing: no kernel, no network, no other file.

The first picture is an image with the outline as alternative text. Where scripts run, one script
puts the player in its place: the module of the widget (`stepper.js`) with its style, which are the same in
every cell, and the score, both deflated.
"""

from __future__ import annotations

import functools
import hashlib
import html
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from ..drawing.export import image, split_picture
from ..drawing.sheets import NOTE
from ..drawing.strip_pictures import StripPicture
from ..drawing.style import every_theme
from ..words import text
from .acts import Act
from .joining import as_expression
from .score import pack_json, score_of

MODULES = (
    "stepper_texts.js", "stepper_parts.js", "stepper_formula.js", "stepper_source.js", "stepper_caption.js",
    "stepper_track.js", "stepper_rounds.js", "stepper_painter.js", "stepper_drag.js", "stepper_picture.js",
    "stepper_map.js", "stepper_details.js", "stepper_share.js", "stepper_offers.js", "stepper_motion.js",
    "stepper_keys.js", "stepper_boxes.js", "stepper_tour.js", "stepper_panes.js", "stepper.js",
)  # fmt: skip
# What is joined only where a cell uses it.
EXTRAS = {
    "strip": ("stepper_strip.js",),
    "quiz": ("stepper_quiz_judge.js", "stepper_quiz_cover.js", "stepper_quiz.js"),
    "live": (
        "stepper_plot.js",
        "stepper_states.js",
        "stepper_replaced.js",
        "stepper_live_pane.js",
        "stepper_live.js",
        "stepper_training.js",
        "stepper_learning.js",
    ),
    "learning": ("stepper_plot.js", "stepper_learning.js"),
}
SHEETS = {"strip": ("strip",), "quiz": ("quiz",), "live": ("live", "learning"), "learning": ("learning",)}
HEAVY = 250_000  # characters of SVG; a larger picture is packed, and the outline alone stands in its place

# Note [One player on a page]
# Notebooks run the scripts of an output in different places: in the output itself, or appended to what holds
# it. So the holder is found by its key, and the first that has no player yet is taken. The first script makes
# the module and keeps it on the page under a name made of its content; those of later cells find it there,
# whether or not the first cell still stands. As none can know what will stand before it when the page is
# opened again, each has a copy of its own, which is only inflated and read where the page has none. A script
# is made of the inflated module: where this one may run that one may, too.
START = Template("""<script>(()=>{
const here=document.currentScript,root=here?here.getRootNode():document;
const box=here&&here.closest("[data-mgp]")||root.querySelector('[data-mgp="$key"]:not([data-on])');
if(!box||!self.DecompressionStream)return;
box.dataset.on="";
const read=z=>new Response(new Blob([Uint8Array.from(atob(z),c=>c.charCodeAt(0))]).stream()
.pipeThrough(new DecompressionStream("deflate"))).json();
const players=self.minigradPlayers??={};
const player=players["$name"]??=read("$player").then(([code,style])=>{
const script=document.createElement("script");
script.text="document.currentScript.player="+code;
document.head.append(script);
script.remove();
return{...script.player,code,style};
});
Promise.all([player,read("$score")]).then(([{mount,code,style},score])=>mount(box,score,{code,style}));
})()</script>""")


WIDGET = """\
async function made() {
  const url = URL.createObjectURL(new Blob(["export default " + code], { type: "text/javascript" }));
  const player = (await import(url)).default;
  URL.revokeObjectURL(url);
  return { ...player, code, style };
}
const players = (self.minigradPlayers ??= {});
const player = (players[name] ??= made());
export default { render: async (place) => (await player).render({ ...place, module: { code, style } }) };
"""


def player_html(
    acts: Sequence[Act],
    source: str = "",
    lang: str | None = None,
    earlier: Sequence[float | None] = (),
    later: Sequence[float | None] = (),
    *,
    pane: bool = False,
    quiz: str = "",
    instead: str = "",
    live: dict[str, Any] | None = None,
    learning: dict[str, Any] | None = None,
    offers: dict[str, Any] | None = None,
) -> str:
    """Self-contained HTML of a player over `acts`, the last of which is shown first; `source` is the cell's,
    of the `earlier` and the `later` backward calls only the values of the roots are known. With `pane`, the
    source is beside the picture from the start, where there is room: on a page that has no cell above the
    player. With a `quiz` the reader is asked first, and `instead` is shown where no script runs; `live`,
    `learning` and `offers` are the parts of the score for live values, for what the model of a loop computes,
    and for what else a reader can do.
    ValueError without any act."""
    score = score_of(acts, source, lang, earlier, later, pack=False)
    if pane:
        score["pane"] = True
    if live:
        score["live"] = live
    if learning and not quiz:
        score["learning"] = learning
    if offers:
        score["offers"] = offers
    picture = acts[-1].picture
    svg, outline = picture.svg() or "", picture.outline()
    if quiz:
        score["quiz"] = quiz
        still = f"<pre>{html.escape(instead)}</pre>"
    elif svg and len(svg) <= HEAVY:
        parts = split_picture(svg, picture.prefix)
        if parts:
            score["acts"][-1] |= {"svg": parts.head, "groups": parts.groups}
        still = image(parts.still if parts else svg, outline)
    else:
        still = f"<pre>{html.escape(outline)}</pre>"
    told = pack_json(score)
    key = hashlib.sha256((still + told).encode()).hexdigest()[:8]
    also = extra_of(acts, "quiz" if quiz else "live" if live else "learning" if learning else "")
    script = START.substitute(key=key, name=player_name(also), player=player(also), score=told)
    note = f'<p style="{NOTE}">{html.escape(text("run_to_play", lang))}</p>'  # where no script runs
    return f'<div data-mgp="{key}" style="overflow-x:auto">{still}{note}{script}</div>'


def extra_of(acts: Sequence[Act], more: str = "") -> str:
    """What a player of these acts uses besides, names of `EXTRAS`; `more` is one of them or ""."""
    strip = any(isinstance(act.picture, StripPicture) for act in acts)
    return " ".join(["strip"] * strip + [more] * bool(more))


@functools.cache
def player(also: str = "") -> str:
    """The module and the style, deflated; `also` what else a cell uses, see `EXTRAS`."""
    return pack_json([module_expression(also), style(also)])


@functools.cache
def player_name(also: str = "") -> str:
    """The name under which a page keeps this player, made of its content."""
    return hashlib.sha256(player(also).encode()).hexdigest()[:12]


def style(also: str = "") -> str:
    """The style of the player and its pictures."""
    sheets = source("stepper.css") + "".join(
        source(f"stepper_{name}.css") for extra in also.split() for name in SHEETS[extra]
    )
    return re.sub(r"/\*.*?\*/\n?|(?<=[:;,{]) | (?=[{}])", "", sheets, flags=re.S) + every_theme()


@functools.cache
def module(also: str = "") -> str:
    """The player as an ES module, which is what a widget wants; the page keeps it as well."""
    parts = map(json.dumps, (player_name(also), module_expression(also), style(also)))
    return "const [name, code, style] = [{}];\n".format(",\n".join(parts)) + WIDGET


@functools.cache
def module_expression(also: str = "") -> str:
    """The files of the player as one expression, whose value is what the last exports by default."""
    return as_expression(scripts(also))


def scripts(also: str = "") -> list[str]:
    """The files of the player in their order; `also` what else a cell uses."""
    extras = [name for extra in also.split() for name in EXTRAS[extra]]
    return [source(name) for name in (*MODULES[:-1], *extras, MODULES[-1])]


def source(name: str) -> str:
    """One of the files beside this one."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def widgets_are_shown() -> bool:
    """Return whether the notebook shows widgets that are not ipywidgets' own.

    Colab shows them only with a manager of widgets that it loads from the network. There the player in the
    output's HTML is what works.
    """
    return "google.colab" not in sys.modules
