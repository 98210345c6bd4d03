"""`make_dot` with torchviz's signature, for notebooks that use it: a bare `graphviz.Digraph` of the graph.

Arrows run in the direction of the forward pass; leaves are blue, backward functions grey, the output green, saved
tensors (on request) orange.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .digraph import Digraph, plain
from .protocol import (
    edges_of,
    is_tensor,
    node_name,
    saved_of,
    value_of,
    variable_of,
)
from .walk import in_order

BLUE, GREY, GREEN, ORANGE = "lightblue", "lightgrey", "darkolivegreen1", "orange"
NODES = 5000


def make_dot(var: Any, params: Mapping[str, Any] | None = None, show_attrs: bool = False, show_saved: bool = False,
             max_attr_chars: int = 50) -> Digraph:  # fmt: skip
    """The graph of tensor `var` (or a tuple of tensors) as a `graphviz.Digraph` that also displays without `dot`.

    `params` names tensors; `show_attrs` adds what a node saved that is no tensor, at most `max_attr_chars` characters
    each; `show_saved` adds saved tensors. TypeError for anything that is no tensor, ValueError for more than 5,000 nodes.
    """
    roots = list(var) if isinstance(var, tuple | list) else [var]
    for root in roots:
        if not is_tensor(root):
            raise TypeError(f"make_dot() draws the graph of tensors, not of {type(root).__name__}")
    names = {id(t): name for name, t in (params or {}).items()}
    style = {"style": "filled", "shape": "box", "align": "left", "fontsize": "10", "ranksep": "0.1", "height": "0.2",
             "fontname": "monospace"}  # fmt: skip
    dot = Digraph(node_attr=style, graph_attr={"size": "12,12"})
    order, omitted = in_order([r.grad_fn for r in roots if r.grad_fn is not None], NODES)
    if omitted:
        raise ValueError(f"the graph has {len(order) + omitted} nodes; make_dot draws up to {NODES}")
    ids = {node: f"n{i}" for i, node in enumerate(order)}
    for node in order:
        add_node(dot, node, ids, names, show_attrs, show_saved, max_attr_chars)
    for i, root in enumerate(roots):
        name = f"o{i}"
        dot.node(name, plain(title(root, names)), fillcolor=GREEN)
        if root.grad_fn is not None:
            dot.edge(ids[root.grad_fn], name)
    return dot


def title(tensor: Any, names: Mapping[int, str]) -> str:
    """A tensor's name, if it has one, and its shape."""
    name = names.get(id(tensor))
    shape = str(tuple(tensor.shape))
    return shape if name is None else f"{name}\n {shape}"


def add_node(dot: Digraph, node: Any, ids: Mapping[Any, str], names: Mapping[int, str], attributes: bool, saved: bool, width: int) -> None:  # fmt: skip
    """One backward function, the leaf it deposits to, what it saved, and the arrows into it."""
    leaf = variable_of(node)
    label = node_name(node)
    kept = list(saved_of(node)) if attributes or saved else []
    if attributes and kept:
        lines = [f"{k.name}: {told(k)[:width]}" for k in kept]
        label = "\n".join([label, "-" * max(map(len, [label, *lines])), *lines])
    dot.node(ids[node], plain(label), fillcolor=GREY)
    if leaf is not None:
        dot.node(f"{ids[node]}v", plain(title(leaf, names)), fillcolor=BLUE)
        dot.edge(f"{ids[node]}v", ids[node])
    if saved:
        for i, k in enumerate(k for k in kept if is_tensor(k.value)):
            dot.node(f"{ids[node]}s{i}", plain(f"{k.name}\n {tuple(k.value.shape)}"), fillcolor=ORANGE)
            dot.edge(f"{ids[node]}s{i}", ids[node], arrowhead="none")
    for target, _ in edges_of(node):
        if target is not None:
            dot.edge(ids[target], ids[node])


def told(kept: Any) -> str:
    """A saved value in a few words."""
    if kept.freed:
        return "[freed]"
    return f"[saved tensor] {value_of(kept.value).shape}" if is_tensor(kept.value) else str(kept.value)
