"""Views: tensors that show the memory of another one. See Note [Views and in-place] in `in_place`."""

from __future__ import annotations

import weakref

from ..core import F
from ..core.call import record
from ..core.modes import unobserved
from ..core.node import Node
from ..core.storage import Geometry, geometry
from ..core.tensor_state import TensorBase
from ..core.view_path import refuse_write, replay
from .copy_slices import CopySlices


def refuse(t: TensorBase, indirect: bool) -> None:
    """RuntimeError if `t` is a view that must not be the way to its base's history: it is being written to,
    or (`indirect`) its base was.
    """
    if t._view is not None:
        refuse_write(t._view.creation, t._fn, t._nr, indirect)


def regenerate(t: TensorBase, place: Geometry | None = None) -> None:
    """Bring a view's grad_fn up to date: if its memory was modified, derive it from the base again.

    `place` says where the view lies in its base; it is computed if it is not given.
    """
    view, storage = t._view, t._storage
    assert view is not None and storage is not None
    if view.version == storage.version or (t._fn is None and not view.base.requires_grad):
        return
    refuse(t, True)
    view.version = storage.version
    base = view.base
    if view.path is not None:
        with unobserved(True):
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
        t._storage.writer = node.name() if isinstance(node, CopySlices) else type(node).__name__


TensorBase.regenerate = staticmethod(regenerate)
