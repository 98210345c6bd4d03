"""What the tensors of a recorded cell are called, and how to write what made those that the source does
not show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ..numbers import number
from ..protocol import Value, op_of
from .place import Lookup, Place

OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
KINDS = ("_scalar", "_tensor")  # in which names of ops end that take a number, or a tensor, beside the first
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
GRADIENT = re.compile(r"(?<![\w.])[\w.]+\.grad\b")
LONGEST = 24  # characters of an expression that is part of another one
DEEPEST = 6  # brackets in brackets; what is deeper is longer than that


def names_of(places: Iterable[Any], final: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Variable names by tensor id, from where the tensors were made and from what the variables are at the
    end.

    The variable that the result was assigned to counts, if it still is that tensor or none is; else the
    first variable that is (`y = f(x)` names what `f` called `b`), or for a parameter its place in its module
    (`for p in model.parameters()` leaves `p` behind).
    """
    bound: dict[str, list[str | None]] = {}
    for id, name in final:
        bound.setdefault(id, []).append(name)
    named = {}
    for place in places:
        for state in place.states:
            own = place.name if len(place.states) == 1 else None
            names = bound.get(state.id) or [own]
            inner = [name for name in names if state.parameter and "." in (name or "")]
            chosen = own if own in names else [*inner, *names][0]
            if chosen is not None:
                named[state.id] = chosen
    return named


def gradient_name(place: Any, named: Mapping[str, str]) -> str | None:
    """`x.grad` for a tensor that is the gradient of `x`; None where that is not certain.

    Of several leaves with equal gradients, and for a leaf without a name, the source of its first use
    decides.
    """
    written = dict.fromkeys(GRADIENT.findall(place.used))
    leaves = [f"{named[leaf]}.grad" for leaf in place.gradient_of if leaf in named]
    if len(place.gradient_of) == 1 and leaves:
        return leaves[0]
    found = [name for name in written if name in leaves or len(leaves) < len(place.gradient_of)]
    return found[0] if len(found) == 1 else None


def expression(
    place: Any, at: Mapping[str, Any], named: Mapping[str, str], depth: int = DEEPEST
) -> str | None:
    """An op whose source is not known in symbols; None for a place that no such op made. What stands more
    than `depth` brackets deep is `…`."""
    event = place.event
    if event is None:
        return None
    given = zip(event.inputs, event.arguments, strict=True)
    operands = [operand(id, text, at, named, depth) for id, text in given]
    title = event.op
    for kind in KINDS:
        title = title.removesuffix(kind)
    if title in OPERATORS and len(operands) == 2:
        return f"{operands[0]} {OPERATORS[title]} {operands[1]}"
    if title in ("copy", "clone", "copybackwards") and operands:
        return operands[-1]
    return f"{title}({', '.join(operands)})"


def unseen(found: Lookup, place: Place, named: Mapping[str, str]) -> str | None:
    """What an op computed that nobody saw, from its node and the tensors that it used: `t(net.0.weight)`;
    None for what has a name, and where those have none."""
    node = found.nodes.get(place.node or "")
    if node is None or any(state.id in named for state in place.states):
        return None
    sources = [found.tensor_of(edge) for edge in node.edges if edge is not None]
    names = [named[id] for id in sources if id is not None and id in named]
    if not names or len(names) < len(sources):
        return None
    if op_of(node.name) == "t":
        return f"{names[0]}.T"
    names += ["…"] * any(not isinstance(saved.value, Value) and not saved.freed for saved in node.saved)
    return f"{op_of(node.name)}({', '.join(names)})"


def operand(
    id: str | None, text: str | None, at: Mapping[str, Any], named: Mapping[str, str], depth: int
) -> str:
    """One input of such an op: its name, its number, or its own expression in brackets."""
    if id is None:
        return text or ""
    if id in named:
        return named[id]
    place, i = at[id]
    value = place.states[i].value
    if place.event is None and value is not None and value.size == 1 and value.items:
        return number(value.items[0], value.dtype)
    whole = place.expr or (expression(place, at, named, depth - 1) if depth else None) or "…"
    return f"({whole})" if len(whole) <= LONGEST else "(…)"


def numbered(named: dict[str, str]) -> dict[str, str]:
    """Names with a subscript where several tensors share one."""
    count = Counter(named.values())
    seen: Counter[str] = Counter()
    result = {}
    for id, name in named.items():
        seen[name] += 1
        result[id] = name if count[name] == 1 else name + str(seen[name]).translate(SUBSCRIPTS)
    return result


def plain_name(name: str) -> str:
    """A name without the subscript that `numbered` gave it."""
    return name.rstrip("₀₁₂₃₄₅₆₇₈₉")
