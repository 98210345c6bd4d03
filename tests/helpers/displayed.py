"""What a cell under `%%autograd` shows in a notebook: in words, on the page, in its picture."""

from __future__ import annotations

import base64
import html
import itertools
import json
import re
import urllib.parse
import warnings
import xml.etree.ElementTree as ET
import zlib
from types import ModuleType
from typing import Any, NamedTuple

from shells import Ran, Shell

import minigrad_viz
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.graph import Graph

PICTURE = re.compile(r'<img src="data:image/svg\+xml,([^"]*)"')
SCORE = re.compile(r'read\("([^"]+)"\)\]\)')
LINES = re.compile(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", re.S)


class Shown(NamedTuple):
    """What was shown: `text` is text/plain and `page` text/html of all displays; `report` is the cell's."""

    ran: Ran
    text: str
    page: str
    report: Report

    @property
    def svg(self) -> str:
        """The first picture ("" without one): what the page shows before any script runs, and what the player
        adds to that."""
        shown, score = still(self.page), SCORE.search(self.page)
        act = unpacked(score[1])["acts"][-1] if score else {}
        if "groups" not in act:
            return shown
        first, *parts = shown.partition("</style>")[2].split("<g")
        assert len(parts) == len(act["groups"])
        return (
            act["svg"] + first + "".join(map(grouped, parts, act["groups"], itertools.repeat(act["prefix"])))
        )

    @property
    def panel(self) -> dict[str, str]:
        """The lines of the panel under the picture, by label; code stands between backticks."""
        page = re.sub("</?code>", "`", self.page)
        return {html.unescape(label): html.unescape(said) for label, said in LINES.findall(page)}

    def classes(self) -> dict[str, set[str]]:
        """The classes of every part of the picture, by its id without prefix."""
        parts = {e.get("id", "").partition("-")[2]: e for e in ET.fromstring(self.svg).iter() if e.get("id")}
        return {id: set(e.get("class", "").split()) for id, e in parts.items() if id}

    def said(self) -> str:
        """All text of the picture that is written there, tooltips and descriptions left out."""
        texts = ("".join(e.itertext()) for e in ET.fromstring(self.svg).iter() if e.tag.endswith("}text"))
        return "\n".join(texts).replace("\u00a0", " ")


def still(page: str) -> str:
    """The picture that is seen in a page where no script runs ("" without one)."""
    found = PICTURE.search(page)
    svg = urllib.parse.unquote(html.unescape(found[1])) if found else ""
    return svg.replace("'", '"').replace("&#39;", "'")


def grouped(part: str, group: list[str], prefix: str) -> str:
    """The beginning of a group with its id and title, if it has them."""
    id, title = [*group, "", ""][:2]
    named = f' id="{prefix}{id}"{part}' if id else part
    return "<g" + (named.replace(">", f"><title>{title}</title>", 1) if title else named)


def unpacked(z: str) -> Any:
    """JSON that was deflated and written in base64."""
    return json.loads(zlib.decompress(base64.b64decode(z)))


def run(shell: Shell, cell: str, library: ModuleType, **names: Any) -> Ran:
    """Run a cell; `torch` in it is the library. Warnings, which are errors in tests, are none here."""
    shell.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return shell.run(cell, {"torch": library, **names}, library)


def show(shell: Shell, cell: str, library: ModuleType, options: str = "", **names: Any) -> Shown:
    """Run a cell under `%%autograd`. Line 1 is that of the magic."""
    ran = run(shell, f"%%autograd {options}\n{cell}", library, **names)
    data = [each["data"] for each in ran.displayed]
    text, page = ("\n".join(each.get(kind, "") for each in data) for kind in ("text/plain", "text/html"))
    return Shown(ran, text, page, minigrad_viz.last())


def described(graph: Graph, part: str) -> str:
    """A part of the picture in words: `card y`, `LogBackward of z`, `self in LogBackward of z`, `x → y`."""
    base, _, rest = part.partition("-")
    for route in graph.routes:
        if route.id == base:
            return f"{named(graph, route.source)} → {named(graph, route.target)}"
    deck = graph.station(base).deck
    if rest[0] == "c":
        return f"card {named(graph, base, int(rest[1:]))}"
    assert deck is not None
    node = f"{deck.name} of {named(graph, base)}"
    return node if rest == "d" else f"{deck.saved[int(rest[1:])].name} in {node}"


def named(graph: Graph, station: str, i: int = 0) -> str:
    """What a station's card is called: its variable, or its expression."""
    card = graph.station(station).cards[i]
    return card.name or card.expr or "?"
