"""Writing into tensors about which there is nothing to ask: ops in place, as in an optimizer's step, and
`x[key] = value`, as in a loop that fills a table. Every function returns False, and has done nothing, where
that is not so: see `in_place`.
"""

from __future__ import annotations

import operator
from math import inf
from typing import Any

import numpy as np

from ..core import F, Op, dtypes, modes
from ..core.call import connected
from ..core.modes import quiet
from ..core.storage import Geometry, Storage, strides_of
from ..core.tensor_state import TensorBase, edge, share, wrap
from .copy_slices import CopySlices
from .views import set_history

# Kernels that can write into an array: a step `w -= rate * g` of 784×256 numbers then takes half of the time.
WRITING: dict[Any, Any] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
}
GREAT = 1e38
COUNTED = (Storage, type(None))
EXACT = frozenset((operator.add, operator.sub, operator.mul))  # kernels by which integers stay integers


def in_place_plainly(op: Op, t: TensorBase, args: tuple[Any, ...]) -> bool:
    """`in_place` where nobody records and there is nothing to check: arrays of one shape and dtype that do
    not overlap, and numbers. It takes a third of the time.
    """
    off, a = modes.active, t._data
    watchers: tuple[Any, ...] = ()
    if off and (off != 1 or modes.state.grad_enabled):
        watchers = modes.state.observers
        if off != 2 or not watchers or modes.state.grad_enabled:  # but for `no_grad` with somebody looking on
            return False
    if not (op.elementwise and op.numbers):
        return False
    if t._storage.__class__ not in COUNTED or t._bits or not (off or is_outside(t)):
        return False
    if a.dtype not in op.passes and not (a.dtype.kind == "i" and op.kernel in EXACT):
        return False
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


def put_plainly(self: Any, key: Any, value: Any) -> bool:
    """`self[key] = value` for a key of whole numbers, or a mask where nobody records: a number, or a tensor
    of the same dtype. It takes a third of the time, without which assigning in a loop would be twice as slow
    as in PyTorch.
    """
    off, a, b, source = modes.active, self._data, value, None
    if off and (off != 1 or modes.state.grad_enabled):
        return False
    if self._storage.__class__ not in COUNTED or self._bits or not a.ndim or not a.flags.c_contiguous:
        return False
    if isinstance(value, TensorBase):
        b = value._data
        if b.dtype is not a.dtype or a.dtype.kind not in "fi" or value._bits:
            return False
        source = None if off else edge(value)
    elif (value.__class__ is not int and value.__class__ is not float) or a.dtype not in dtypes.FAST_ARRAYS:
        return False
    elif GREAT < abs(value) < inf:
        return False  # it may not fit
    if source is None and not (off or (is_outside(self) and (b is value or is_outside(value)))):
        return False
    if isinstance(key, TensorBase):
        if source is not None or key._data.dtype != np.bool_ or key._data.shape != a.shape or np.ndim(b):
            return False
        a[key._data] = b
        share(self).version += 1
        return True
    keys = key if key.__class__ is tuple else (key,)
    for k in keys:
        if k.__class__ is not int:
            return False
    try:
        part = a[(*keys, ...)]
        if source is not None:
            return put_recorded(self, keys, part, value, source)
        part[...] = b
    except (IndexError, ValueError):
        return False  # the general way says what is wrong
    share(self).version += 1
    return True


def put_recorded(self: Any, keys: tuple[int, ...], part: Any, value: Any, source: Any) -> bool:
    """Write a tensor, whose gradient goes to `source`, into a part of its shape, as `in_place` does by a view
    of the part.
    """
    a, b = self._data, value._data
    if not keys or self._view is not None or self._acc is not None or part.shape != b.shape or value._apart:
        return False
    if b.__class__ is np.ndarray and np.may_share_memory(a, b):
        return False
    part[...] = b
    storage = share(self)
    storage.version += 1
    op, strides = F.copy.op, strides_of(a)
    node = connected(op, op.node(), [edge(self), source], bool(value._nr), [wrap(part), value], b)
    offset = sum([k % n * step for k, n, step in zip(keys, a.shape, strides)])
    set_history(self, CopySlices(self, Geometry(b.shape, strides[len(keys) :], offset), node))
    return True
