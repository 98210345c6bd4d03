"""Shape, indexing, reductions, matrix products and dtypes."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from .. import dtypes
from ..op import F
from ..op.calls import check_edges
from ..ops import linalg
from ..ops import reduction as red
from ..tensor_base import TensorBase, share, wrap
from .views import whole_of


def listed(dim: Any) -> tuple[int, ...]:
    """One dimension or several, as a tuple."""
    return (dim,) if isinstance(dim, int) else tuple(dim)


class Shape(TensorBase):
    """Indexing and conversions that need the shape."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        target = get(self, key, False)
        if not isinstance(value, TensorBase):
            value = wrap(np.asarray(value, self._data.dtype)[()])
        set_part(target, value)

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)


def set_part(target: Any, value: Any) -> None:
    """Write `value` into the part `target`, by the ops that PyTorch takes: their nodes show."""
    shape, wanted = value._data.shape, target._data.shape
    if shape == wanted:
        target.copy_(value)
    elif not shape:
        target.fill_(value)
    else:
        while shape and shape[0] == 1:
            shape = shape[1:]
        value = F.view(value, shape)
        target.copy_(value if shape == wanted else F.expand(value, wanted))


def get(self: Any, key: Any, new: bool = True) -> Any:
    """Basic indexing: integers, slices, `...` and None; each is a view. `new`: never the tensor itself."""
    keys = [whole_of(k) for k in key] if isinstance(key, tuple) else [whole_of(key)]
    named = sum(1 for k in keys if k is not None and k is not Ellipsis)
    if named > self._data.ndim:
        if isinstance(key, slice):
            check_edges([self])
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        if self._data.ndim == 0 and not isinstance(key, tuple):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
                "C++ to convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {self._data.ndim}")
    dim, result = 0, self
    for at, k in enumerate(keys):
        if k is Ellipsis:
            dim += self._data.ndim - named
        elif k is None:
            result, dim = F.unsqueeze(result, dim), dim + 1
        elif isinstance(k, slice):
            start, stop, step = bounds(k)
            if (new and len(keys) == 1) or (start, step) != (0, 1) or stop < result._data.shape[dim]:
                result = F.slice(result, dim, start, stop, step)
            dim += 1
        elif isinstance(k, (int, np.integer)) and not isinstance(k, bool):
            n = result._data.shape[dim]
            if not -n <= k < n:
                raise IndexError(f"index {k} is out of bounds for dimension {at} with size {n}")
            result = F.select(result, dim, int(k))
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`) and None are valid indices here (got "
                f"{type(k).__name__})"
            )
    return F.alias(self) if new and result is self else result


def bounds(key: slice) -> tuple[int, int, int]:
    """Start, stop and step of a slice, as PyTorch notes them; ValueError for a step that is not positive."""
    start, stop, step = (
        (0 if key.start is None else whole_of(key.start)),
        whole_of(key.stop),
        (1 if key.step is None else whole_of(key.step)),
    )
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step <= 0:
        raise ValueError("step must be greater than zero")
    return start, sys.maxsize if stop is None else stop, step


class Algebra(TensorBase):
    """Reductions and products."""

    __slots__ = ()

    def sum(self, dim: Any = None, keepdim: bool = False) -> Any:
        """Sum of all elements, or over `dim`."""
        return red.sum_all(self) if dim is None else red.sum_dim(self, listed(dim), keepdim)

    def mean(self, dim: Any = None, keepdim: bool = False) -> Any:
        """Mean of all elements, or over `dim`; RuntimeError for integers."""
        if dtypes.of(self._data).category < 2:
            raise RuntimeError(
                "mean(): could not infer output dtype. Input dtype must be either a floating point or "
                f"complex dtype. Got: {dtypes.of(self._data).title}"
            )
        return red.mean_all(self) if dim is None else red.mean_dim(self, listed(dim), keepdim)

    def dot(self, tensor: Any) -> Any:
        """Inner product of two vectors."""
        return linalg.dot(self, tensor)

    def mv(self, vec: Any) -> Any:
        """Matrix times vector."""
        return linalg.mv(self, vec)

    def mm(self, mat2: Any) -> Any:
        """Matrix times matrix."""
        return linalg.mm(self, mat2)

    def matmul(self, other: Any) -> Any:
        """The product that `@` writes, by the operands' dimensions."""
        return matmul(self, other)

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other) if isinstance(other, TensorBase) else NotImplemented

    def argmax(self) -> Any:
        """Index of the greatest element of the flattened tensor."""
        return F.argmax(self)


def matmul(a: Any, b: Any) -> Any:
    """dot, mv, mm or bmm by the operands' dimensions: the graph shows what ran."""
    for x in (a, b):
        if not isinstance(x, TensorBase):
            raise TypeError(f"matmul(): argument must be Tensor, not {type(x).__name__}")
    m, n = a._data.ndim, b._data.ndim
    if m == 0 or n == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {m}D and {n}D")
    if m == 1 and n == 1:
        return linalg.dot(a, b)
    if m == 2 and n == 1:
        return linalg.mv(a, b)
    if m == 1 and n == 2:
        row = F.squeeze_result(linalg.mm(F.unsqueeze(a, 0), b), 0)
        share(row).version += 1  # PyTorch squeezes in place, which counts
        return row
    if m == 2 and n == 2:
        return linalg.mm(a, b)
    return batched(a, b)


def folds(a: Any, b: Any) -> bool:
    """Whether PyTorch turns a product with more than two dimensions into one of matrices: see `batched`."""
    large, small = (a, b) if a._data.ndim >= b._data.ndim else (b, a)
    if large._data.ndim < 3 or small._data.ndim > 2:
        return False
    if small.requires_grad:
        return True
    if a._data.ndim == 2:
        return False
    data = large._data if large is a else np.swapaxes(large._data, -2, -1)
    return all(data.strides[i] == data.strides[i + 1] * data.shape[i + 1] for i in range(data.ndim - 2))


def folded(a: Any, b: Any) -> Any:
    """A product in which one factor is a vector or matrix: the batch dimensions of the other become rows."""
    turned = b._data.ndim > a._data.ndim
    large = F.transpose(b, -2, -1) if turned else a
    small = b if not turned else F.t(a) if a._data.ndim == 2 else a
    *lead, k = large._data.shape
    rows = F.reshape(large, (math.prod(lead), k))
    if small._data.ndim == 1:
        return F.unsafe_view(linalg.mv(rows, small), tuple(lead))
    out = F.unsafe_view(linalg.mm(rows, small), (*lead, small._data.shape[1]))
    return F.transpose(out, -2, -1).contiguous() if turned else out


def batched(a: Any, b: Any) -> Any:
    """matmul of more than two dimensions: one product of matrices, or one bmm of broadcast factors."""
    if folds(a, b):
        return folded(a, b)
    m, n = a._data.shape, b._data.shape
    rows, k = (m[-2] if len(m) > 1 else 1), m[-1]
    k2, columns = (n[-2], n[-1]) if len(n) > 1 else (n[0], 1)
    batch = np.broadcast_shapes(m[:-2], n[:-2])
    size = math.prod(batch)
    left = F.reshape(F.expand(a, (*batch, rows, k)), (size, rows, k))
    shape = batch + ((rows,) if len(m) > 1 else ()) + ((columns,) if len(n) > 1 else ())
    if len(n) == 1:
        right = F.unsqueeze(F.reshape(F.expand(b, (*batch, k2)), (size, k2)), 2)
        return F.unsafe_view(F.squeeze_dim(linalg.bmm(left, right), -1), shape)
    right = F.reshape(F.expand(b, (*batch, k2, columns)), (size, k2, columns))
    return F.unsafe_view(linalg.bmm(left, right), shape)
