"""The picture's graph for other programs: as Graphviz is asked to lay it out, one fixed-size box per station
and one edge per route; and as Mermaid text, which GitHub, GitLab and many editors draw inside
Markdown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.naming import Names, name_cards
from ..number_text import one_line
from ..trace.graph import Graph, Route, Station
from ..words import clean, shorten
from .boxes import Measurements

if TYPE_CHECKING:
    from .digraph import Digraph

DIRECTIONS = ("LR", "TB")
NODESEP = 44.0  # pixels between stations of a column; half of it stays free beside a passing route
RANKSEP = 86.0  # pixels between columns, at least: room for an arrow and the pill on it
FRAME = 26.0  # pixels from a frame to the stations in it; its title stands in there
# How hard an edge pulls the boxes at its ends into one line: the way of the results is to be straight.
WEIGHTS = {"result": "8", "leaf": "2", "other": "1"}


def to_dot(graph: Graph, measured: Measurements, direction: str = "LR", *, labels: bool = False) -> Digraph:
    """The `Digraph` that lays `graph` out, `measured` for that direction: deterministic, and safe
    for any name.

    `direction` is where the forward pass runs to: "LR" or "TB". With `labels` every box says what
    it is, for Graphviz's own drawing; without, boxes are empty and only their places count.
    """
    from .digraph import Digraph

    return Digraph(**attributes(measured, direction, labels), body=statements(graph, measured, labels))


def dot_text(graph: Graph, measured: Measurements, direction: str = "LR") -> str:
    """The source of the same without labels, which takes a tenth of the time: every picture is laid out."""
    heads = (
        f"\t{name.removesuffix('_attr')} [{attribute_list(known)}]\n"
        for name, known in attributes(measured, direction, labels=False).items()
    )
    return "".join(["digraph {\n", *heads, *statements(graph, measured, labels=False), "}\n"])


def attributes(measured: Measurements, direction: str, labels: bool) -> dict[str, dict[str, str]]:
    """What holds for the whole graph, for all nodes and for all edges."""
    upright = direction == "TB"
    pills = [pill.height if upright else pill.width + pill.beside for pill in measured.pills.values()]
    pills += [tag.width for id, tag in measured.tags.items() if id[0] == "r" and not upright]
    return {
        "graph_attr": {
            "newrank": "true",  # else an edge into a frame may run within one column, or even backwards
            "nodesep": _inches(NODESEP),
            "rankdir": direction,
            "ranksep": _inches(max([RANKSEP, *(size + 40 for size in pills)])),
        },
        "node_attr": {"fixedsize": str(not labels).lower(), "label": "", "shape": "box"},
        "edge_attr": {"arrowhead": "none"} if not labels else {},
    }


def statements(graph: Graph, measured: Measurements, labels: bool) -> list[str]:
    """A line for each node and each edge. Our ids are plain words, so only labels need quotes."""
    lines = []
    for order in sorted({station.order for station in graph.stations}):
        nodes = node_statements(graph, measured, order, labels)
        if order > 1:
            head = [f"subgraph cluster_{order} {{\n", f"\tid=frame{order} margin={int(FRAME)}\n"]
            nodes = [*head, *(f"\t{line}" for line in nodes), "}\n"]
        lines += [f"\t{line}" for line in nodes]
    made = {route.target for route in graph.routes}
    for route in graph.routes:
        if measured.line(route) == route.id:
            tail = measured.tail(route)
            kind = "result" if tail in made else "leaf" if route.tracked and tail == route.source else "other"
            lines.append(f"\t{tail} -> {route.target} [id={route.id} weight={WEIGHTS[kind]}]\n")
    return lines


def node_statements(graph: Graph, measured: Measurements, order: int, labels: bool) -> list[str]:
    """One node a station of this order, each preceded by the reference chips that it uses."""
    chips: dict[str, list[str]] = {}
    for reference in dict.fromkeys(measured.references.values()):
        chips.setdefault(reference.target, []).append(reference.id)
    says = {reference.id: reference.text for reference in measured.references.values()} if labels else {}
    lines = []
    for station in graph.stations:
        if station.order != order:
            continue
        if labels:
            names = [measured.names[station.id, i] for i in range(len(station.cards))]
            says[station.id] = "\n".join([*names, clean(station.deck.name)] if station.deck else names)
        for id in (*chips.get(station.id, ()), station.id):
            box = measured.boxes[id]
            sizes = f"height={_inches(box.height)} id={id} width={_inches(box.width)}"
            lines.append(f"{id} [{label_attribute(says[id]) if labels else ''}{sizes}]\n")
    return lines


def label_attribute(label: str) -> str:
    """The attribute that makes Graphviz show a text unchanged."""
    from graphviz.quoting import quote

    from .digraph import literal_label

    return f"label={quote(literal_label(label))} "


def attribute_list(known: dict[str, str]) -> str:
    """Attributes with these values, which are plain words."""
    return " ".join(f"{name}={value or EMPTY}" for name, value in known.items())


EMPTY = '""'


def _inches(pixels: float) -> str:
    return f"{pixels / 72:.4f}"


WIDTH = 40  # characters of a line
CODES = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"})


def to_mermaid(graph: Graph, direction: str = "LR", *, values: bool = True, lang: str | None = None) -> str:
    """Return a flowchart: a box for each station, full arrows forward, dotted ones for gradients."""
    names = name_cards(graph, lang)
    lines = [f"flowchart {direction}"]
    lines += [f'  {station.id}["{box_text(station, names, values)}"]' for station in graph.stations]
    lines += [f"  {route.source} --> {route.target}" for route in graph.routes]
    lines += [
        f"  {route.target} -. {flow(route, values)} .-> {route.source}"
        for route in graph.routes
        if route.tracked
    ]
    return "\n".join(lines) + "\n"


def box_text(station: Station, names: Names, values: bool) -> str:
    """The text of a box: names and values of its tensors, and its backward node."""
    lines = []
    for i, card in enumerate(station.cards):
        value = f" = {one_line(card.value)}" if values and card.value is not None else ""
        lines.append(names[station.id, i] + value)
    if station.deck is not None:
        lines.append(station.deck.name)
    return "<br/>".join(map(mermaid_line, lines))


def flow(route: Route, values: bool) -> str:
    """The text of a gradient arrow: what flowed over it."""
    flowed = ", ".join(map(one_line, route.gradients)) if values else ""
    return f'"{mermaid_line(flowed or "∂")}"'


def mermaid_line(line: str) -> str:
    """A line that Mermaid shows as it is."""
    return shorten(clean(line), WIDTH).translate(CODES)
