"""Ops in place on tensors about which there is nothing to ask: see `inplace` for all others."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..core import Op, modes
from ..core.modes import quiet
from ..core.storage import Storage
from ..core.tensor_state import TensorBase, share

# Kernels that can write into an array: a step `w -= rate * g` of 784×256 numbers then takes half of the time.
WRITING: dict[Any, Any] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
}
EXACT = frozenset((operator.add, operator.sub, operator.mul))  # kernels by which integers stay integers


def in_place_plainly(op: Op, t: TensorBase, args: tuple[Any, ...]) -> bool:
    """`in_place` where nobody records and there is nothing to check, as in an optimizer's step: arrays of one
    shape and dtype that do not overlap, and numbers. It takes a third of the time. False, and nothing is
    done, where that is not so.
    """
    off, a, storage = modes.active, t._data, t._storage
    watchers: tuple[Any, ...] = ()
    if off and (off != 1 or modes.state.grad_enabled):
        watchers = modes.state.observers
        if off != 2 or not watchers or modes.state.grad_enabled:  # but for `no_grad` with somebody looking on
            return False
    if not (op.elementwise and op.numbers):
        return False
    if (storage is not None and storage.__class__ is not Storage) or t._bits or not (off or is_outside(t)):
        return False
    if a.dtype not in op.passes and not (a.dtype.kind == "i" and op.kernel in EXACT):
        return False
    if storage is None:
        storage = share(t)
        a = t._data
    if not a.flags.c_contiguous:
        return False
    raws = [a]
    for v in args:
        if v.__class__ is int:
            if a.dtype.kind == "i" and not 0 <= v < 128:
                return False  # it may not fit
        elif v.__class__ is not float or a.dtype.kind == "i":
            b = v._data if isinstance(v, TensorBase) else None
            if b is None or (b.shape != a.shape and b.shape) or b.dtype != a.dtype:
                return False
            owns = b is a or b.__class__ is not np.ndarray or (a.base is None and b.base is None)
            if not owns and np.may_share_memory(a, b):
                return False
            if v._bits or not (off or is_outside(v)):
                return False
            v = b
        raws.append(v)
    writing = WRITING.get(op.kernel)
    if writing is not None:
        quiet(writing, *raws, a)
    else:
        out = quiet(op.kernel, *raws)
        if out.shape != a.shape or out.dtype != a.dtype:
            return False
        a[...] = out
    storage.version += 1
    for watcher in watchers:
        watcher.mutated(op, [t, *args], storage.version - 1, (t._fn, t._nr))
    return True


def is_outside(t: TensorBase) -> bool:
    """Whether a tensor needs no gradient, and is no view of one that does."""
    return t._acc is None and t._fn is None and (t._view is None or not t._view.base.requires_grad)
