"""Products of vectors and matrices, and transposed matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import F, dialect
from ..core.operands import broadcast
from ..core.public import public
from ..core.tensor_state import TensorBase, share
from ..ops import linalg
from ..ops import shape as sh
from . import views


@public(out="same")
def matmul(input: Any, other: Any) -> Any:
    """Return the product of vectors, matrices, or batches of matrices, chosen by their dimensions.

    Args:
        input, other: tensors of at least one dimension and of the same dtype.
    Shape: (n,) and (n,) → (); (n, k) and (k,) → (n,); (…, n, k) and (…, k, m) → (…, n, m); leading sizes
        broadcast.
    Returns: a new tensor.
    Raises: RuntimeError if the inner sizes differ, or if an operand has no dimension.
    Derivative: `g @ other.mT` for `input`, `input.mT @ g` for `other`; the graph shows the dot, mv, mm or bmm
        that ran.
    Source: torch.matmul

    >>> torch.matmul(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    m, n = input._data.ndim, other._data.ndim
    if m == 0 or n == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {m}D and {n}D")
    if m == 1 and n == 1:
        return linalg.dot(input, other)
    if m == 2 and n == 1:
        return linalg.mv(input, other)
    if m == 1 and n == 2:
        row = F.squeeze_result(linalg.mm(F.unsqueeze(input, 0), other), 0)
        share(row).version += 1  # PyTorch squeezes in place, which counts
        return row
    if m == 2 and n == 2:
        return linalg.mm(input, other)
    return batched(input, other)


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
    m, n = a._data.shape, b._data.shape
    if len(m) == len(n) == 3 and m[0] != n[0]:  # PyTorch takes a learned batch of one for its matrix
        a = F.squeeze_dim(a, 0) if m[0] == 1 and a.requires_grad else a
        b = F.squeeze_dim(b, 0) if n[0] == 1 and b.requires_grad else b
    if folds(a, b):
        return folded(a, b)
    rows, k = (m[-2] if len(m) > 1 else 1), m[-1]
    k2, columns = (n[-2], n[-1]) if len(n) > 1 else (n[0], 1)
    batch = m[:-2] if m[:-2] == n[:-2] else broadcast(m[:-2], n[:-2])
    size = math.prod(batch)
    left = F.reshape(F.expand(a, (*batch, rows, k)), (size, rows, k))
    shape = batch + ((rows,) if len(m) > 1 else ()) + ((columns,) if len(n) > 1 else ())
    if len(n) == 1:
        right = F.unsqueeze(F.reshape(F.expand(b, (*batch, k2)), (size, k2)), 2)
        return F.unsafe_view(F.squeeze_dim(linalg.bmm(left, right), -1), shape)
    right = F.reshape(F.expand(b, (*batch, k2, columns)), (size, k2, columns))
    return F.unsafe_view(linalg.bmm(left, right), shape)


T_IS_DEPRECATED = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
    "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*"
    "torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
)


class Algebra(TensorBase):
    """`@`, and `T mT H mH`."""

    __slots__ = ()

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other) if isinstance(other, TensorBase) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self) if isinstance(other, TensorBase) else NotImplemented

    @property
    def T(self) -> Any:
        """All dimensions in reverse order."""
        n = self._data.ndim
        if n == 0:
            text = "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases."
            dialect.warn(text)
        elif n != 2:
            dialect.warn(T_IS_DEPRECATED)
        return sh.permute(self, tuple(reversed(range(n))))

    @property
    def mT(self) -> Any:
        """The last two dimensions exchanged."""
        return sh.transpose(self, -2, -1) if views.matrices(self, "mT") else self

    @property
    def H(self) -> Any:
        """A matrix transposed and conjugated."""
        n = self._data.ndim
        if n == 1 or n > 2:
            more = " For batches of matrices, consider using tensor.mH" if n > 2 else ""
            raise RuntimeError(
                f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{more}"
            )
        if n == 0:
            dialect.warn("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
        return F.conj(sh.transpose(self, -2, -1) if n else self)

    @property
    def mH(self) -> Any:
        """The last two dimensions exchanged, and conjugated."""
        return F.conj(sh.transpose(self, -2, -1) if views.matrices(self, "mH") else self)
