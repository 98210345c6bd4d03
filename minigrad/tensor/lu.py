"""LU factors, and systems of equations solved with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..dtypes import of
from ..op import F
from ..ops import lu as ops
from ..ops.inverses import first_wrong
from ..tensor_base import TensorBase, numbers
from .factors import check_half
from .matrices import check_shapes, expanded
from .products import must_be_tensors


def at_least_2d(name: str, x: Any) -> None:
    """RuntimeError with PyTorch's text for what is no matrix."""
    if x._data.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(x._data.shape)} instead"
        )


def checked(A: Any, pivot: bool, name: str = "torch.lu_factor") -> None:
    """PyTorch's errors for what has no LU factors."""
    must_be_tensors("linalg_lu_factor", input=A)
    at_least_2d(name, A)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    check_half(A, "lu_cpu")


def refuse_singular(name: str, info: Any) -> None:
    """RuntimeError with PyTorch's text for a zero on the diagonal of U."""
    which, code = first_wrong(numbers(info))
    if code:
        raise RuntimeError(
            f"{name}: {which}U[{code},{code}] is zero and using it on lu_solve would result in a division by "
            "zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
            "linalg.lu_factor_ex(A, pivot)"
        )


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """`lu_factor`, and per matrix the first zero on the diagonal of U (0 if there is none)."""
    checked(A, pivot)
    found = ops.linalg_lu_factor_ex(A, pivot)
    if check_errors:
        refuse_singular("torch.linalg.lu_factor_ex", found[2])
    return return_types.linalg_lu_factor_ex(*found)


def lu_factor(A: Any, *, pivot: bool = True) -> Any:
    """L (without its diagonal of 1) and U of a matrix in one, and which rows were exchanged with which,
    counted from 1.
    """
    checked(A, pivot)
    factors, pivots, info = ops.linalg_lu_factor_ex(A, pivot)
    refuse_singular("torch.linalg.lu_factor", info)
    return return_types.linalg_lu_factor(factors, pivots)


def lu(A: Any, *, pivot: bool = True) -> Any:
    """P, L and U with A = P @ L @ U: a permutation, a unit lower and an upper triangular matrix."""
    checked(A, pivot, "linalg.lu")
    return return_types.linalg_lu(*ops.linalg_lu(A, pivot))


def torch_lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """`linalg.lu_factor`, with `get_infos` `linalg.lu_factor_ex`."""
    checked(A, pivot)
    found = ops.linalg_lu_factor_ex(A, pivot)
    if not get_infos:
        refuse_singular("torch.linalg.lu_factor_ex", found[2])
        return tuple(found[:2])
    return return_types._lu_with_info(*found)


def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U from what `linalg.lu_factor` gives; empty tensors for those that are not asked for."""
    must_be_tensors("lu_unpack", LU_data=LU_data, LU_pivots=LU_pivots)
    at_least_2d("torch.lu_unpack", LU_data)
    rows, columns = LU_data._data.shape[-2:]
    if unpack_pivots:
        if LU_pivots._data.dtype != np.int32:
            raise RuntimeError(
                "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
                "Note: this function is intended to be used with the output produced by "
                "torch.linalg.lu_factor"
            )
        exchanged = numbers(LU_pivots)
        if exchanged.size and not (exchanged.min() >= 1 and exchanged.max() <= rows):
            raise RuntimeError(
                "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
                "Did you properly pass the result of lu_factor?"
            )
    P = ops.permutation_of(LU_pivots, LU_data) if unpack_pivots else LU_data.new_zeros((0,))
    nothing = [LU_data.new_zeros((0,)) for _ in range(2)]
    L, U = ops._lu_unpack(LU_data, rows, columns) if unpack_data else nothing
    return return_types.lu_unpack(P, L, U)


def lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """The X with A @ X = B (X @ A = B unless `left`) for the matrix A, or its adjoint, of which
    `linalg.lu_factor` gave LU and pivots.
    """
    must_be_tensors("linalg_lu_solve", LU=LU, pivots=pivots, B=B)
    check_systems(LU, pivots, B)
    check_shapes("linalg.lu_solve", LU._data.shape, B._data.shape[-2:], left)
    check_half(LU, "linalg_lu_solve_cpu")
    lead = np.broadcast_shapes(LU._data.shape[:-2], B._data.shape[:-2])
    shape = (*lead, pivots._data.shape[-1])
    pivots = pivots if pivots._data.shape == shape else F.expand(pivots, shape)
    LU, B = expanded(LU, B)
    return ops.linalg_lu_solve(LU, pivots, B, left, adjoint)


def check_systems(LU: Any, pivots: Any, B: Any) -> None:
    """PyTorch's errors for factors and right sides that do not go together."""
    a, p, b = (x._data for x in (LU, pivots, B))
    if p.dtype != np.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type {of(a).title} "
            f"and B of type {of(b).title} instead"
        )
    for name, x in (("LU", a), ("B", b)):
        if x.ndim < 2:
            raise RuntimeError(f"linalg.lu_solve: The input tensor {name} must have at least 2 dimensions.")
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            "torch.linalg.lu_solve: A must be batches of square matrices, but they are "
            f"{a.shape[-2]} by {a.shape[-1]} matrices"
        )
    if p.shape[-1:] != a.shape[-1:]:
        raise RuntimeError(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if p.shape[:-1] != a.shape[:-2]:
        raise RuntimeError(
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(p.shape)} instead"
        )


def torch_lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """`linalg.lu_solve` with the right side first."""
    return lu_solve(LU_data, LU_pivots, b)


class LU(TensorBase):
    """LU factors."""

    __slots__ = ()

    lu, lu_solve = torch_lu, torch_lu_solve
