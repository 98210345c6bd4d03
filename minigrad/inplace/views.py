"""Views, and `CopySlices`, the history of a tensor after an in-place op on a view of it."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import F, dialect, modes
from ..core import nested_passes as anomaly
from ..core.apply import invalid_gradient, uncast
from ..core.call import record
from ..core.devices import contiguous_format
from ..core.modes import hidden_from_observers
from ..core.node import Node, output_of
from ..core.storage import Geometry, geometry, laid_out, steps, strides_of
from ..core.tensor_state import IN_PLACE_ON_LEAF, TensorBase, attach, edge, read_as, wrap
from ..core.view_path import refuse_write, replay, replay_array

# ─── `CopySlices`, the history of a tensor after an op in place on a view of it. See Note [Views and in-
# place] in `in_place`


ONE_PLACE = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory "
    "location. Please clone() the tensor before performing the operation."
)


class CopySlices(Node):
    """History of a base after an op in place on a view of it."""

    __slots__ = ("_base", "_fn", "_path", "_shown")
    op = None
    _shown: Any  # weak reference to the view's grad_fn that was made after the op

    def __init__(self, base: TensorBase, view: Geometry, fn: Node, path: Any = None) -> None:
        nrs = (base._nr, *(fn._nrs or (0,) * len(fn._next))[1:])
        self._begin((edge(base), *fn._next[1:]), nrs)
        if fn._cast is not None:  # as in PyTorch, where gradients are summed once the node has run
            self._cast, fn._cast = (None, *fn._cast[1:]), None
        self._made = ((base._data.shape, base._data.dtype),)
        if modes.active and modes.anomaly.enabled:
            anomaly.remember(self)
        if fn._speaks or (fn._extra is not None and fn._extra.unpacks):
            self._extra_made.unpacks = True  # user code runs in it
        self._fn = fn
        self._shown = None
        self._path = path or (view,)
        self._base = (base._data.shape, strides_of(base._data))

    def apply(self, gradient: Any, keep: bool = True) -> tuple[Any, ...]:
        """Gradients of the base and of the op's other inputs, as raw arrays."""
        self._check_kept()
        whole = laid_out(gradient, *self._base)
        part, bits = replay_array(whole, self._path)
        self._check_overlap(part)
        fn, given = self._fn, read_as(bits, part.copy())[()] if bits or part.ndim else part[()]
        if getattr(fn, "_raw_result", None) is None:
            first, *others = fn.apply(given)
        else:
            with self._result_of_view():
                first, *others = fn.apply(given)
        if first is not None:
            part[...] = read_as(bits, first)
        sent = (None if first is None else whole[()], *others)
        self._check_shape()
        if not keep:
            self._release()
        return sent if self._cast is None else uncast(self._cast, list(sent))

    def _apply_tensors(self, gradient: Any) -> tuple[Any, ...]:
        """Return the same on tensors, recorded."""
        self._check_kept()
        whole = wrap(laid_out(np.zeros_like(gradient._data), *self._base))
        F.in_place(F.copy.op, whole, gradient)
        part = replay(whole, self._path)
        self._check_overlap(part._data)
        with self._result_of_view():
            first, *others = self._fn._apply_tensors(F.clone(part, contiguous_format))
        if first is not None:
            F.in_place(F.copy.op, part, first)
        sent = (None if first is None else whole, *others)
        self._check_shape()
        return sent if self._cast is None else uncast(self._cast, list(sent))

    @contextlib.contextmanager
    def _result_of_view(self) -> Iterator[None]:
        """For a time, the op's saved result is a tensor whose history is that of the view after the op."""
        fn: Any = self._fn
        kept, shown = getattr(fn, "_raw_result", None), self._shown and self._shown()
        if not isinstance(kept, np.ndarray) or shown is None:
            yield
            return
        fn._raw_result = attach(kept, shown)
        fn._raw_result._storage = fn._storage_of(0)
        try:
            yield
        finally:
            fn._raw_result = kept

    def _check_overlap(self, part: Any) -> None:
        """RuntimeError with PyTorch's text where a view was filled that has one element several times: its
        gradient cannot be written.
        """
        if part.ndim and self._next[0] is not None and any(step == 0 for step in steps(part)):
            raise RuntimeError(ONE_PLACE)

    def _check_shape(self) -> None:
        """RuntimeError with PyTorch's text if `base.data = …` gave the base a shape that its node has not."""
        target = self._next[0]
        made = None if target is None else output_of(target, self._nrs[0] if self._nrs else 0)
        if made is not None and made[0] != self._base[0]:
            raise invalid_gradient(dialect.full_name("CopySlices"), 0, self._base[0], made[0])

    def _check_kept(self) -> None:
        if self._fn is None:
            raise RuntimeError(dialect.second_backward_error())

    def _release(self) -> None:
        """Forget the op in place, whether it saved anything or not."""
        self._fn = None  # type: ignore[assignment]


# ─── Views: tensors that show the memory of another one. See Note [Views and in-place] in `in_place`


def refuse_in_place(t: TensorBase, indirect: bool) -> None:
    """RuntimeError if `t` is a view that must not be the way to its base's history: it is being written to,
    or (`indirect`) its base was.
    """
    if t._view is not None:
        refuse_write(t._view.creation, t._fn, t._nr, indirect)


def refuse_view(t: TensorBase) -> None:
    """RuntimeError if `t`, a view that is being written to, must not be that way, or shows a leaf that needs
    a gradient.
    """
    refuse_in_place(t, False)
    if t.requires_grad and t._view.base.is_leaf:  # type: ignore[union-attr]
        raise RuntimeError(f"a view of {IN_PLACE_ON_LEAF}")


def regenerate(t: TensorBase, place: Geometry | None = None) -> None:
    """Bring a view's grad_fn up to date: if its memory was modified, derive it from the base again.

    `place` says where the view lies in its base; it is computed if it is not given.
    """
    view, storage = t._view, t._storage
    assert view is not None and storage is not None
    if view.version == storage.version or (t._fn is None and not view.base.requires_grad):
        return
    refuse_in_place(t, True)
    view.version = storage.version
    base = view.base
    if view.path is not None:
        with hidden_from_observers(True):
            fresh = replay(base, view.path)
        if fresh._fn is None:
            t._fn = None
        else:
            set_node(t, fresh._fn)
        return
    node = record(F.as_strided.op, [base, *(place or geometry(t._data, base._data))], t._data, always=True)
    assert node is not None
    set_node(t, node)


def set_node(t: TensorBase, node: Node, made: int = 0) -> None:
    """Make `node`, of which `t` is output number `made`, the history of `t`. A gradient that is kept for `t`
    is kept there now; hooks stay where they are.
    """
    old, nr = t._fn, t._nr
    t._fn, t._nr, t._acc = node, made, None
    if t._storage is not None:
        node._set_storage(made, t._storage)
    if t._retains:
        if old is not None:
            old._extra_made.retain.pop(nr, None)
        node._extra_made.retain[made] = weakref.ref(t)


def rebase(t: TensorBase, node: Node, shown: bool = True) -> None:
    """Make `node` the history of `t`, which has just been written to. With `shown=False` nobody can see `t`
    afterwards, so a view need not be brought up to date.
    """
    view = t._view
    if view is None:
        set_history(t, node)
        return
    place = geometry(t._data, view.base._data)
    slices = CopySlices(view.base, place, node, view.path)
    set_history(view.base, slices)
    if shown or getattr(node, "_raw_result", None) is not None:
        regenerate(t, place)
        if hasattr(t._fn, "__weakref__"):
            slices._shown = weakref.ref(t._fn)


def set_history(t: TensorBase, node: Node) -> None:
    """`node` is what made `t` now."""
    replaces = t._fn is not None
    set_node(t, node)
    if t._storage is not None and (replaces or t._storage.detached):
        t._storage.detached = 0
        t._storage.writer = type(node).__name__


TensorBase.regenerate = staticmethod(regenerate)
