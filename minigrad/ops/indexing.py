"""Elements read and written by index: `x[i, j]`, `take`, `put`, `index_put`.

Note [Indexing]
    Integers, slices, `...` and None are views, taken one after the other: each leaves a node of its own, as
    in PyTorch. Tensors, lists and NumPy arrays, and `True` or `False`, are then one op on that view (`index`,
    `index_put_`), which copies.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..core import RAW, F, composite, differentiable, dtypes, is_symbol, modes
from ..core.call import check_edges
from ..core.dtypes import of
from ..core.guards import NUMBERS, check_holds_complex, check_same_dtype
from ..core.storage import View
from ..core.tensor_state import TensorBase, Tensors, attach, numbers, operand, share, wrap
from ..inplace.in_place import in_place, is_outside, put_plainly
from .arguments import conversion_error, fitting
from .kernels import linear_op, picking
from .views import select, whole_of
from .views import slice as sliced

# ─── Elements picked, and written, by tensors of indices: `x[i, j]`, `take`, `put`; and checks of indices


LONG = (np.dtype("int64"),)
WHOLE = (np.dtype("int64"), np.dtype("int32"))


@composite
def into_zeros(g: Any, sizes: Any, name: str, *args: Any) -> Any:
    """What the op called `name` makes, in place, of zeros of shape `sizes` in the dtype of `g`."""
    op = getattr(F, name).op
    if is_symbol(g):
        raise TypeError("there is no formula for this")
    zeros = np.zeros(sizes, g.dtype if isinstance(g, RAW) else g._data.dtype)
    return op.kernel(zeros, *args) if isinstance(g, RAW) else F.in_place(op, wrap(zeros), *args)


def check_kind(index: Any, kinds: tuple[Any, ...], text: str, error: type[Exception] = RuntimeError) -> None:
    """An error unless the dtype of `index` is one of `kinds`; `{}` in the text stands for its title."""
    if index.dtype not in kinds:
        raise error(text.format(of(index).title))


def first_out_of_bounds(index: Any, low: int, high: int) -> Any:
    """Return the first index that is not in `low`, …, `high - 1`; None if there is none."""
    if not index.size:
        return None
    if low == 0 and index.dtype == np.int64:
        highest = np.maximum.reduce(index.view(np.uint64), axis=None)  # negative ones are the highest
        if highest < high:
            return None
    elif np.minimum.reduce(index, axis=None) >= low and np.maximum.reduce(index, axis=None) < high:
        return None
    return index[(index < low) | (index >= high)].flat[0]


def check_inside(index: Any, low: int, high: int, text: str, error: type[Exception] = IndexError) -> None:
    """An error unless all indices are in `low`, …, `high - 1`; `{}` in the text stands for the first."""
    wrong = first_out_of_bounds(np.asarray(index), low, high)
    if wrong is not None:
        raise error(text.format(wrong))


def along_dimension(dim: int, where: Any) -> tuple[Any, ...]:
    """Return the NumPy index of the parts `where` along `dim`."""
    return (np.s_[:],) * dim + (where,)


def at_least_1d_array(array: Any) -> Any:
    """An array with at least one dimension: ops along a dimension take a number for a vector of one."""
    return array if array.ndim else array.reshape(1)


def writable_copy(array: Any) -> Any:
    """Return a copy to write into, with at least one dimension, that lies in memory as a clone does."""
    return at_least_1d_array(np.array(F.clone.op.kernel(array), order="K"))


# ── the indices of x[i, j]
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def integer_indices(shape: tuple[int, ...], indices: Any) -> list[Any]:
    """The indices as arrays of whole numbers, None for a dimension without one: a mask becomes the indices
    of its True elements, one array per dimension.
    """
    found: list[Any] = []
    for index in indices:
        array = None if index is None else np.asarray(operand(index))
        if array is None or array.dtype in WHOLE:
            found.append(array)
        elif array.dtype.kind == "b" or array.dtype == np.uint8:
            check_mask(array, shape, len(found))
            found.extend(np.nonzero(array))
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return found


def check_mask(mask: Any, shape: tuple[int, ...], start: int) -> None:
    """IndexError with PyTorch's text unless the mask fits the dimensions from `start` on."""
    for j, n in enumerate(mask.shape):
        if start + j >= len(shape) or n != shape[start + j]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {j} does not match the shape of the "
                f"indexed tensor {list(shape)} at index {start + j}"
            )


def index_positions(shape: tuple[int, ...], indices: Any) -> tuple[Any, ...]:
    """The NumPy index for the tensors `indices` of an array of this shape; IndexError in PyTorch's words."""
    if len(indices) > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})")
    found = integer_indices(shape, indices)
    arrays = [array for array in found if array is not None]
    try:
        together = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(list(array.shape)) for array in arrays)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    if len(found) > len(shape):  # a mask stands for several
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(found)})")
    given = [(n, array) for n, array in zip(shape, found) if array is not None]
    if 0 not in together and any(n == 0 for n, _ in given):
        raise IndexError("index is out of bounds for dimension with size 0")
    others = [n for i, n in enumerate(shape) if i >= len(found) or found[i] is None]
    if 0 in others:  # nothing is read, whatever the indices are
        found = [None if a is None else np.zeros_like(a) for a in found]
    else:
        for i, (n, array) in enumerate(given):
            text = f"index {{}} is out of bounds for dimension {i} with size {n}"
            check_inside(np.broadcast_to(array, together), -n, n, text)
    return tuple(np.s_[:] if a is None else np.broadcast_to(a, together) for a in found)


@linear_op(self=lambda g, self_sym_sizes, indices: F.index_into_zeros(g, self_sym_sizes, indices))
def index(self, indices):
    """Return a copy of the elements at `indices`: one tensor of whole numbers or bools per dimension, or None
    for the whole dimension.
    """
    where = as_they_are(indices) or index_positions(self.shape, indices)
    try:
        out = self[where]
    except IndexError:
        out = None  # `index_positions` says why, or that nothing is read
    if out is None:
        out = self[index_positions(self.shape, indices)]
    return out if out.flags.c_contiguous and out.ndim else np.array(out, order="C")[()]


def as_they_are(indices: Any) -> tuple[Any, ...] | None:
    """NumPy's index for tensors of indices that it reads as PyTorch does: whole numbers, or one mask."""
    where: list[Any] = []
    masks = 0
    for k in indices:
        if k is not None and k._data.dtype not in WHOLE:
            masks += 1 if k._data.dtype == np.bool_ and k._data.size else 2
        where.append(np.s_[:] if k is None else k._data)
    return tuple(where) if not masks or (masks == 1 and sum(k is not None for k in indices) == 1) else None


@composite
def index_into_zeros(g: Any, sizes: Any, indices: Any) -> Any:
    """Zeros of shape `sizes` with `g` added at `indices`."""
    where = as_they_are(indices) if isinstance(g, np.ndarray) else None
    if where is None:
        return F.into_zeros(g, sizes, "index_put_impl", indices, g, True, True)
    out = np.zeros(sizes, g.dtype)
    if slice in map(type, where):
        np.add.at(out, where, g)
    elif where[0].dtype == np.bool_:
        out[where] = g
    else:
        add_rows(out, where, g)
    return out


def add_rows(out: np.ndarray, where: tuple[np.ndarray, ...], g: np.ndarray) -> None:
    """Add `g` to the parts of `out` at the indices `where` of its first dimensions. In memory of one
    dimension `np.add.at` takes a third of the time.
    """
    if not g.size:
        return
    width = math.prod(out.shape[len(where) :])
    at = np.ravel_multi_index(where, out.shape[: len(where)], mode="wrap").reshape(-1)
    if width != 1:
        at = (at[:, None] * width + np.arange(width)).reshape(-1)
    np.add.at(out.reshape(-1), at, g.reshape(-1))


def check_values(shape: tuple[int, ...], values: Any) -> None:
    """RuntimeError with PyTorch's text unless `values` broadcast to `shape`."""
    lead = len(shape) - values.ndim
    if lead < 0 or any(n not in (1, m) for n, m in zip(values.shape, shape[lead:])):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing "
            f"result of shape {list(shape)}"
        )


def is_one_mask(indices: Any) -> bool:
    """Return whether the only index is a mask."""
    given = [i for i in indices if i is not None]
    return len(given) == 1 and given[0]._data.dtype.kind == "b"


def put_at_indices(self: Any, indices: Any, values: Any, accumulate: bool, unsafe: bool = False) -> Any:
    """A copy of `self` with `values`, broadcast, at `indices`; `accumulate`: added to what is there."""
    where, out = index_positions(self.shape, indices), writable_copy(self)
    check_values(np.broadcast_to(np.False_, self.shape)[where].shape, values)
    same = self.dtype == values.dtype
    if not same and (accumulate or values.size != 1 or not is_one_mask(indices)):
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {of(self).title} for the "
            f"destination and {of(values).title} for the source."
        )
    if accumulate:
        np.add.at(out, where, values)
    else:
        out[where] = values.real if out.dtype.kind != "c" else values
    return out.reshape(self.shape)[()]


def put_back(g: Any, indices: Any, accumulate: bool) -> Any:
    """Return the gradient of what values were put into: 0 where they replaced it."""
    return g if accumulate else F.index_put(g, indices, F.zero_of(g), False)


PUT: dict[str, Any] = {
    "self": lambda g, indices, accumulate: put_back(g, indices, accumulate),
    "values": lambda g, indices, accumulate: F.index(g, indices),
    "kernel": put_at_indices,
    "broadcasts": True,
    "linear": True,
}


@differentiable(**PUT)
def index_put(self, indices, values, accumulate=False):
    """Return a copy with `values` at `indices`."""


@differentiable(**PUT)
def index_put_impl(self, indices, values, accumulate=False, unsafe=False):
    """Return `index_put` as PyTorch's derivative of `index` calls it."""


# ── of the flattened tensor
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_flat(index: Any, size: int) -> None:
    """IndexError with PyTorch's text unless all indices are of a tensor with `size` elements."""
    text = f"out of range: tried to access index {{}} on a tensor of {size} elements."
    check_inside(index, -size, size, text)


@picking(self=lambda g, self, index: F.into_zeros(g, self.shape, "put", index, g, True))
def take(self, index):
    """Return the elements at the indices of the flattened tensor.

    Args:
        input: a tensor of any shape.
        index: an int64 tensor.
    Shape: that of `index`.
    Returns: a new tensor.
    Raises: IndexError if an index is out of range.
    Derivative: `g` added into zeros at `index`.
    Source: torch.take

    >>> torch.take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, 3]))
    tensor([1, 4])
    """
    check_kind(index, LONG, "take(): Expected a long tensor for index, but got {}")
    if not self.size and index.size:
        raise IndexError("take(): tried to take from an empty tensor")
    check_flat(index, self.size)
    return self.reshape(-1)[index]


@linear_op(
    self=lambda g, index, source_sym_sizes, accumulate: (
        g if accumulate else F.put(g, index, F.zeros_of(g, source_sym_sizes), False)
    ),
    source=lambda g, index, source, accumulate: F.reshape(F.take(g, index), source.shape),
    forms="function method method_",
    out="",
)
def put(self, index, source, accumulate=False):
    """Return a copy with the elements of `source` at `index` of the flattened tensor, or added there."""
    check_kind(index, LONG, "put_(): Expected a long tensor for index, but got {}")
    text = "put_(): self and source expected to have the same dtype, but got self.dtype = {0.title} and "
    check_same_dtype(self, source, text + "source.dtype = {1.title}")
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    check_flat(index, self.size)
    out = self.reshape(-1).copy()
    if accumulate:
        np.add.at(out, index.reshape(-1), source.reshape(-1))
    else:
        out[index.reshape(-1)] = source.reshape(-1)
    return out.reshape(self.shape)


del put.op.node._saved_source_sym_sizes  # PyTorch's node does not show it


# ─── `x[key]` and `x[key] = value`


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
    part, indices = split_key(self, key)
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


def assign(self: Any, key: Any, value: Any) -> None:
    """Write `value`, broadcast, into the part that a key shows."""
    if key is False or put_plainly(self, key, value):
        return
    tensor = as_value(self, value)
    if is_place(self, key):
        part, indices = select(self, 0, key), list[Any]()
    else:
        part, indices = (F.unsqueeze(self, 0), []) if key is True else split_key(self, key, False)
    if not indices:
        set_part(part, tensor, part is self)
        return
    shape = without_ones(tensor._data.shape)
    if shape != tensor._data.shape:
        tensor = F.view(tensor, shape)
    in_place(F.index_put.op, part, Tensors(indices), tensor, False, shown=part is self)


def as_value(self: Any, value: Any) -> Any:
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


def split_key(self: Any, key: Any, new: bool = True) -> tuple[Any, list[Any]]:
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
            result = select_at(result, dim, int(k), at)
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


def select_at(t: Any, dim: int, index: int, at: int) -> Any:
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
        check_holds_complex(np.dtype(np.int64))
    if array.dtype.kind not in "biuf":
        raise conversion_error(
            next(item for item in np.asarray(k, object).flat if not isinstance(item, NUMBERS))
        )
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
    __getitem__, __setitem__ = get, assign

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Any:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(F.unbind(self, 0))
