"""The arithmetic of a backward step: the chain rule with the cell's own names and numbers.

    ∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75. = 0.6

Only steps between single numbers have such a line. It is shown when the formula of the node's vjp, computed
with the saved numbers, gives the gradient that was recorded; otherwise (a hook changed it, a value was
overwritten) there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .build import Builder
from .events import NodeRan, NodeState
from .notation import CALL, Local, local_derivative
from .numbers import number, short
from .protocol import Value
from .words import text

CLOSE = 1e-4  # relative difference up to which a formula's number is the recorded one (float32 rounding)
LONGEST = 24  # columns of an unnamed tensor's expression in a formula


def chain_rule(builder: Builder, event: NodeRan, lang: str | None = None) -> list[str]:
    """One line per gradient that a node sent, where there is one to be written."""
    node = builder.nodes[event.node]
    place = builder.by_node.get(event.node)
    root = builder.named.get(builder.of.get(event.call, ""))
    if place is None or root is None or len(event.received) != 1 or not single(event.received[0]):
        return []
    received = event.received[0]
    assert received is not None
    tensors = builder.match(list(place.inputs or ()), node.edges)
    names = dict(saved_names(node, tensors, place.states[0].id, builder))
    values = {s.name: raw(s.value) for s in node.saved}
    lines = []
    for i, sent in enumerate(event.sent):
        if not single(sent) or tensors[i] is None:
            continue
        assert sent is not None
        local = local_derivative(node.name, i, values, names)
        if local is not None and agrees(received, local, sent):
            made, source = label(builder, place.states[0].id), label(builder, tensors[i])
            line = written(root, made, source, received, local, sent, place.states[0].id in builder.roots)
            lines.append(
                line if paths(builder, tensors[i]) < 2 else text("through", lang, rule=line, name=made)
            )
    return lines


def written(
    root: str, made: str, source: str, received: Value, local: Local, sent: Value, at_root: bool
) -> str:
    """The chain rule as one line; at the root itself, whose derivative is 1, the local derivative alone."""
    root, made, source = held(root), held(made), held(source)
    factor, result = number(local.value, sent.dtype), short(sent)
    formula = [local.formula] if local.formula.rstrip(".") != factor.rstrip(".").replace("-", "−") else []
    if at_root and received.items == (1.0,):
        return " = ".join([f"∂{root}/∂{source}", *formula, result])
    chain = [f"∂{root}/∂{source}", f"∂{root}/∂{made} · ∂{made}/∂{source}"]
    numbers = [f"{short(received)} · {bracketed(f)}" for f in [*formula, factor]]
    return " = ".join([*chain, *numbers, result])


def held(name: str) -> str:
    """A tensor's name as part of `∂…/∂…`: anything but a name or a call in brackets."""
    return name if name.isidentifier() or CALL.fullmatch(name) or name[:-1].isidentifier() else f"({name})"


def bracketed(factor: str) -> str:
    """A factor, in brackets if it begins with a minus sign or is a sum."""
    return f"({factor})" if factor[:1] in "-−" or " " in factor else factor


def saved_names(
    node: NodeState, tensors: list[str | None], output: str, builder: Builder
) -> Iterator[tuple[str, str]]:
    """What the saved tensors of a node are called: its inputs, in the order of the op's differentiable
    arguments, and its result. A saved name belongs to the input whose value it has."""
    for kept in node.saved:
        if not isinstance(kept.value, Value):
            continue
        if kept.name == "result":
            yield kept.name, label(builder, output)
            continue
        same = [t for t in tensors if t is not None and value_of(builder, t) == kept.value]
        if len(set(same)) == 1:
            yield kept.name, label(builder, same[0])


def value_of(builder: Builder, tensor: str) -> Value | None:
    """The recorded value of a tensor."""
    place, i = builder.at[tensor]
    return place.states[i].value


def label(builder: Builder, tensor: str | None) -> str:
    """A tensor's name, or its expression if that is short."""
    if tensor is None:
        return "?"
    if tensor in builder.named:
        return builder.named[tensor]
    place, _ = builder.at[tensor]
    expr = place.expr or builder.expression(place) or "…"
    return expr if len(expr) <= LONGEST else "…"


def paths(builder: Builder, tensor: str | None) -> int:
    """Over how many edges gradients reached a tensor in the backward call that is shown."""
    return sum(
        builder.tensor_of(edge) == tensor
        for node, i in builder.flows
        if (edge := builder.nodes[node].edges[i]) is not None
    )


def single(value: Value | None) -> bool:
    """Whether a value is one real number."""
    return value is not None and value.size == 1 and isinstance((value.items or ("",))[0], float | int)


def raw(value: Any) -> Any:
    """A saved value for a formula: a NumPy scalar for a tensor of one element, a number for a number's
    text."""
    if isinstance(value, Value):
        return np.dtype(value.dtype).type(value.items[0]) if single(value) and value.items else value
    try:
        return int(value)
    except (TypeError, ValueError):
        pass
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def agrees(received: Value, local: Local, sent: Value) -> bool:
    """Whether incoming · local is what the node sent."""
    assert received.items and sent.items
    return bool(
        np.isclose(received.items[0] * local.value, sent.items[0], rtol=CLOSE, atol=0, equal_nan=True)
    )


def sum_at(builder: Builder, leaf: str, lang: str | None = None) -> str | None:
    """`x.grad = 1. (through w) + 0.6 (through y) = 1.6`, where several gradients met at a leaf."""
    parts, total = [], 0.0
    for node, flows in arrivals(builder, leaf):
        place = builder.by_node.get(node)
        for value in flows:
            if not single(value) or place is None:
                return None
            assert value.items
            total += value.items[0]
            parts.append(text("share", lang, value=short(value), name=label(builder, place.states[0].id)))
    if len(parts) < 2:
        return None
    arrived = builder.arrived.get(builder.accumulators.get(leaf, ""))
    if arrived is None or not arrived.items or not np.isclose(total, arrived.items[0], rtol=CLOSE):
        return None
    return " + ".join(parts) + f" = {short(arrived)}"


def arrivals(builder: Builder, leaf: str) -> Iterator[tuple[str, list[Value]]]:
    """Per node that sent gradients to a leaf, what it sent."""
    for (node, i), values in builder.flows.items():
        edge = builder.nodes[node].edges[i]
        if edge is not None and builder.tensor_of(edge) == leaf:
            yield node, values
