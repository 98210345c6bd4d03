"""The graph as Mermaid text, which GitHub, GitLab and many editors draw where it stands in Markdown."""

from __future__ import annotations

from ..model.card_names import Names, name_cards
from ..numbers import short
from ..trace.graph import Graph, Route, Station
from ..words import clean, shorten

WIDTH = 40  # characters of a line
CODES = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"})


def to_mermaid(graph: Graph, direction: str = "LR", *, values: bool = True, lang: str | None = None) -> str:
    """Return a flowchart: a box for each station, full arrows forward, dotted ones for gradients."""
    names = name_cards(graph, lang)
    lines = [f"flowchart {direction}"]
    lines += [f'  {station.id}["{label(station, names, values)}"]' for station in graph.stations]
    lines += [f"  {route.source} --> {route.target}" for route in graph.routes]
    lines += [
        f"  {route.target} -. {flow(route, values)} .-> {route.source}"
        for route in graph.routes
        if route.tracked
    ]
    return "\n".join(lines) + "\n"


def label(station: Station, names: Names, values: bool) -> str:
    """The text of a box: names and values of its tensors, and its backward node."""
    lines = []
    for i, card in enumerate(station.cards):
        value = f" = {short(card.value)}" if values and card.value is not None else ""
        lines.append(names[station.id, i] + value)
    if station.deck is not None:
        lines.append(station.deck.name)
    return "<br/>".join(map(written, lines))


def flow(route: Route, values: bool) -> str:
    """The text of a gradient arrow: what flowed over it."""
    flowed = ", ".join(map(short, route.gradients)) if values else ""
    return f'"{written(flowed or "∂")}"'


def written(line: str) -> str:
    """A line that Mermaid shows as it is."""
    return shorten(clean(line), WIDTH).translate(CODES)
