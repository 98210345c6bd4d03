"""`make_dot` with torchviz's signature, for notebooks that use it: a bare `graphviz.Digraph` of the graph.

Arrows run in the direction of the forward pass; leaves are blue, backward functions grey, the output
green, saved tensors (on request) orange.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kept import Kept, saved_of
from ..model.card_names import name_cards
from ..numbers import short
from ..protocol import Value, edges_of, is_tensor, node_name, variable_of
from ..trace.graph import LEAF, PARAMETER, ROOT, Graph, Saved, Station
from ..trace.walk import nodes_of
from ..words import clean, shorten
from .digraph import Digraph, plain
from .look import Look

BLUE, GREY, GREEN, ORANGE = "lightblue", "lightgrey", "darkolivegreen1", "orange"
COLOURS = {LEAF: BLUE, PARAMETER: BLUE, ROOT: GREEN}
NODES = 5000
LONGEST = 200  # columns of a name
STYLE = {
    "style": "filled",
    "shape": "box",
    "align": "left",
    "fontsize": "10",
    "ranksep": "0.1",
    "height": "0.2",
    "fontname": "monospace",
}


def make_dot(
    var: Any,
    params: Mapping[str, Any] | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    max_attr_chars: int = 50,
) -> Digraph:
    """The graph of tensor `var` (or a tuple of tensors) as a `graphviz.Digraph` that also displays without
    `dot`.

    `params` names tensors; `show_attrs` adds what a node saved, at most `max_attr_chars` characters each;
    `show_saved` adds saved tensors as boxes. TypeError for anything that is no tensor, ValueError without
    any or for more than 5,000 nodes.
    """
    roots = list(var) if isinstance(var, tuple | list) else [var]
    order, omitted = nodes_of(roots, NODES, "make_dot() draws the graph of tensors")
    if omitted:
        raise ValueError(f"the graph has {len(order) + omitted} nodes; make_dot draws up to {NODES}")
    return TorchvizWriter(order, params or {}).write(roots, show_attrs, show_saved, max_attr_chars)


class TorchvizWriter:
    """Writes nodes, given inputs first, into a Digraph."""

    def __init__(self, order: list[Any], params: Mapping[str, Any]) -> None:
        self.dot = Digraph(node_attr=STYLE, graph_attr={"size": "12,12"})
        self.ids = {node: f"n{i}" for i, node in enumerate(order)}
        self.names = {id(tensor): name for name, tensor in params.items()}

    def write(self, roots: list[Any], attributes: bool, saved: bool, width: int) -> Digraph:
        """All nodes with what belongs to them, then the roots."""
        for node, id in self.ids.items():
            kept = list(saved_of(node)) if attributes or saved else []
            self.node(node, id, kept if attributes else [], width)
            for i, k in enumerate(k for k in kept if saved and is_tensor(k.value)):
                self.dot.node(f"{id}s{i}", plain(f"{k.name}\n {tuple(k.value.shape)}"), fillcolor=ORANGE)
                self.dot.edge(f"{id}s{i}", id, arrowhead="none")
        for i, root in enumerate(roots):
            leaf = root.grad_fn is None and root.requires_grad
            self.dot.node(f"o{i}", plain(self.title(root)), fillcolor=BLUE if leaf else GREEN)
            if root.grad_fn is not None:
                self.dot.edge(self.ids[root.grad_fn], f"o{i}")
        return self.dot

    def node(self, node: Any, id: str, kept: list[Kept], width: int) -> None:
        """One backward function, the leaf it deposits to, and the arrows into it."""
        label = shorten(node_name(node), LONGEST)
        if kept:
            lines = [f"{k.name}: {told(k)[:width]}" for k in kept]
            label = "\n".join([label, "-" * max(map(len, [label, *lines])), *lines])
        self.dot.node(id, plain(label), fillcolor=GREY)
        leaf = variable_of(node)
        if leaf is not None:
            self.dot.node(f"{id}v", plain(self.title(leaf)), fillcolor=BLUE)
            self.dot.edge(f"{id}v", id)
        for target, _ in edges_of(node):
            if target is not None:
                self.dot.edge(self.ids[target], id)

    def title(self, tensor: Any) -> str:
        """A tensor's name, if it has one, and its shape."""
        name, shape = self.names.get(id(tensor)), str(tuple(tensor.shape))
        return shape if name is None else f"{shorten(name, LONGEST)}\n {shape}"


def told(kept: Kept) -> str:
    """A saved value in a few words."""
    if kept.freed:
        return "[freed]"
    return f"[saved tensor] {tuple(kept.value.shape)}" if is_tensor(kept.value) else str(kept.value)


# ---------------------------------------------------------------------- a recorded graph in this manner


def dot_of(graph: Graph, look: Look, direction: str = "TB") -> Digraph:
    """The backward graph of `graph` in torchviz's manner. Tensors that no node refers to are left out.
    `look` says whether values are written beside shapes and which saved values have a box."""
    dot = Digraph(node_attr=STYLE, graph_attr={"rankdir": direction})
    names = name_cards(graph, look.lang)
    shown = [station for station in graph.stations if station.deck is not None or not graph.tracked]
    for station in shown:
        _station(dot, station, names, look)
    decks = {station.id for station in shown if station.deck is not None}
    for route in graph.routes:
        if route.tracked and route.source in decks and route.target in decks:
            dot.edge(f"{route.source}d", f"{route.target}d")
    return dot


def _station(dot: Digraph, station: Station, names: Mapping[tuple[str, int], str], look: Look) -> None:
    """A backward function, what it saved, and the tensor if it is a leaf or a root."""
    deck = f"{station.id}d"
    if station.deck is not None:
        dot.node(deck, plain(clean(station.deck.name)), fillcolor=GREY)
        for i, saved in enumerate(station.deck.saved if look.saved == "all" else ()):
            dot.node(f"{deck}{i}", plain(_kept(saved, look)), fillcolor=ORANGE)
            dot.edge(f"{deck}{i}", deck, arrowhead="none")
    for i, card in enumerate(station.cards):
        if card.role not in COLOURS and station.deck is not None:
            continue
        lines = [names[station.id, i]]
        if card.value is not None:
            lines.append(f" {card.value.shape}")
            lines += [short(card.value)] if look.values else []
        id = f"{station.id}c{i}"
        dot.node(id, plain("\n".join(map(clean, lines))), fillcolor=COLOURS.get(card.role, "white"))
        if station.deck is not None:
            dot.edge(*((deck, id) if card.role == ROOT else (id, deck)))


def _kept(saved: Saved, look: Look) -> str:
    """A saved value as its box says it."""
    if not isinstance(saved.value, Value):
        value = "[freed]" if saved.value is None else saved.value
        return clean(f"{saved.name} {value}" if look.values else saved.name)
    lines = [clean(saved.name), f" {saved.value.shape}", *([short(saved.value)] if look.values else [])]
    return "\n".join(lines)
