"""`x[key] = value` where the key is made of whole numbers and there is nothing to check, as a table is
filled in a loop. Every function returns False, and has done nothing, where that is not so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, dtypes, modes
from ..core.call import connected
from ..core.storage import Geometry, Storage, strides_of
from ..core.tensor_state import TensorBase, edge, share, wrap
from .copy_slices import CopySlices
from .in_place import set_history
from .plain_writes import is_outside

COUNTED = (Storage, type(None))


def put_number(self: Any, key: Any, value: Any) -> bool:
    """Write a number, or a tensor of the same dtype, where nobody records. A mask may be the key, too."""
    off, a, storage = modes.active, self._data, self._storage
    if off and (off != 1 or modes.state.grad_enabled):
        return False
    if not (off or is_outside(self)):
        return False
    if storage.__class__ not in COUNTED or a.__class__ is not np.ndarray or a.dtype.kind not in "fi":
        return False
    if self._bits or not a.flags.c_contiguous:
        return False
    if isinstance(value, TensorBase):
        if value._data.dtype is not a.dtype or value._bits or not (off or is_outside(value)):
            return False
        value = value._data
    elif (value.__class__ is not float and value.__class__ is not int) or a.dtype not in dtypes.FAST_ARRAYS:
        return False
    if key.__class__ is tuple:
        if not all(k.__class__ is int for k in key):
            return False
    elif isinstance(key, TensorBase):
        if key._data.dtype != np.bool_ or key._data.shape != a.shape or np.ndim(value):
            return False
        key = key._data
    elif key.__class__ is not int:
        return False
    try:
        a[key] = value
    except (IndexError, ValueError):
        return False  # the general way says what is wrong
    share(self).version += 1
    return True


def put_recorded(self: Any, key: Any, value: Any) -> bool:
    """Write a tensor that needs a gradient into a part of its shape, as `in_place` does by a view of the
    part. It takes a third of the time, without which assigning in a loop would be twice as slow as in
    PyTorch.
    """
    a, storage = self._data, self._storage
    if modes.active or self._view is not None or self._acc is not None or storage.__class__ not in COUNTED:
        return False
    b = value._data if isinstance(value, TensorBase) else None
    if b is None or b.dtype is not a.dtype or a.dtype not in dtypes.FAST_ARRAYS:
        return False
    keys = key if key.__class__ is tuple else (key,)
    if not 0 < len(keys) <= a.ndim or a.shape[len(keys) :] != b.shape or value._bits or value._apart:
        return False
    offset, strides = 0, strides_of(a)
    for k, n, step in zip(keys, a.shape, strides):
        if k.__class__ is not int or not -n <= k < n:
            return False
        offset += (k + n if k < 0 else k) * step
    source = edge(value)
    if source is None or (b.__class__ is np.ndarray and np.may_share_memory(a, b)):
        return False
    part = a[(*keys, ...)]
    part[...] = b
    storage = share(self)
    storage.version += 1
    op = F.copy.op
    node = connected(op, op.node(), [edge(self), source], bool(value._nr), [wrap(part), value], b)
    place = Geometry(b.shape, strides[len(keys) :], offset)
    set_history(self, CopySlices(self, place, node))
    return True
