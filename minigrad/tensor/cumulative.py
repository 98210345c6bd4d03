"""Cumulative sums and products."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.public import public
from ..ops import cumulative as cu
from ..ops.overloads import choice
from .reductions import numpys, one


def checked(name: str, dtype: Any) -> Any:
    """Return the NumPy dtype of `dtype`; NotImplementedError in PyTorch's words for bools."""
    dtype = dtypes.given(dtype)
    if dtype is not None and dtype.title == "Bool":
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
    return numpys(dtype)


@public("function method method_", out="dtype")
@choice
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
    return cu.cumsum, (input, one(dim), checked("cumsum", dtype))


@public("function method method_", out="dtype")
@choice
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the product of all elements up to each one along `dim`; whole numbers give int64 unless `dtype`
    is given.
    """
    return cu.cumprod, (input, one(dim), checked("cumprod", dtype))
