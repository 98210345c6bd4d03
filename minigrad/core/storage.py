"""Which tensors share memory, and how often it was modified.

Note [Storage]
    The numbers of a tensor are a NumPy array. For a 0-dim tensor that shares its memory with no other tensor,
    they are a NumPy scalar, which is more than twice as fast. The first alias or in-place op on a tensor
    gives it a `Storage`, permanently. This is a version counter that all aliases share and, for a 0-dim
    tensor, the 0-d array that replaces the scalar.

    A node that saved the tensor earlier holds the raw numbers, not the tensor. It finds the Storage through
    the tensor's *carrier*: the AccumulateGrad of a leaf, or the node (and output number) that produced the
    tensor. The function that creates the Storage stores it there too, and an in-place op shares it with the
    new grad_fn. So when a saved value is read:

        carrier has no Storage         the memory was not modified: the raw numbers are right
        Storage.version == as saved    unchanged; a scalar is read again from `array`,
                                       because `.data` may have modified it
        otherwise                      "modified by an inplace operation"
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from . import modes


class Storage:
    """The version counter of memory that is shared or was modified. See Note [Storage].

    - `version`: how many in-place ops have written to the memory.
    - `array`: the 0-d array that replaced a scalar, else None.
    - `writer`: the name of the node that an in-place op left as the history of the memory's owner. The error
      of a node that saved the old value names it.
    - `detached`: the sequence number that the next node had when `detach_()` took the owner out of its graph.
    """

    __slots__ = ("array", "detached", "version", "writer")

    def __init__(self, array: np.ndarray | None = None) -> None:
        self.version = 0
        self.array = array
        self.writer: str | None = None
        self.detached = 0


class InferenceStorage(Storage):
    """What an inference tensor has instead of a version counter. It counts nothing, and modifying the tensor
    outside inference mode is an error. As in PyTorch, the error is raised after the new numbers are written.
    """

    __slots__ = ()

    def __init__(self, array: np.ndarray | None = None) -> None:
        self.array = array
        self.writer = None
        self.detached = 0

    @property
    def version(self) -> int:
        """Always 0."""
        return 0

    @version.setter
    def version(self, value: int) -> None:
        if not modes.state.inference:
            raise RuntimeError(
                "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
                "clone to get a normal tensor before doing inplace update.See "
                "https://github.com/pytorch/rfcs/pull/17 for more details."
            )


class SameCounter(Storage):
    """Other memory under the version counter of `origin`: `x.data = y` gives this to x, while aliases of x
    keep the old memory. If a node made x, `now` is its memory, `before` is its old memory, and x is
    `reshaped` if they do not all have one shape.
    """

    __slots__ = ("before", "now", "origin", "reshaped")

    def __init__(self, origin: Storage, array: np.ndarray, before: Any = None) -> None:
        older = origin if isinstance(origin, SameCounter) else None
        self.origin: Storage = origin if older is None else older.origin
        self.array = array if array.ndim == 0 else None
        self.writer = None
        self.detached = 0
        self.now: np.ndarray | None = None
        self.before: tuple[Any, ...] = ()
        self.reshaped = False
        if before is not None:
            self.now = array
            self.before = (before,) if older is None else (before, *older.before)
            self.reshaped = any(memory.shape != array.shape for memory in self.before)

    @property
    def version(self) -> int:
        """That of `origin`."""
        return self.origin.version

    @version.setter
    def version(self, value: int) -> None:
        self.origin.version = value


def is_reshaped(storage: Storage | None) -> bool:
    """Return whether `x.data = y` gave x another shape than the node that made x knows."""
    return isinstance(storage, SameCounter) and storage.reshaped


class View:
    """What makes a tensor a view: the base whose memory it shows.

    `version` is the storage's version for which the view's grad_fn is right. `creation` says how it was made
    where that matters, `path` how it is regenerated: see the Notes in `view_path`. The results of `detach()`
    and `.data` are not views in this sense.
    """

    __slots__ = ("base", "creation", "path", "version")

    def __init__(self, base: Any, version: int, creation: str = "", path: Any = None) -> None:
        self.base = base
        self.version = version
        self.creation = creation
        self.path = path


class Geometry(NamedTuple):
    """The position of a view in the memory of its base, all in elements."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    storage_offset: int


def strides_of(array: np.ndarray) -> tuple[int, ...]:
    """Return the strides in elements."""
    size, strides = array.itemsize, array.strides
    if len(strides) == 2:  # three times as fast; every matrix product needs them
        return strides[0] // size, strides[1] // size
    if len(strides) < 2:
        return (strides[0] // size,) if strides else ()
    return tuple([n // size for n in strides])


def geometry(array: np.ndarray, base: np.ndarray) -> Geometry:
    """Return the position of `array` in the memory of `base`, or in its own memory, if `x.data = y` has
    replaced that of the base.
    """
    if array.base is base and array.size:
        start = base
    else:
        whole = root(array)
        start = base if whole is root(base) or np.may_share_memory(array, base) else whole
    offset = (address(array) - address(start)) // array.itemsize
    return Geometry(array.shape, strides_of(array), offset if array.size else 0)


def address(array: np.ndarray) -> int:
    """Return the address of the first element."""
    return array.__array_interface__["data"][0]


class BorrowedMemory:
    """A part of a user's array. The memory around it is not ours, so `root` stops here."""

    def __init__(self, array: np.ndarray) -> None:
        self.__array_interface__ = array.__array_interface__
        self.array = array


def root(array: Any) -> np.ndarray:
    """Return the array that owns the memory of which `array` shows a part."""
    up = array
    while up is not None and (isinstance(up, np.ndarray) or hasattr(up, "__array_interface__")):
        if isinstance(up, np.ndarray):  # `as_strided` puts an object between them that is not an array
            array = up
        up = getattr(up, "base", None)
    return array


def steps(array: Any) -> tuple[int, ...]:
    """Return the strides, in elements, of the dimensions with more than one element."""
    return tuple(s for n, s in zip(array.shape, strides_of(array)) if n > 1) if array.size else ()


def is_dense(array: np.ndarray) -> bool:
    """Return whether the elements fill a stretch of memory without gaps, in whatever order of dimensions."""
    expected = array.itemsize
    for step, n in sorted((s, n) for s, n in zip(array.strides, array.shape) if n > 1):
        if step != expected:
            return False
        expected *= n
    return True


def extent(size: tuple[int, ...], stride: tuple[int, ...]) -> int:
    """Return the number of elements of memory from the first to the last element of an array."""
    return 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if math.prod(size) else 0


def strided_part(array: np.ndarray, where: Geometry) -> np.ndarray:
    """Return the part of the memory of `array` that `where` describes, writable.

    RuntimeError with PyTorch's text if it is not inside.
    """
    k, n = where.storage_offset, array.itemsize
    if k >= 0 and array.size and array.flags.c_contiguous:
        try:
            return np.ndarray(where.size, array.dtype, array, k * n, tuple([s * n for s in where.stride]))
        except (TypeError, ValueError):
            pass  # not inside, or nothing is: what follows tells
    if not math.prod(where.size):
        return np.empty(where.size, array.dtype)
    whole = root(array)
    needed, there = k + extent(where.size, where.stride), extent(whole.shape, strides_of(whole))
    if k >= 0 and (address(array) - address(whole)) // n + needed > there * whole.itemsize // n:
        raise RuntimeError(
            f"setStorage: sizes {list(where.size)}, strides {list(where.stride)}, storage offset {k}, and "
            f"itemsize {n} requiring a storage size of {needed * n} are out of bounds for storage of size "
            f"{there * whole.itemsize}"
        )
    away = abs(k)
    start = as_strided(array, (away + 1,), (n if k >= 0 else -n,))[away:]  # at the part's first element
    return as_strided(start, where.size, tuple(s * n for s in where.stride))


def laid_out(values: Any, size: tuple[int, ...], stride: tuple[int, ...]) -> np.ndarray:
    """Return a new array of `values` whose elements lie as `stride` says, with zeros in the gaps."""
    if values.__class__ is np.ndarray and values.flags.c_contiguous and strides_of(values) == stride:
        return values.copy()
    array = strided_part(np.zeros(extent(size, stride), values.dtype), Geometry(size, stride, 0))
    array[...] = values
    return array
