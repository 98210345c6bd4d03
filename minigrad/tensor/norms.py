"""Norms and distances."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.public import public
from ..ops import norms
from ..ops.elementwise import must_be_tensor
from . import matrix_norms
from .matrix_norms import vector_norm
from .reductions import dims


@public(out="cast")
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Return the norm of all elements, or over `dim`.

    Args:
        input: a tensor of any shape.
        p: the order of the norm, a number, inf, "fro" or "nuc".
        dim: the dimension or dimensions to reduce; None for all.
        keepdim: whether the reduced dimensions stay, with size 1.
        dtype: the dtype in which the result is computed.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: a new tensor.
    Raises: IndexError if there is no dimension `dim`.
    Derivative: `g * x / result` for p = 2.
    Source: torch.norm

    >>> torch.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    must_be_tensor("norm", input)
    over = dims(dim)
    if p == "fro" and (over is None or len(over) <= 2):
        return vector_norm(input, 2, over, keepdim, dtype=dtype)
    if isinstance(p, str):
        over = tuple(range(input._data.ndim)) if over is None else over
        return matrix_norms.matrix_norm(input, p, over, keepdim, dtype=dtype)
    return vector_norm(input, 2.0 if p is None else p, over, keepdim, dtype=dtype)


def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of a vector or matrix, of all elements (`ord` None) or over one or two dimensions `dim`."""
    over = dims(dim)
    if over is not None and len(over) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(over)}")
    ndim = A._data.ndim
    if over is None and ord is not None and ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D."
        )
    of_matrix = ndim == 2 if over is None else len(over) == 2
    if isinstance(ord, str) or (ord is not None and of_matrix):
        return matrix_norms.matrix_norm(A, ord, (0, 1) if over is None else over, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, over, keepdim, dtype=dtype)


@public()
def dist(input: Any, other: Any, p: Any = 2) -> Any:
    """Return the p-norm of `input - other`."""
    for t in (input, other):
        kind = dtypes.of(t._data)
        if kind.category < 2:
            raise RuntimeError(
                f"norm(): input dtype should be either floating point or complex. Got {kind.title} instead."
            )
    return norms.dist(input, other, p)
