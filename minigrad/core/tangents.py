"""Which tensors are dual: the tangents that they carry in forward mode.

Note [Tangents]
    In forward mode a tensor may carry a tangent, its derivative along a direction that the user chose. The
    tangent is a tensor of the same shape. All carriers are stored here, weakly, so that their tangents, and
    the graphs that these keep alive, are removed when the level ends.

    A tangent lies in memory as its tensor does, if necessary as a copy. So the tangent of a view is that view
    of the base's tangent, an in-place op on one also modifies the other, and a view that was taken before its
    base got a tangent finds it on request (`tangent_of`). The result of `make_dual` is a view of the primal
    for backward, but not such a view here: it has its own tangent.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from . import modes
from .op import F
from .storage import Geometry, address, extent, geometry, root, steps, strides_of
from .storage import strided_part as strided
from .tensor_state import NEGATIVE, TensorBase, wrap
from .view_path import replay

_carriers: dict[int, weakref.ref[Any]] = {}  # by id: tensors, and what nodes store of saved ones


class SavedTangents(dict[str, TensorBase]):
    """The tangents of what a node saved, by name."""


def note(carrier: Any) -> None:
    """Store, weakly, what carries a tangent, until the level ends."""
    key = id(carrier)
    _carriers[key] = weakref.ref(carrier, lambda _: _carriers.pop(key, None))


def put_tangent(t: TensorBase, tangent: TensorBase) -> None:
    """Make `t` a dual tensor."""
    t._tangent = tangent
    note(t)


def forget() -> None:
    """Remove all tangents when the level ends."""
    for reference in list(_carriers.values()):
        carrier = reference()
        if isinstance(carrier, SavedTangents):
            carrier.clear()
        elif carrier is not None:
            carrier._tangent = None
    _carriers.clear()


def without_tangents() -> modes.Within:
    """Return a block for ops that forward mode runs for itself: they produce no tangents, and observers do
    not see them.
    """
    state = modes.state
    if not state.record_tangents:
        return modes.Within(forward_grad=False, observers=())
    constant = state.constant_primals or not state.grad_enabled
    return modes.Within(forward_grad=False, observers=(), grad_enabled=True, constant_primals=constant)


def tangent_of(t: Any) -> Any:
    """Return the tangent of `t`, or None, also if forward mode is off. See Note [Tangents]."""
    if not isinstance(t, TensorBase) or not modes.is_forward():
        return None
    if t._tangent is None:
        base = base_of(t)
        if base is not None and base._tangent is not None:
            with without_tangents():
                put_tangent(t, seen_through(t, base, base._tangent))
    return t._tangent


def base_of(t: TensorBase) -> Any:
    """Return the tensor of whose tangent that of the view `t` is a part; None if `t` is not such a view."""
    if t._tangent_base is not None:
        return None if t._tangent_base is False else t._tangent_base
    return None if t._view is None else t._view.base


def tie(view: TensorBase, source: TensorBase) -> None:
    """Store for a new view of whose tangent its own is a part, if that is not the tangent of its base."""
    base = base_of(source)
    base = source if base is None else base
    if view._view is None or view._view.base is not base:
        view._tangent_base = base


def seen_through(t: TensorBase, base: TensorBase, tangent: TensorBase) -> Any:
    """Return the part of the base's tangent that lies where the view `t` lies in its base."""
    if t._view is not None and t._view.path is not None and t._view.base is base:
        return replay(tangent, t._view.path)
    if t._data.dtype == base._data.dtype:
        return F.as_strided(tangent, *geometry(t._data, base._data))
    if base._data.dtype.kind == "c":
        tangent = F.view_as_real(tangent)
        return F.as_strided(tangent, *geometry(t._data, base._data))
    return F.view_as_complex(F.as_strided(tangent, *of_pairs(geometry(t._data, base._data))))


def of_pairs(where: Geometry) -> Geometry:
    """Return the geometry of complex numbers as that of their real and imaginary parts, side by side in a
    last dimension.
    """
    stride = tuple(2 * n for n in where.stride)
    return Geometry((*where.size, 2), (*stride, 1), 2 * where.storage_offset)


def adopt(t: TensorBase, tangent: TensorBase) -> None:
    """Give a tangent to `t`, which has none and was modified. A view gets it through its base."""
    base = base_of(t)
    if base is None:
        put_tangent(t, fit_tangent(t, tangent, True))
        return
    if t._data.shape == base._data.shape and layout(t._data) == layout(base._data):
        tangent = fit_tangent(base, tangent, True)
        put_tangent(base, tangent)
        put_tangent(t, tangent)
        return
    whole = blank(base, tangent._data.dtype, True)
    put_tangent(base, whole)
    put_tangent(t, seen_through(t, base, whole))
    t._tangent.copy_(tangent)  # type: ignore[union-attr]


def fit_tangent(t: TensorBase, tangent: TensorBase, whole: bool) -> Any:
    """Return `tangent`, or a copy of it that lies in memory as `t` does; with `whole`, including the memory
    around it.
    """
    a, b = t._data, tangent._data
    if a.shape != b.shape:
        tangent = F.expand(tangent, a.shape)
        b = tangent._data
    if t._bits != tangent._bits:
        copy = blank(t, b.dtype, whole)
        copy._bits = t._bits if b.dtype.kind == "c" else t._bits & NEGATIVE
        return copy.copy_(tangent)
    if a.__class__ is not np.ndarray and b.__class__ is not np.ndarray:
        return tangent
    alone = a.base is b.base is None
    if alone and a.flags.c_contiguous and b.flags.c_contiguous:
        return tangent
    if layout(a) == layout(b) if whole and not alone else steps(a) == steps(b):
        return tangent
    return blank(t, b.dtype, whole).copy_(tangent)


def blank(t: TensorBase, dtype: np.dtype, whole: bool) -> Any:
    """Return a tensor of zeros that lies in memory as `t` does."""
    data = t._data
    if not isinstance(data, np.ndarray) or not data.size:
        return wrap(np.zeros(data.shape, dtype)[()])
    stride = strides_of(data)
    offset, size = around(data) if whole else (0, extent(data.shape, stride))
    return wrap(strided(np.zeros(size, dtype), Geometry(data.shape, stride, offset)))


def layout(array: Any) -> tuple[Any, ...]:
    """Return how `array` lies in the memory of which it is a part."""
    return (steps(array), *around(array))


def around(array: Any) -> tuple[int, int]:
    """Return where `array` begins in the memory of which it is a part, and the size of that memory, in
    elements.
    """
    if not isinstance(array, np.ndarray):
        return 0, array.size
    whole = root(array)
    return (address(array) - address(whole)) // array.itemsize, whole.nbytes // array.itemsize
