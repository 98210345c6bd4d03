"""The picture's graph as Graphviz is asked to lay it out: one fixed-size box a station and one edge a
route."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..trace.graph import Graph
from ..words import clean
from .boxes import Measured

if TYPE_CHECKING:
    import graphviz

DIRECTIONS = ("LR", "TB", "RL", "BT")
NODESEP = 44.0  # pixels between stations of a column; half of it stays free beside a passing route
RANKSEP = 86.0  # pixels between columns, at least: room for an arrow and the pill on it
FRAME = 26.0  # pixels from a frame to the stations in it; its title stands in there
# How hard an edge pulls the boxes at its ends into one line: the way of the results is to be straight.
WEIGHTS = {"result": "8", "leaf": "2", "other": "1"}


def to_dot(
    graph: Graph,
    measured: Measured,
    direction: str = "LR",
    *,
    digraph: Any = None,
    labels: bool = False,
) -> graphviz.Digraph:
    """The `graphviz.Digraph` that lays `graph` out, `measured` for that direction: deterministic, and safe
    for any name.

    `direction` is where the forward pass runs to: "LR", "TB", "RL" or "BT". `digraph` is the class to build
    (graphviz.Digraph, or a subclass that displays itself differently). With `labels` every box says what it
    is, for Graphviz's own drawing; without, boxes are empty and only their places count.
    """
    upright = direction in ("TB", "BT")
    pills = [pill.height if upright else pill.width + pill.beside for pill in measured.pills.values()]
    pills += [tag.width for id, tag in measured.tags.items() if id[0] == "r" and not upright]
    dot = (digraph or _plain())(
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


def _plain() -> Any:
    import graphviz

    return graphviz.Digraph


def _nodes(dot: Any, graph: Graph, measured: Measured, order: int, labels: bool) -> None:
    """One node a station of this order, each preceded by the reference chips that it uses."""
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
            label = {"label": _literal(says[id])} if labels else {}
            dot.node(id, id=id, width=_inches(box.width), height=_inches(box.height), **label)


def _literal(label: str) -> Any:
    """`label` so that Graphviz shows it as it stands: no escapes, entities or HTML, a line a line."""
    import graphviz

    lines = (str(graphviz.escape(line.replace("&", "&amp;"))) for line in label.split("\n"))
    return graphviz.nohtml("\\n".join(lines))


def _inches(pixels: float) -> str:
    return f"{pixels / 72:.4f}"
