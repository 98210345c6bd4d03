"""The gradient of `as_strided`, from which PyTorch takes a view anew whose memory was written to.

On arrays it is one kernel. On tensors it is PyTorch's composition, whose nodes a second derivative shows: the
gradient is written into zeros that stand for the memory (`put_strided` does the same at once), or added to
them where elements of the part lie in one place, and the whole is taken from there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import RAW, F, composite, is_symbol
from ..core.storage import Geometry, strided
from ..core.tensor_state import wrap
from .indexing import both_places, overlaps


@composite
def as_strided_backward(g: Any, sizes: Any, strides: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    """What `put_strided` gives, in the ops PyTorch uses."""
    if isinstance(g, RAW) or is_symbol(g):
        return F.put_strided(g, sizes, strides, size, stride, storage_offset)
    if not g._data.size or 0 in sizes:
        return wrap(np.zeros(sizes, g._data.dtype)[()])
    length, whole, part = both_places(sizes, strides, size, stride, storage_offset)
    kept: list[tuple[int, int]] = []
    for i in reversed(range(len(size))):
        if size[i] == 1:
            g = F.squeeze_dim(g, i)
        elif stride[i] == 0:
            g = F.sum_dim(g, (i,), False)
        else:
            kept.insert(0, (size[i], stride[i]))
    part = Geometry(*columns(kept), part.storage_offset)
    memory = wrap(np.zeros(length, g._data.dtype))
    if overlaps(kept):
        places = wrap(np.ascontiguousarray(strided(np.arange(length), part)).reshape(-1))
        F.in_place(F.index_add.op, memory, 0, places, F.reshape(g, (-1,)), 1)
    else:
        F.in_place(F.copy.op, F.as_strided(memory, *part), g)
    if overlaps([(n, s) for n, s in zip(sizes, strides, strict=True) if n > 1]):
        count = np.zeros(length, g._data.dtype)
        np.add.at(strided(count, whole), (), 1)
        F.in_place(F.div.op, memory, wrap(count))
    return F.as_strided(memory, *whole)


def columns(dims: list[tuple[int, int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides of dimensions given as pairs of both."""
    return tuple(n for n, _ in dims), tuple(s for _, s in dims)
