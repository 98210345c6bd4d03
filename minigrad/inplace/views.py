"""Views: tensors that show the memory of another one. See Note [Views and in-place] in `in_place`."""

from __future__ import annotations

import weakref
from typing import Any

from ..core import F, Op, connect_views, modes, path_of, record
from ..core.node import Node
from ..core.storage import Geometry, Storage, View, geometry
from ..core.tensor_state import TensorBase, alias, attach
from ..core.view_errors import refuse_write
from ..core.view_path import replay


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


def share_view(op: Op, values: list[Any], out: Any) -> Any:
    """A result of a view op: memory and Storage of its source, and the way back to the base. The view of an
    inference tensor is an inference tensor, whose history nobody keeps.
    """
    source = values[0]
    view, storage = source._view, source._storage
    plain = storage.__class__ is Storage and not (modes.active or op.bit or op.several or source._bits)
    if plain and out.dtype is source._data.dtype and (view is None or view.path is None):
        result = attach(out, None)
        result._storage = storage
        base, made = (source, "") if view is None else (view.base, view.creation)
        result._view = View(base, storage.version, made)
        return result
    result = alias(source, out)
    if op.bit:
        result._bits = source._bits ^ op.bit
    if not source._inference:
        base = source if source._view is None else source._view.base
        made, path = creation(op.several, source._view), path_of(op, source, out)
        result._view = View(base, result._storage.version, made, path)
    return result


def creation(several: bool, parent: View | None) -> str:
    """Return how a new view, of the view `parent` or of a base, was made: see `core.view_errors`."""
    if (modes.active and modes.state.inference) or (parent is not None and parent.creation == "inference"):
        return "inference"
    if not modes.is_grad_enabled():
        return "no_grad"
    return "several" if several else "" if parent is None else parent.creation


def refuse(t: TensorBase, indirect: bool) -> None:
    """RuntimeError if `t` is a view that must not be the way to its base's history: it is being written to,
    or (`indirect`) its base was.
    """
    if t._view is not None:
        refuse_write(t._view.creation, t._fn, t._nr, indirect)


def regenerate(t: TensorBase, place: Geometry | None = None) -> None:
    """Bring a view's grad_fn up to date: if its memory was written to, it is taken anew from its base, where
    it lies at `place` (found out if it is not given).
    """
    view, storage = t._view, t._storage
    assert view is not None and storage is not None
    if view.version == storage.version or (t._fn is None and not view.base.requires_grad):
        return
    refuse(t, True)
    view.version = storage.version
    base = view.base
    if view.path is not None:
        with Unobserved(True):
            fresh = replay(base, view.path)
        if fresh._fn is None:
            t._fn = None
        else:
            set_node(t, fresh._fn)
        return
    node = record(F.as_strided.op, [base, *(place or geometry(t._data, base._data))], t._data, always=True)
    assert node is not None
    set_node(t, node)


def set_node(t: TensorBase, node: Node) -> None:
    """Make `node` the history of `t`. A gradient that is kept for `t` is kept there now; hooks stay where
    they are.
    """
    old, nr = t._fn, t._nr
    t._fn, t._nr, t._acc = node, 0, None
    if t._storage is not None:
        node._set_storage(0, t._storage)
    if t._retains:
        if old is not None:
            old._extra_made.retain.pop(nr, None)
        node._extra_made.retain[0] = weakref.ref(t)


connect_views(share_view)
TensorBase.regenerate = staticmethod(regenerate)
