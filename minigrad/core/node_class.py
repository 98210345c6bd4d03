"""The node class of an op: a slot for each saved value, a property to read it, and the function that applies
it.

Nodes of common ops are applied by closures that do what `apply` does, and ask less: `single` is for ops with
one input, `linear` and `product` are for sums and products of two. In graphs of scalars the loops of the
general path would take a third of the backward pass.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from .apply import apply, apply_nothing, apply_rows, apply_tensors, release, uncast
from .node import RELEASED, Node
from .op import INPUT, RESULT, Op
from .saved import READY, raw_saved, raw_value, saved
from .tensor_state import Tensors
from .vjps import arguments

# The classes of saved values that are used unchanged where no memory is shared: no tensors, nothing freed.
SIMPLE = READY | {bool, str, tuple, np.dtype}


def single(op: Op) -> Any:
    """Return `apply` for an op with one input and one result, and so one vjp."""
    vjp, names = op.pulls[0][1], arguments(op.pulls[0][1])
    keeps = {k.slot: k for k in op.keeps}
    taken = [keeps["_raw_" + name] for name in names]
    fetch = attrgetter(*(k.slot for k in taken)) if taken else None
    checked = tuple(n for n, k in enumerate(taken) if k.derive is None)
    tensors = tuple(k.slot for k in taken if k.what in (INPUT, RESULT))
    of_input, of_result = (any(k.what is what for k in taken) for what in (INPUT, RESULT))
    several = len(taken) > 1

    def apply_single(node: Any, g: Any, keep: bool = True) -> tuple[Any, ...]:
        if (
            node._extra is not None
            or (of_input and node._next[0]._storage is not None)
            or (of_result and node._storage is not None)
        ):
            return apply(node, g, keep)
        together = False
        if fetch is None:
            sent = vjp(g)
        else:
            values = fetch(node)
            if several:
                for n in checked:
                    x = values[n]
                    if x.__class__ is Tensors and x.are_untouched:
                        together = not keep
                    elif x.__class__ not in SIMPLE:
                        return apply(node, g, keep)
                sent = vjp(g, *values)
                if together:
                    release(node)
            elif checked and values.__class__ not in SIMPLE:
                return apply(node, g, keep)
            else:
                sent = vjp(g, values)
            if tensors and not keep:
                node._check = RELEASED
                for slot in tensors:
                    setattr(node, slot, None)
        return (sent,) if node._cast is None else uncast(node._cast, [sent])

    return apply_single


def linear(op: Op) -> Any:
    """Return `apply` for a plain elementwise op with two inputs that saves nothing."""
    vjp0, vjp1 = op.vjps.values()

    def apply_linear(node: Any, g: Any, keep: bool = True) -> tuple[Any, ...]:
        if node._extra is not None:
            return apply(node, g, keep)
        n0, n1 = node._next
        sent = None if n0 is None else vjp0(g), None if n1 is None else vjp1(g)
        return sent if node._cast is None else uncast(node._cast, [*sent])

    return apply_linear


def product(op: Op) -> Any:
    """Return `apply` for a plain elementwise op with two inputs, where the vjp of each takes the other."""
    vjp0, vjp1 = op.vjps.values()
    at0, at1 = map(op.names.index, op.inputs)

    def apply_product(node: Any, g: Any, keep: bool = True) -> tuple[Any, ...]:
        if node._extra is not None:
            return apply(node, g, keep)
        n0, n1 = node._next
        g0 = g1 = None
        if n0 is not None:
            b = node._raw_other
            if b.__class__ not in READY or (n1 is not None and n1._storage is not None):
                b = raw_value(node, at1)
            g0 = vjp0(g, b)
        if n1 is not None:
            a = node._raw_self
            if a.__class__ not in READY or (n0 is not None and n0._storage is not None):
                a = raw_value(node, at0)
            g1 = vjp1(g, a)
        if not keep:
            node._check = RELEASED
            node._raw_self = node._raw_other = None
        return (g0, g1) if node._cast is None else uncast(node._cast, [g0, g1])

    return apply_product


def apply_of(op: Op) -> Any:
    """Return the function that applies the nodes of an op to raw arrays."""
    if op.is_single:
        return single(op)
    if not op.fast or op.inputs != ("self", "other") or op.complexes:
        return apply
    if not op.saved:
        return linear(op)
    return product(op) if [arguments(vjp) for vjp in op.vjps.values()] == [("other",), ("self",)] else apply


MODULE = "builtins"  # so that type(t.grad_fn) is shown as PyTorch shows it: <class 'MulBackward0'>


def make_node(op: Op, name: str) -> type[Node]:
    """Return the Node class of an op: a slot and a `_saved_<name>` property per saved name, and `apply`."""
    members: dict[str, Any] = {
        "__slots__": tuple("_raw_" + n for n in op.names)
        + (("_outputs",) if op.several else ())
        + (("__weakref__",) if op.name == "as_strided" else ()),
        "__module__": MODULE,
        "op": op,
        "is_complex": False,
        "_plain": not op.several,
        "apply": apply_of(op),
        "apply_rows": apply_rows,
        "_apply_tensors": apply_tensors,
        "apply_nothing": apply_nothing,
        "_release": release,
    }
    for i, n in enumerate(op.names):
        if n.endswith("_scalar_type") or (op.listed and "_sym_" in n):
            continue
        members["_saved_" + n] = property(partial(saved, n=i), doc=f"The value saved as `{n}`.")
        if n in op.tensors:
            members["_raw_saved_" + n] = property(
                partial(raw_saved, name=n), doc=f"`{n}`, to register hooks on."
            )
    return type(name, (Node,), members)


def complex_node(op: Op) -> type[Node]:
    """Return the second Node class of an op. See Note [Complex numbers] in `apply`."""
    if op.complex_node is None:
        members = {"__slots__": (), "__module__": MODULE, "is_complex": True, "apply": apply}
        op.complex_node = type(op.node.__name__, (op.node,), members)
    return op.complex_node
