"""How a node of an op is applied, in the plain form: every saved value looked at, one vjp after the other.

The form written out for each op is in `nodes`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import modes
from ..graph import output_of, sum_to
from ..hook_calls import Mode, as_gradient, as_tensor
from ..tensor_base import TensorBase, wrap
from .registry import RAW, F, Op, arguments
from .saved import saved, unpack, wanted


def by_name(op: Op) -> list[int]:
    """The inputs in alphabetical order, in which PyTorch takes their gradients: nodes then have its ages."""
    return sorted(range(len(op.inputs)), key=op.inputs.__getitem__)


def conjugate(value: Any, tensor: bool) -> Any:
    """The conjugate of a saved value; what is no complex number as it is. `tensor`: a Python number becomes a
    tensor, as in PyTorch, which shows in the precision of what is computed with it.
    """
    if isinstance(value, (TensorBase, *RAW)):
        return F.conj(value)
    if not isinstance(value, complex):
        return value
    return wrap(np.complex128(value.conjugate())) if tensor else value.conjugate()


def apply_general(node: Any, g: Any, tensors: bool = False) -> tuple[Any, ...]:
    """`apply` (or `apply_tensors`) with every saved value checked. See Note [Written-out functions]."""
    __tracebackhide__ = True
    if node._extra is not None and node._extra.unpacks:
        return apply_unpacked(node, g, tensors)
    values = {}
    for name in wanted(node):
        values[name] = saved(node, name, wrapped=False) if tensors else raw_value(node, name)
    return pull(node, g, values)


def apply_limited(node: Any, g: Any, runs: Any) -> tuple[Any, ...]:
    """`Node.apply_limited` of an op."""
    __tracebackhide__ = True
    values = {name: saved(node, name, wrapped=False) for name in wanted(node)}
    if g is None:
        return (None,) * len(node._next)
    sent = pull(node, g, values, runs)
    return fitted(node, sent) if node._extra is not None and node._extra.unpacks else sent


def apply_unpacked(node: Any, g: Any, tensors: bool) -> tuple[Any, ...]:
    """`apply_general` where hooks give the saved values: always on tensors, and nothing is taken for granted
    of their shapes and dtypes.
    """
    __tracebackhide__ = True
    values = {name: saved(node, name, wrapped=False) for name in wanted(node)}
    if g is None or (g.__class__ is list and all(x is None for x in g)):
        return (None,) * len(node._next)
    if tensors:
        return fitted(node, pull(node, g, values))
    before = modes.switch("observers", ())
    try:
        with Mode(False):
            g = [as_tensor(False, x) for x in g] if g.__class__ is list else wrap(g)
            return tuple(as_gradient(False, x) for x in fitted(node, pull(node, g, values)))
    finally:
        modes.switch("observers", before)


def fitted(node: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """Gradients in the shapes and dtypes of the inputs; RuntimeError with PyTorch's text where the shape
    cannot be reached by a sum.
    """
    sent = list(gradients)
    for i, (target, nr) in enumerate(node.next_functions):
        made = None if target is None else output_of(target, nr)
        if sent[i] is None or made is None:
            continue
        shape, got = made[0], sent[i]._data.shape
        if got != shape:
            if not expandable(shape, got):
                raise RuntimeError(
                    f"Function {node.name()} returned an invalid gradient at index {i} - got {list(got)} but "
                    f"expected shape compatible with {list(shape)}"
                )
            sent[i] = F.sum_to(sent[i], shape)
        sent[i] = F.to(sent[i], made[1]) if sent[i]._data.dtype != made[1] else sent[i]
    return tuple(sent)


def expandable(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `target`."""
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(a in (1, b) for a, b in pairs)


def apply_nothing(node: Any) -> tuple[None, ...]:
    """`Node.apply_nothing` of an op."""
    for name in wanted(node):
        unpack(node, name)
    return (None,) * len(node._next)


def pull(node: Any, g: Any, values: dict[str, Any], runs: Any = None) -> tuple[Any, ...]:
    """Call the vjps of a node on `g` and the saved `values` (only for nodes that `runs` says yes to)."""
    __tracebackhide__ = True
    op = node.op
    if op.several and node._outputs == 1:
        g = [g]
    if op.listed:
        return apply_to_list(node, g, values)
    gradients: list[Any] = [None] * len(op.inputs)
    for i in by_name(op):
        if node._next[i] is not None and (runs is None or runs(node._next[i])):
            vjp = op.vjps[op.inputs[i]]
            own = op.complexes.get(op.inputs[i]) if node.is_complex else None
            names = arguments(own or vjp)
            given = [values[n] for n in names]
            if node.is_complex and own is None:
                given = [
                    conjugate(v, isinstance(g, TensorBase) and n in op.inputs) for n, v in zip(names, given)
                ]
            gradients[i] = (own or vjp)(g, *given)
    return tuple(gradients) if node._cast is None else uncast(node, gradients)


def apply_to_list(node: Any, g: Any, values: dict[str, Any]) -> tuple[Any, ...]:
    """The gradients of a list of inputs."""
    (vjp,) = node.op.vjps.values()
    sent = vjp(g, *(values[n] for n in arguments(vjp)))
    gradients = [None if n is None else x for n, x in zip(node._next, sent, strict=True)]
    return tuple(gradients) if node._cast is None else uncast(node, gradients)


def raw_value(node: Any, name: str) -> Any:
    """A saved value as raw data, 0-dim arrays as scalars."""
    __tracebackhide__ = True
    data, _ = unpack(node, name)
    return data[()] if name in node.op.tensors and getattr(data, "ndim", None) == 0 else data


def uncast(node: Any, gradients: list[Any]) -> tuple[Any, ...]:
    """Bring gradients back to the shapes and dtypes of the inputs that were broadcast or promoted."""
    for i, (kind, g) in enumerate(zip(node._cast, gradients)):
        if kind is None or g is None:
            continue
        shape, dtype = kind
        if isinstance(g, TensorBase):
            if dtype.kind == "f" and g._data.dtype.kind == "c":
                g = F.real(g)
            if g._data.shape != shape:
                g = F.sum_to(g, shape)
            gradients[i] = g if g._data.dtype == dtype else F.to(g, dtype)
        else:
            if dtype.kind == "f" and g.dtype.kind == "c":
                g = g.real
            if g.shape != shape:
                g = sum_to(g, shape)
            gradients[i] = g if g.dtype == dtype else g.astype(dtype)
    return tuple(gradients)
