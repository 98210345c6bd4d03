"""The picture's graph for other programs: as Graphviz is asked to lay it out, one fixed-size box a station
and one edge a route; and as Mermaid text, which GitHub, GitLab and many editors draw where it stands in
Markdown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.card_names import Names, name_cards
from ..numbers import short
from ..trace.graph import Graph, Route, Station
from ..words import clean, shorten
from .boxes import Measured

if TYPE_CHECKING:
    from .digraph import Digraph


DIRECTIONS = ("LR", "TB", "RL", "BT")
NODESEP = 44.0  # pixels between stations of a column; half of it stays free beside a passing route
RANKSEP = 86.0  # pixels between columns, at least: room for an arrow and the pill on it
FRAME = 26.0  # pixels from a frame to the stations in it; its title stands in there
# How hard an edge pulls the boxes at its ends into one line: the way of the results is to be straight.
WEIGHTS = {"result": "8", "leaf": "2", "other": "1"}


def to_dot(graph: Graph, measured: Measured, direction: str = "LR", *, labels: bool = False) -> Digraph:
    """The `Digraph` that lays `graph` out, `measured` for that direction: deterministic, and safe
    for any name.

    `direction` is where the forward pass runs to: "LR", "TB", "RL" or "BT". With `labels` every box says what
    it is, for Graphviz's own drawing; without, boxes are empty and only their places count.
    """
    from .digraph import Digraph

    upright = direction in ("TB", "BT")
    pills = [pill.height if upright else pill.width + pill.beside for pill in measured.pills.values()]
    pills += [tag.width for id, tag in measured.tags.items() if id[0] == "r" and not upright]
    dot = Digraph(
        graph_attr={
            "rankdir": direction,
            "newrank": "true",  # else an edge into a frame may run within one column, or even backwards
            "nodesep": _inches(NODESEP),
            "ranksep": _inches(max([RANKSEP, *(size + 40 for size in pills)])),
        },
        node_attr={"shape": "box", "fixedsize": str(not labels).lower(), "label": ""},
        edge_attr={"arrowhead": "none"} if not labels else {},
    )
    for order in sorted({station.order for station in graph.stations}):
        if order < 2:
            _nodes(dot, graph, measured, order, labels)
        else:
            with dot.subgraph(name=f"cluster_{order}") as frame:
                frame.attr(margin=str(int(FRAME)), id=f"frame{order}")
                _nodes(frame, graph, measured, order, labels)
    made = {route.target for route in graph.routes}
    for route in graph.routes:
        if measured.line(route) == route.id:
            tail = measured.tail(route)
            weight = WEIGHTS[
                "result" if tail in made else "leaf" if route.tracked and tail == route.source else "other"
            ]
            dot.edge(tail, route.target, id=route.id, weight=weight)
    return dot


def _nodes(dot: Any, graph: Graph, measured: Measured, order: int, labels: bool) -> None:
    """One node a station of this order, each preceded by the reference chips that it uses."""
    from .digraph import plain

    chips: dict[str, list[str]] = {}
    for reference in dict.fromkeys(measured.references.values()):
        chips.setdefault(reference.target, []).append(reference.id)
    says = {reference.id: reference.text for reference in measured.references.values()}
    for station in graph.stations:
        if station.order != order:
            continue
        lines = [measured.names[station.id, i] for i in range(len(station.cards))]
        says[station.id] = "\n".join([*lines, clean(station.deck.name)] if station.deck else lines)
        for id in (*chips.get(station.id, ()), station.id):
            box = measured.boxes[id]
            label = {"label": plain(says[id])} if labels else {}
            dot.node(id, id=id, width=_inches(box.width), height=_inches(box.height), **label)


def _inches(pixels: float) -> str:
    return f"{pixels / 72:.4f}"


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
