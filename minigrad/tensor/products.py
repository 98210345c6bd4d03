"""Products of vectors, matrices and tensors: sums with a factor, contractions and powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F
from ..core.dtypes import of
from ..core.public import public
from ..core.tensor_state import TensorBase, numbers
from ..ops import linalg
from ..ops.checks import choice, must_be_tensor
from ..ops.shape import place
from .matmul import matmul

# ── sums with a product
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public("function method method_", out="same")
@choice
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return `beta · input + alpha · mat1 @ mat2` of shape (n, m), to which `input` is broadcast."""
    return linalg.addmm, (input, mat1, mat2, beta, alpha)


def check_batches(input: Any, batch1: Any, batch2: Any, of_result: tuple[int, ...]) -> None:
    """PyTorch's errors for shapes that do not fit: first of what is added, then of the factors.

    `of_result` are the places of the result's first dimensions in those of `batch1`.
    """
    a, b = batch1._data.shape, batch2._data.shape
    for name, shape in (("batch1", a), ("batch2", b)):
        if len(shape) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    F.expand(input.detach(), (*(a[i] for i in of_result), b[2]))
    if a[0] != b[0] or a[2] != b[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: "
            f"[{b[0]}, {b[1]}]."
        )


@public("function method method_", out="same")
@choice
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return `beta · input + alpha · batch1 @ batch2` of shape (b, n, m)."""
    check_batches(input, batch1, batch2, (0, 1))
    return linalg.baddbmm, (input, batch1, batch2, beta, alpha)


# ── products
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public(out="cast", also="ger")
def outer(input: Any, vec2: Any) -> Any:
    """Return the products of each element of a vector with each of another, of shape (n, m)."""
    for name, vector in (("self", input), ("vec2", vec2)):
        if vector._data.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector._data.ndim}-D")
    return linalg.outer(input, vec2)


@public(out="same")
def inner(input: Any, other: Any) -> Any:
    """Return the sum of products along the last dimension of both; with a number, the product."""
    a, b = input._data.shape, other._data.shape
    if not a or not b:
        return F.mul(input, other)
    if a[-1] != b[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(a)} and {list(b)}"
        )
    return contracted(input, other, (-1,), (-1,))


@public("function", out="same")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Return the sum of products over the last `dims` dimensions of `a` and the first of `b`, or over those
    in two lists.
    """
    if isinstance(dims, TensorBase):
        dims = numbers(dims).tolist() if dims._data.size > 1 else int(numbers(dims).item())
    if not isinstance(dims, int):
        first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
        return contracted(a, b, tuple(first), tuple(second))
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got {dims=}")
    if dims > min(a.dim(), b.dim()):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got {dims=}")
    return contracted(a, b, tuple(range(-dims, 0)), tuple(range(dims)))


def contracted(a: Any, b: Any, dims_a: tuple[int, ...], dims_b: tuple[int, ...]) -> Any:
    """Both as matrices, multiplied: composed as PyTorch's `tensordot`."""
    if len(dims_a) != len(dims_b):
        raise RuntimeError("both dimension lists should have same length")
    if a._data.dtype != b._data.dtype:
        raise RuntimeError("both inputs should have same dtype")
    size = 1
    for i, j in zip(dims_a, dims_b):
        n, m = (x.shape[place(d, x._data.ndim)] for x, d in ((a, i), (b, j)))
        if m == 1:
            a = a.sum(i, keepdim=True, dtype=a.dtype)
        elif n == 1:
            b = b.sum(j, keepdim=True, dtype=b.dtype)
        elif n != m:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {i} and second has size "
                f"{m} in dim {j}"
            )
        else:
            size *= n
    front = [place(d, a._data.ndim) for d in dims_a]
    back = [place(d, b._data.ndim) for d in dims_b]
    rest_a = [d for d in range(a._data.ndim) if d not in front]
    rest_b = [d for d in range(b._data.ndim) if d not in back]
    sizes_a, sizes_b = [a._data.shape[d] for d in rest_a], [b._data.shape[d] for d in rest_b]
    rows, columns = int(np.prod(sizes_a)), int(np.prod(sizes_b))
    full = rows == columns == 1
    a = F.reshape(F.permute(a, (*rest_a, *dims_a)), (size,) if full else (rows, size))
    b = F.reshape(F.permute(b, (*dims_b, *rest_b)), (size,) if full else (size, columns))
    product = linalg.dot(a, b) if full else linalg.mm(a, b)
    return F.reshape(product, (*sizes_a, *sizes_b))


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Return y = x Wᵀ + b.

    The gradients for an upstream gradient g are g W with respect to x, gᵀ x with respect to W and the sum of
    the rows of g with respect to b.

    Args:
        input: x.
        weight: W.
        bias: b, or None.

    Shape:
        input (*, in), weight (out, in), bias (out) → (*, out).

    Returns:
        The products.

    Raises:
        RuntimeError: the last dimensions of input and weight differ.

    Example:
        >>> F.linear(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])).tolist()
        [[11.0]]

    Source: PyTorch's page `torch.nn.functional.linear`.
    """
    must_be_tensor("linear", input)
    must_be_tensor("linear", weight, 2, "weight")
    if bias is None:
        return matmul(input, F.t(weight))
    shape = input._data.shape
    if weight._data.ndim == 2 and len(shape) == 2:
        return linalg.addmm(bias, input, F.t(weight))
    if weight._data.ndim == 2 and len(shape) and input.is_contiguous():
        rows = F.view(input, (-1 if 0 not in shape else int(np.prod(shape[:-1])), shape[-1]))
        return F.view(linalg.addmm(bias, rows, F.t(weight)), (*shape[:-1], weight._data.shape[0]))
    return matmul(input, F.t(weight)) + bias


# ── vectors along a dimension
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def linalg_cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """Return the vector product of the 3-vectors along `dim`, with broadcasting."""
    a, b = input._data, other._data
    if a.ndim != b.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    at = place(dim, a.ndim)
    if a.shape[at] != 3 or b.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[at]} and {b.shape[at]}"
        )
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected scalar type {of(a).title} but found {of(b).title}")
    return linalg.linalg_cross(input, other, dim)


@public(out="cast")
def cross(input: Any, other: Any, dim: Any = None) -> Any:
    """Return the vector product of the 3-vectors along `dim`: the first dimension of size 3 unless it is
    given.
    """
    if dim is None:
        if 3 not in input._data.shape:
            raise RuntimeError("no dimension of size 3 in input")
        dim = input._data.shape.index(3)
    return linalg_cross(input, other, dim=dim)
