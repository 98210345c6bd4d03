"""`x[key]` and `x[key] = value`.

Note [Indexing]
    Integers, slices, `...` and None are views, taken one after the other: each leaves a node of its own, as
    in PyTorch. Tensors, lists and NumPy arrays, and `True` or `False`, are then one op on that view (`index`,
    `index_put_`), which copies.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..core import F, dtypes, modes
from ..core.call import check_edges
from ..core.storage import View
from ..core.tensor_state import TensorBase, Tensors, attach, numbers, share, wrap
from ..creation.data import refusal
from ..inplace.in_place import in_place
from ..inplace.plain_writes import is_outside, put_plainly
from ..ops.checks import NUMBERS
from ..ops.copy import fitting
from ..ops.indexing import select
from ..ops.indexing import slice as sliced
from .views import whole_of

SEQUENCES = (list, tuple, range, np.ndarray)
INVALID = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices"


def get(self: Any, key: Any) -> Any:
    """The part that a key shows: a view, or a copy where the key has tensors in it."""
    if is_place(self, key):
        return select(self, 0, key)
    if isinstance(key, TensorBase) and key._data.ndim and key._data.dtype.kind == "i" and self._data.ndim:
        return F.index(self, Tensors([key]))
    if key.__class__ is tuple and not modes.active and is_outside(self):
        part = place_of_numbers(self, key)
        if part is not None:
            return part
    part, indices = parted(self, key)
    if indices:
        for k in indices:
            if is_mask(k):
                refuse_batched(k, "Attempting to batch over indexing with a boolean mask.", "support")
        return F.index(part, Tensors(indices))
    return F.alias(self) if part is self else part


def place_of_numbers(self: Any, key: tuple[Any, ...]) -> Any:
    """The view that a key of numbers shows of a tensor outside the graph, taken in one step; None for any
    other key.
    """
    if self._bits or self._inference or not all(k.__class__ is int for k in key):
        return None
    storage = share(self)
    try:
        data = self._data[(*key, ...)]
    except IndexError:
        return None  # the general way says what is wrong
    view = self._view
    part = attach(data, None)
    part._storage = storage
    base, made, path = (self, "", None) if view is None else (view.base, view.creation, view.path)
    part._view = View(base, storage.version, made)
    return part if path is None else None


def is_place(self: Any, key: Any) -> bool:
    """Whether a key is a number that there is a part for."""
    return key.__class__ is int and self._data.ndim > 0 and -len(self._data) <= key < len(self._data)


def is_mask(k: Any) -> bool:
    """Return whether a part of a key is a mask."""
    return isinstance(k, TensorBase) and k._data.dtype in (np.bool_, np.uint8)


def refuse_batched(t: Any, rest: str, verb: str = "output") -> None:
    """RuntimeError inside `func.vmap` for a tensor on whose numbers the shape of a result depends, if it
    depends on the example.
    """
    if modes.active and any(batch.open for batch in t._batched):
        raise RuntimeError(
            f"vmap: We do not support batching operators that can {verb} dynamic shape. {rest}"
        )


def put(self: Any, key: Any, value: Any) -> None:
    """Write `value`, broadcast, into the part that a key shows."""
    if key is False or put_plainly(self, key, value):
        return
    tensor = valued(self, value)
    if is_place(self, key):
        part, indices = select(self, 0, key), list[Any]()
    else:
        part, indices = (F.unsqueeze(self, 0), []) if key is True else parted(self, key, False)
    if not indices:
        set_part(part, tensor, part is self)
        return
    shape = without_ones(tensor._data.shape)
    if shape != tensor._data.shape:
        tensor = F.view(tensor, shape)
    in_place(F.index_put.op, part, Tensors(indices), tensor, False, shown=part is self)


def valued(self: Any, value: Any) -> Any:
    """What is to be written as a tensor; TypeError for what is neither a tensor nor a number."""
    if isinstance(value, TensorBase):
        return value
    kind = dtypes.of(self._data)
    if not isinstance(value, NUMBERS):
        raise TypeError(f"can't assign a {dtypes.kind_name(value)} to a torch.{kind.title}Tensor")
    return wrap(np.asarray(fitting(value, kind.numpy), kind.numpy)[()])


def without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without the ones that it begins with."""
    while shape and shape[0] == 1:
        shape = shape[1:]
    return shape


def set_part(target: Any, value: Any, shown: bool) -> None:
    """Write `value` into the part `target`, by the ops that PyTorch takes: their nodes show."""
    shape, wanted = value._data.shape, target._data.shape
    if not shape and wanted:
        in_place(F.fill_tensor.op, target, value, shown=shown)
        return
    if shape != wanted:
        shape = without_ones(shape)
        value = F.view(value, shape)
        if shape != wanted:
            value = F.expand(value, wanted)
    in_place(F.copy.op, target, value, shown=shown)


# ── the key
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def parted(self: Any, key: Any, new: bool = True) -> tuple[Any, list[Any]]:
    """The view that the integers and slices of a key show, and a tensor of indices (or None) for each of its
    dimensions up to the last that has one. `new`: a slice of everything is a view too.
    """
    keys = keys_of(key)
    count = check_count(self, key, keys)
    dim, result = 0, self
    indices: list[Any] = []
    for at, k in enumerate(map(plain, keys)):
        if k is Ellipsis:
            dim += self._data.ndim - count
        elif k is None:
            result, dim = F.unsqueeze(result, dim), dim + 1
        elif isinstance(k, slice):
            start, stop, step = bounds(k)
            if (new and len(keys) == 1) or (start, step) != (0, 1) or stop < size_of(result, dim):
                result = sliced(result, dim, start, stop, step)
            dim += 1
        elif isinstance(k, (int, np.integer)) and not isinstance(k, bool):
            result = selected(result, dim, int(k), at)
        else:
            if isinstance(k, bool):
                result, k = F.unsqueeze(result, dim), place_of(k)
            indices += [None] * (dim - len(indices)) + [k]
            dim += dimensions(k)
    return result, indices


def place_of(flag: bool) -> Any:
    """The index that `True` stands for in a dimension of its own, or `False`: the first place, or none."""
    index = wrap(np.zeros(int(flag), np.int64))
    share(index).version += flag  # PyTorch fills it, which counts
    return index


def selected(t: Any, dim: int, index: int, at: int) -> Any:
    """Return the part at `index` along `dim`; IndexError, with the place in the key, if there is none."""
    n = size_of(t, dim)
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for dimension {at} with size {n}")
    return select(t, dim, index)


def size_of(t: Any, dim: int) -> int:
    """Return the size along a dimension; 0 behind the last one, where a second `...` can lead."""
    shape = t._data.shape
    return shape[dim] if dim < len(shape) else 0


def keys_of(key: Any) -> list[Any]:
    """Return the parts of a key as they are written; a list that is not one index stands for a tuple."""
    if isinstance(key, list) and len(key) < 32 and any(is_inner(k) for k in key):
        key = tuple(key)
    return list(key) if isinstance(key, tuple) else [key]


def is_inner(k: Any) -> bool:
    """Return whether a list with this in it stands for a tuple."""
    return k is None or k is Ellipsis or isinstance(k, (TensorBase, slice, str, *SEQUENCES))


def plain(k: Any) -> Any:
    """One part of a key: a number, a slice, `...`, None, a bool, or a tensor for everything else. A tensor of
    one whole number is that number, one of a bool is that bool.
    """
    if k is None or k is Ellipsis or isinstance(k, (slice, int, np.integer)):
        return k
    if isinstance(k, SEQUENCES):
        k = sequence(k)
    if isinstance(k, TensorBase):
        if k._data.ndim or k._data.dtype.kind not in "iub":
            return k
        value = numbers(k).item()
        return bool(value) if k._data.dtype in (np.bool_, np.uint8) else value
    if isinstance(k, str):
        raise TypeError("new(): invalid data type 'str'")
    raise IndexError(f"{INVALID} (got {dtypes.kind_name(k)})")


def sequence(k: Any) -> Any:
    """Numbers as a tensor of indices, bools as a mask."""
    array = np.asarray(k)
    if array.dtype.kind == "c":
        raise TypeError("'complex' object cannot be interpreted as an integer")
    if array.dtype.kind not in "biuf":
        raise refusal(next(item for item in np.asarray(k, object).flat if not isinstance(item, NUMBERS)))
    return wrap(array.copy() if array.dtype.kind == "b" else array.astype(np.int64))


def dimensions(k: Any) -> int:
    """How many dimensions a part of a key speaks of: a mask of its own, all else of one."""
    if k is None or k is Ellipsis or isinstance(k, bool):
        return 0
    return k._data.ndim if is_mask(k) else 1


def check_count(self: Any, key: Any, keys: list[Any]) -> int:
    """Return how many dimensions a key speaks of; IndexError with PyTorch's text for more than there are."""
    count = sum(map(dimensions, keys))
    if count <= self._data.ndim:
        return count
    if isinstance(key, slice):
        check_edges([self])
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if self._data.ndim == 0 and isinstance(key, (int, np.integer)):
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
            "convert a 0-dim tensor to a number"
        )
    raise IndexError(f"too many indices for tensor of dimension {self._data.ndim}")


def bounds(key: slice) -> tuple[int, int, int]:
    """Start, stop and step of a slice, as PyTorch notes them; ValueError for a step that is not positive."""
    start, stop, step = map(whole_of, (key.start, key.stop, 1 if key.step is None else key.step))
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step <= 0:
        raise ValueError("step must be greater than zero")
    return 0 if start is None else start, sys.maxsize if stop is None else stop, step


class Indexing(TensorBase):
    """Parts of a tensor by `[]`."""

    __slots__ = ()
    __getitem__, __setitem__ = get, put

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Any:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(F.unbind(self, 0))
