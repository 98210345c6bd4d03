"""Inverses, determinants, solutions and powers of matrices, and checks of matrices."""

from __future__ import annotations

from math import nan
from typing import Any

from .. import return_types
from ..core import F
from ..core.dtypes import of
from ..core.operands import broadcast, check_broadcast
from ..core.public import public
from ..core.tensor_state import numbers
from ..creation import eye
from ..creation.arguments import whole
from ..ops import inverses
from ..ops.inverses import LinAlgError, first_wrong
from .matmul import matmul


def check_square(x: Any, name: str, square: bool = True) -> None:
    """RuntimeError with PyTorch's text unless `x` is a (square) matrix or a batch of them."""
    if x._data.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    rows, columns = x._data.shape[-2:]
    if square and rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def check_float(x: Any, name: str) -> None:
    """RuntimeError with PyTorch's text for integers and bools."""
    if of(x._data).category < 2:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {of(x._data).title}"
        )


# Functions that refuse half precision themselves, not in a kernel.
REFUSES_EARLY = ("linalg.inv", "linalg.pinv", "linalg.slogdet", "logdet", "torch.linalg.lstsq")


def checked(x: Any, name: str, square: bool = True) -> None:
    """PyTorch's errors for what is no (square) matrix of floating-point numbers, or of half precision."""
    check_square(x, name, square)
    check_float(x, name)
    if of(x._data).title == "Half":
        error = RuntimeError if name in REFUSES_EARLY else NotImplementedError
        raise error(f"{name}: Low precision dtypes not supported. Got Half")


def inv(A: Any) -> Any:
    """Return the inverse of a square matrix, or of each in a batch; LinAlgError for a singular one."""
    checked(A, "linalg.inv")
    inverse, info = inverses.linalg_inv_ex(A)
    which, code = first_wrong(numbers(info))
    if code:
        raise LinAlgError(
            f"linalg.inv: {which}The diagonal element {code} is zero, the inversion could not be completed "
            "because the input matrix is singular."
        )
    return inverse


@public(out="same")
def inverse(input: Any) -> Any:
    """Return the inverse of a square matrix, or of each in a batch; LinAlgError for a singular one."""
    return inv(input)


def is_vector(a: Any, b: Any) -> bool:
    """Return whether a right side of shape `b` is a vector, or one for each matrix of `a`."""
    return len(b) == 1 or (len(a) - 1 == len(b) and a[:-1] == b)


def together(A: Any, B: Any) -> tuple[Any, Any]:
    """Both with one batch shape."""
    own = 1 if is_vector(A._data.shape, B._data.shape) else 2
    check_broadcast(B._data.shape[:-own], A._data.shape[:-2])
    return expanded(A, B, own)


def expanded(A: Any, B: Any, own: int = 2) -> tuple[Any, Any]:
    """Both with one batch shape; the last `own` dimensions of B are its own."""
    a, b = A._data.shape, B._data.shape
    lead = broadcast(a[:-2], b[:-own])
    shapes = (*lead, *a[-2:]), (*lead, *b[-own:])
    return tuple(x if x._data.shape == s else F.expand(x, s) for x, s in zip((A, B), shapes))


def check_right_side(A: Any, B: Any, left: bool) -> None:
    """RuntimeError with PyTorch's text for a right side of another dtype or shape."""
    a, b = A._data.shape, B._data.shape
    kinds = of(A._data).title, of(B._data).title
    if kinds[0] != kinds[1]:
        told = f"but found A of type {kinds[0]} and B of type {kinds[1]} instead"
        raise RuntimeError(f"linalg.solve: Expected A and B to have the same dtype, {told}")
    rows, columns = (b[-1], 1) if is_vector(a, b) else b[-2:]
    if is_vector(a, b) and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In "
            "this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if a[-1] != (rows if left else columns):
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and "
            f"{rows}x{columns})"
        )


def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """Return the X with A @ X = B (X @ A = B unless `left`), B being a vector or matrix, or a batch of them;
    LinAlgError where A is singular.
    """
    checked(A, "linalg.solve")
    check_right_side(A, B, left)
    result, _, _, info = inverses._linalg_solve_ex(*together(A, B), left)
    which, code = first_wrong(numbers(info))
    if code:
        raise LinAlgError(
            f"torch.linalg.solve: {which}The solver failed because the input matrix is singular."
        )
    return result


@public()
def det(A: Any) -> Any:
    """Return the determinant of a square matrix, or of each matrix in a batch.

    Args:
        A: a tensor of shape (…, n, n). PyTorch calls it `input` in torch.det.
    Shape: (…, n, n) → (…).
    Returns: a new tensor.
    Raises: RuntimeError if the matrices are not square.
    Derivative: `g * result * inverse(A).T`.
    Source: torch.det

    >>> torch.det(torch.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor(6.)
    """
    checked(A, "linalg.det")
    return inverses._linalg_det(A)[0]


def slogdet(A: Any) -> Any:
    """Sign and logarithm of the absolute value of the determinant, which itself may overflow."""
    checked(A, "linalg.slogdet")
    return return_types.linalg_slogdet(*inverses._linalg_slogdet(A)[:2])


@public(out="same", name="slogdet")
def torch_slogdet(input: Any) -> Any:
    """Return the sign and logarithm of the absolute value of the determinant, which itself may overflow."""
    return return_types.slogdet(*slogdet(input))


@public()
def logdet(input: Any) -> Any:
    """Return the logarithm of the determinant of a square matrix, or of each in a batch; NaN of a negative
    one.
    """
    checked(input, "logdet")
    sign, log = slogdet(input)
    if sign._data.dtype.kind == "c":
        return F.log(sign) + log
    return F.where(F.eq(sign, -1.0), nan, log)


def positive_power(base: Any, n: int) -> Any:
    """`base` to the power of n > 0 by repeated squares, multiplied in PyTorch's order."""
    if n == 1:
        return F.clone(base)
    if n == 3:
        return matmul(matmul(base, base), base)
    square, result = None, None
    while n:
        square = base if square is None else matmul(square, square)
        if n % 2:
            result = square if result is None else matmul(result, square)
        n //= 2
    return result


@public(out="same")
def matrix_power(input: Any, n: int) -> Any:
    """Return the n-th power of a square matrix or of each in a batch; of a negative n that of the inverse."""
    n = whole(n)
    check_square(input, "linalg.matrix_power")
    if n == 0:
        return F.clone(input).copy_(eye(input._data.shape[-1], dtype=input.dtype))
    if n > 0:
        return positive_power(input, n)
    inverse = inv(input)
    return inverse if n == -1 else positive_power(inverse, -n)
