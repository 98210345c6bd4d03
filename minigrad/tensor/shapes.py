"""Shape, indexing, reductions, matrix products and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..op import F
from ..ops import linalg, reduction as red, shape as sh
from ..tensor_base import TensorBase


def sizes(size: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes given as numbers or as one sequence."""
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


class Shape(TensorBase):
    """The same numbers, seen in another way."""

    __slots__ = ()

    def view(self, *size: Any) -> Any:
        """The same memory in another shape."""
        return sh.view(self, sizes(size))

    def reshape(self, *size: Any) -> Any:
        """The same numbers in another shape; a view where that is possible."""
        return sh.reshape(self, sizes(size))

    def flatten(self) -> Any:
        """One dimension."""
        return sh.reshape(self, (-1,))

    def expand(self, *size: Any) -> Any:
        """Repeated along one-element or new dimensions, without a copy."""
        return sh.expand(self, sizes(size))

    def permute(self, *dims: Any) -> Any:
        """Dimensions in another order."""
        return sh.permute(self, tuple(d % self._data.ndim for d in sizes(dims)))

    def transpose(self, dim0: int, dim1: int) -> Any:
        """Two dimensions exchanged."""
        return sh.transpose(self, dim0, dim1)

    def t(self) -> Any:
        """A matrix transposed."""
        return sh.t(self)

    @property
    def T(self) -> Any:  # noqa: N802 - PyTorch's name
        """All dimensions in reverse order."""
        return sh.permute(self, tuple(reversed(range(self._data.ndim))))

    @property
    def mT(self) -> Any:  # noqa: N802 - PyTorch's name
        """The last two dimensions exchanged."""
        return sh.transpose(self, -2, -1)

    def unsqueeze(self, dim: int) -> Any:
        """A dimension of size 1 put in at `dim`."""
        return sh.unsqueeze(self, dim)

    def squeeze(self, dim: int | None = None) -> Any:
        """Dimension `dim`, or all, taken away if of size 1."""
        return sh.squeeze_all(self) if dim is None else sh.squeeze_dim(self, dim)

    def __getitem__(self, key: Any) -> Any:
        return get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        target = get(self, key)
        if isinstance(value, TensorBase):
            target.copy_(value)
        else:
            target.fill_(value)

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Any:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter([F.select(self, 0, i) for i in range(len(self._data))])


def get(self: Any, key: Any) -> Any:
    """Basic indexing: integers, slices, `...` and None; each is a view."""
    keys = list(key) if isinstance(key, tuple) else [key]
    named = sum(1 for k in keys if k is not None and k is not Ellipsis)
    if named > self._data.ndim:
        if self._data.ndim == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
                "0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {self._data.ndim}")
    dim, result = 0, self
    for k in keys:
        if k is Ellipsis:
            dim += self._data.ndim - named
        elif k is None:
            result, dim = F.unsqueeze(result, dim), dim + 1
        elif isinstance(k, slice):
            start, stop, step = k.indices(result._data.shape[dim])
            if step < 0:
                raise ValueError("step must be greater than zero")
            if (start, stop, step) != (0, result._data.shape[dim], 1):
                result = F.slice(result, dim, start, max(stop, start), step)
            dim += 1
        elif isinstance(k, (int, np.integer)) and not isinstance(k, bool):
            result = F.select(result, dim, int(k))
        else:
            raise IndexError(
                f"only integers, slices (`:`), ellipsis (`...`) and None are valid indices here (got {type(k).__name__})"
            )
    return sh.view(self, self._data.shape) if result is self and self._data.ndim else result


class Algebra(TensorBase):
    """Reductions and products."""

    __slots__ = ()

    def sum(self, dim: Any = None, keepdim: bool = False) -> Any:
        """Sum of all elements, or over `dim`."""
        return red.sum_all(self) if dim is None else red.sum_dim(self, dim, keepdim)

    def mean(self, dim: Any = None, keepdim: bool = False) -> Any:
        """Mean of all elements, or over `dim`; RuntimeError for integers."""
        if dtypes.of(self._data).category < 2:
            raise RuntimeError(
                "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
                f"Got: {dtypes.of(self._data).title}"
            )
        return red.mean_all(self) if dim is None else red.mean_dim(self, dim, keepdim)

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
        return F.squeeze_dim(linalg.mm(F.unsqueeze(a, 0), b), 0)
    if m == 2 and n == 2:
        return linalg.mm(a, b)
    return batched(a, b)


def batched(a: Any, b: Any) -> Any:
    """matmul of more than two dimensions: broadcast, one bmm, shape restored."""
    vector_a, vector_b = a._data.ndim == 1, b._data.ndim == 1
    a = F.unsqueeze(a, 0) if vector_a else a
    b = F.unsqueeze(b, 1) if vector_b else b
    batch = np.broadcast_shapes(a._data.shape[:-2], b._data.shape[:-2])
    (n, k), (k2, m) = a._data.shape[-2:], b._data.shape[-2:]
    if k != k2:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{int(np.prod(batch))}, {k}] but got: "
            f"[{int(np.prod(batch))}, {k2}]."
        )
    a = F.reshape(F.expand(a, (*batch, n, k)), (-1, n, k))
    b = F.reshape(F.expand(b, (*batch, k, m)), (-1, k, m))
    out = tuple(batch) + (() if vector_a else (n,)) + (() if vector_b else (m,))
    return F.view(linalg.bmm(a, b), out)
