"""`make_dot` with torchviz's signature, for notebooks that use it: a bare `graphviz.Digraph` of the graph.

Arrows run in the direction of the forward pass; leaves are blue, backward functions grey, the output
green, saved tensors (on request) orange.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .digraph import Digraph, plain
from .protocol import Kept, edges_of, is_tensor, node_name, saved_of, variable_of
from .walk import in_order

BLUE, GREY, GREEN, ORANGE = "lightblue", "lightgrey", "darkolivegreen1", "orange"
NODES = 5000
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
    if not roots:
        raise ValueError("make_dot() needs at least one tensor")
    for root in roots:
        if not is_tensor(root):
            raise TypeError(f"make_dot() draws the graph of tensors, not of {type(root).__name__}")
    order, omitted = in_order([r.grad_fn for r in roots if r.grad_fn is not None], NODES)
    if omitted:
        raise ValueError(f"the graph has {len(order) + omitted} nodes; make_dot draws up to {NODES}")
    return _Writer(order, params or {}).write(roots, show_attrs, show_saved, max_attr_chars)


class _Writer:
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
        label = node_name(node)
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
        return shape if name is None else f"{name}\n {shape}"


def told(kept: Kept) -> str:
    """A saved value in a few words."""
    if kept.freed:
        return "[freed]"
    return f"[saved tensor] {tuple(kept.value.shape)}" if is_tensor(kept.value) else str(kept.value)
