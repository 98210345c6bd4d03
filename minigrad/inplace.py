"""In-place ops and views. In-place ops are derived from their out-of-place op: no derivative is written
twice.

Note [Views and in-place]
    A view remembers its base. An op in place on a view changes the base, so the base's history becomes a
    `CopySlices` node around the op: of the gradient that comes in, the part under the view goes through the
    op's vjp, the rest passes. The view's own grad_fn is then out of date; whoever asks for it next finds that
    the storage's version has moved on and takes the view anew from the base, by its geometry (`regenerate`),
    as PyTorch does. A result of `detach()` shares memory and version with its source but is not such a view:
    writing to it changes nobody's history, and a node that saved the old numbers finds out by the version.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from . import dtypes, modes
from .graph import Node, sequence_numbers
from .modes import quiet
from .op import F, Op, connect_views, prepare, record
from .storage import Geometry, View, geometry, laid_out, strided, strides_of
from .tensor_base import IN_PLACE_ON_LEAF, TensorBase, alias, edge, share, wrap


def share_view(op: Op, values: list[Any], out: Any) -> Any:
    """The result of a view op: memory and Storage of its source, and the way back to the base."""
    source = values[0]
    result = alias(source, out)
    base = source if source._view is None else source._view.base
    result._view = View(base, result._storage.version)
    return result


def regenerate(t: TensorBase) -> None:
    """Bring a view's grad_fn up to date. See Note [Views and in-place]."""
    view, storage = t._view, t._storage
    assert view is not None and storage is not None
    if view.version == storage.version or (t._fn is None and not view.base.requires_grad):
        return
    view.version = storage.version
    if view.base.requires_grad:
        with Unobserved(True):
            fresh = F.as_strided(view.base, *geometry(t._data, view.base._data))
        t._fn, t._nr, t._acc = fresh._fn, fresh._nr, None
        t._fn.set_storage(t._nr, storage)


class Unobserved:
    """Ops that the library runs for itself: recorded (or not) as asked, seen by no observer."""

    def __init__(self, grad: bool) -> None:
        self.grad = grad

    def __enter__(self) -> None:
        self.before = modes.set_grad_mode(self.grad)
        self.observers, modes.state.observers = modes.state.observers, ()

    def __exit__(self, *exc: object) -> None:
        modes.state.observers = self.observers
        modes.set_grad_mode(self.before)


class CopySlices(Node):
    """History of a base after an op in place on a view of it."""

    __slots__ = ("_base", "_fn", "_view")
    op = None

    def __init__(self, base: TensorBase, view: Geometry, fn: Node) -> None:
        self._next = (edge(base), *fn._next[1:])
        nrs = (base._nr, *(fn._nrs or (0,) * len(fn._next))[1:])
        self._nrs = nrs if any(nrs) else None
        self._seq = next(sequence_numbers)
        self._check = self._cast = self._storage = self._extra = None
        self._fn = fn
        self._view = view
        self._base = (base._data.shape, strides_of(base._data))

    def apply(self, gradient: Any) -> tuple[Any, ...]:
        """Gradients of the base and of the op's other inputs, as raw arrays."""
        whole = laid_out(gradient, *self._base)
        part = strided(whole, self._view)
        first, *others = self._fn.apply(part.copy()[()])
        part[...] = 0 if first is None else first
        return (whole[()], *others)

    def apply_tensors(self, gradient: Any) -> tuple[Any, ...]:
        """The same on tensors, recorded."""
        whole = wrap(laid_out(np.zeros_like(gradient._data), *self._base))
        in_place(F.copy.op, whole, gradient)
        part = F.as_strided(whole, *self._view)
        first, *others = self._fn.apply_tensors(F.clone(part))
        in_place(F.copy.op, part, wrap(np.zeros_like(part._data)[()]) if first is None else first)
        return (whole, *others)

    def release(self) -> None:
        """Forget what the op in place saved."""
        self._fn.release()


def check_allowed(t: TensorBase) -> None:
    """RuntimeError with PyTorch's text for an in-place op on a leaf (or a view of one) that learns."""
    if not modes.is_grad_enabled():
        return
    if t._view is not None and t._view.base.requires_grad and t._view.base.is_leaf:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    if t.requires_grad and t.is_leaf:
        raise RuntimeError(IN_PLACE_ON_LEAF)


def in_place(op: Op, t: TensorBase, *args: Any) -> Any:
    """Run `op` on `t` and write the result into `t`."""
    check_allowed(t)
    storage = share(t)
    values = [t, *args]
    for i, (name, value) in enumerate(zip(op.params, values)):
        if not isinstance(value, (TensorBase, int, float, complex, np.generic)):
            kind = type(value).__name__
            raise TypeError(f"{op.name}_(): argument '{name}' (position {i}) must be Tensor, not {kind}")
    check_single(op, t)
    for value in args:
        if isinstance(value, TensorBase):
            check_overlap(t, value)
    out = quiet(op.kernel, *prepare(op, values))
    check_fits(t, out)
    node: Any = record(op, values, out) if modes.is_grad_enabled() else None
    if node is not None and getattr(node, "_raw_self", None) is not None:
        node._raw_self = F.clone(t)
        node._check = node._check or tuple(0 for _ in op.saved)
    before, history = storage.version, (t._fn, t._nr)
    np.copyto(t._data, out, casting="unsafe")
    storage.version += 1
    if node is not None:
        if getattr(node, "_raw_result", None) is not None:
            node._raw_result = t._data
            node._check = tuple(storage.version if n == "result" else 0 for n, _ in op.saved)
        rebase(t, node)
    if modes.active:
        for observer in modes.observers():
            observer.mutated(op, values, before, history)
    return t


def check_overlap(t: TensorBase, other: TensorBase) -> None:
    """RuntimeError with PyTorch's text where an operand lies partly in the memory that is written to."""
    a, b = t._data, other._data
    if other is t or other._storage is not t._storage or not (a.size and b.size):
        return
    if not (a.flags.forc and b.flags.forc):
        return
    same = geometry(b, a).storage_offset == 0 and a.size == b.size
    if a.strides != b.strides if same else np.may_share_memory(a, b):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
            "single "
            "memory location. Please clone() the tensor before performing the operation."
        )


def check_fits(t: TensorBase, out: Any) -> None:
    """RuntimeError with PyTorch's text unless `out` can be written into `t`."""
    if out.shape != t._data.shape:
        raise RuntimeError(
            f"output with shape {list(t._data.shape)} doesn't match the broadcast shape {list(out.shape)}"
        )
    a, b = dtypes.of(out), dtypes.of(t._data)
    if a.category > b.category:
        raise RuntimeError(f"result type {a.title} can't be cast to the desired output type {b.title}")


def check_single(op: Op, t: TensorBase) -> None:
    """RuntimeError with PyTorch's text where elements to be written lie in one place, as after `expand`.
    Filling with one value is always possible.
    """
    data = t._data
    if op.name not in ("fill", "zero") and any(s == 0 and n > 1 for s, n in zip(data.strides, data.shape)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def rebase(t: TensorBase, node: Node) -> None:
    """Make `node` the history of `t`, which has just been written to."""
    view = t._view
    if view is None:
        set_history(t, node)
        return
    with Unobserved(True):
        set_history(view.base, CopySlices(view.base, geometry(t._data, view.base._data), node))
    regenerate(t)


def set_history(t: TensorBase, node: Node) -> None:
    """`node` is what made `t` now; a gradient that is kept for `t` is kept there."""
    old, nr = t._fn, t._nr
    t._fn, t._nr, t._acc = node, 0, None
    node._storage = t._storage
    if t._storage is not None:
        t._storage.writer = node.name() if isinstance(node, CopySlices) else type(node).__name__
    if t._retains:
        if old is not None:
            old.extra.retain.pop(nr, None)
        node.extra.retain[0] = weakref.ref(t)


connect_views(share_view)
TensorBase.regenerate = staticmethod(regenerate)
