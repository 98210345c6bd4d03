"""Who shares memory with whom, and how often it was written to.

Note [Storage]
    A tensor's numbers are a NumPy array, or, for a 0-dim tensor that shares its memory with nobody, a NumPy
    scalar (more than twice as fast). The first alias or in-place op on a tensor gives it a `Storage`, for
    good: a version counter that all aliases share and, for a 0-dim tensor, the 0-d array that takes the
    scalar's place.

    A node that saved the tensor earlier holds the raw numbers, not the tensor. It learns of the Storage
    through the tensor's *carrier*: the AccumulateGrad of a leaf, or the node (and output number) that
    produced it. Whoever creates the Storage puts it there too, and an in-place op shares it with the new
    grad_fn. So at unpack

        carrier has no Storage         nothing can have been written: the raw numbers are right
        Storage.version == as saved    unchanged; a scalar is re-read from `array`, as `.data` may have
        written to it otherwise                      "modified by an inplace operation"
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided


class Storage:
    """Version counter of memory that is shared or was written to. See Note [Storage].

    `array` is the 0-d array of what was a scalar, else None; `writer` the name of the node that an op in
    place left as the history of the memory's owner, for the error of whoever saved it before.
    """

    __slots__ = ("array", "version", "writer")

    def __init__(self, array: np.ndarray | None = None) -> None:
        self.version = 0
        self.array = array
        self.writer: str | None = None


class View:
    """What makes a tensor a view: the tensor whose memory it shows.

    `version` is the storage's version for which the view's grad_fn is right. The result of `detach()` and
    `.data` is not a view in this sense.
    """

    __slots__ = ("base", "version")

    def __init__(self, base: Any, version: int) -> None:
        self.base = base
        self.version = version


class Geometry(NamedTuple):
    """How a view lies in its base's memory, all in elements."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    storage_offset: int


def strides_of(array: np.ndarray) -> tuple[int, ...]:
    """Strides in elements."""
    return tuple(n // array.itemsize for n in array.strides)


def geometry(array: np.ndarray, base: np.ndarray) -> Geometry:
    """How `array` lies in the memory of `base`."""
    offset = (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // array.itemsize
    return Geometry(array.shape, strides_of(array), offset if array.size else 0)


def strided(array: np.ndarray, where: Geometry) -> np.ndarray:
    """The part of `array`'s memory that `where` describes, writable."""
    if not math.prod(where.size):
        return np.empty(where.size, array.dtype)
    k, n = where.storage_offset, array.itemsize
    start = as_strided(array, (k + 1,), (n,))[k:]  # memory from the first element of the part on
    return as_strided(start, where.size, tuple(s * n for s in where.stride))


def laid_out(values: Any, size: tuple[int, ...], stride: tuple[int, ...]) -> np.ndarray:
    """A new array of `values` whose elements lie as `stride` says, with zeros in the gaps."""
    extent = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if math.prod(size) else 0
    array = strided(np.zeros(extent, values.dtype), Geometry(size, stride, 0))
    array[...] = values
    return array
