"""Running sums, products and extremes, as functions and as methods."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..inplace.in_place import in_place
from ..ops import cumulative as cu
from .reductions import numpys, one


def checked(name: str, dtype: Any) -> Any:
    """Return the NumPy dtype of `dtype`; NotImplementedError in PyTorch's words for bools."""
    dtype = dtypes.given(dtype)
    if dtype is not None and dtype.title == "Bool":
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
    return numpys(dtype)


@public(out="dtype")
def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the cumulative sums along `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        dtype: the dtype in which the result is computed.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: the cumulative sums of `g` from the end.
    Source: torch.cumsum

    >>> torch.cumsum(torch.tensor([1, 2, 3]), dim=0)
    tensor([1, 3, 6])
    """
    return cu.cumsum(input, one(dim), checked("cumsum", dtype))


@public(out="dtype")
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the product of all elements up to each one along `dim`; whole numbers give int64 unless `dtype`
    is given.
    """
    return cu.cumprod(input, one(dim), checked("cumprod", dtype))


class Cumulative(TensorBase):
    """Running sums, products and extremes, and differences of neighbors."""

    __slots__ = ()

    def cumsum_(self, dim: int, *, dtype: Any = None) -> Any:
        """Return `cumsum` in place; `dtype` must be the tensor's own."""
        return in_place(cu.cumsum.op, self, dim, checked("cumsum", dtype))

    def cumprod_(self, dim: int, *, dtype: Any = None) -> Any:
        """Return `cumprod` in place; `dtype` must be the tensor's own."""
        return in_place(cu.cumprod.op, self, dim, checked("cumprod", dtype))
