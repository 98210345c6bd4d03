"""Products of several matrices, and powers of one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ..core import F
from ..core.dtypes import of
from ..ops import linalg

# ── several matrices
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def multi_dot(tensors: Any) -> Any:
    """The product of two or more matrices in the order that takes the fewest multiplications; the first and
    the last may be vectors.
    """
    tensors = list(tensors)
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    first, last = tensors[0]._data, tensors[-1]._data
    for where, x in (("first", first), ("last", last)):
        if x.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {where} tensor must be 1D or 2D but got {x.ndim}D")
    shape = (*first.shape[:-1], *last.shape[1:])
    if first.ndim == 1:
        tensors[0] = F.unsqueeze(tensors[0], 0)
    if last.ndim == 1:
        tensors[-1] = F.unsqueeze(tensors[-1], -1)
    check_chain(tensors, (first.shape, *(t._data.shape for t in tensors[1:-1]), last.shape))
    product = chained(tensors, splits([tensors[0]._data.shape[0], *(t._data.shape[1] for t in tensors)]))
    return F.view(product, shape)


def check_chain(tensors: list[Any], shapes: Any) -> None:
    """RuntimeError with PyTorch's text for matrices that cannot be multiplied."""
    for i, t in enumerate(tensors):
        if t._data.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {t._data.ndim}D")
        if t._data.dtype != tensors[0]._data.dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{linalg.c_name(tensors[0]._data)} and tensor {i} {linalg.c_name(t._data)}"
            )
    for i, (a, b) in enumerate(pairwise(tensors)):
        if a._data.shape[1] != b._data.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(shapes[i])} and "
                f"{list(shapes[i + 1])} cannot be multiplied"
            )


def splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each part of a chain of matrices, `sizes[i]` by `sizes[i + 1]`, so that the whole costs
    least.
    """
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    best: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            costs = [
                cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)
            ]
            cost[i, j] = min(costs)
            best[i, j] = i + costs.index(cost[i, j])
    if n == 3 and costs[0] == costs[1]:
        best[0, 2] = 1  # of three matrices PyTorch multiplies the first two if that costs the same
    return best


def chained(tensors: list[Any], best: dict[tuple[int, int], int]) -> Any:
    """Return the product of all in the order found."""

    def part(i: int, j: int) -> Any:
        return tensors[i] if i == j else linalg.mm(part(i, best[i, j]), part(best[i, j] + 1, j))

    return part(0, len(tensors) - 1)


# ── powers
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_square(x: Any, name: str) -> None:
    """RuntimeError with PyTorch's text unless `x` is a square matrix or a batch of them."""
    if x._data.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    rows, columns = x._data.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def check_float(x: Any, name: str) -> None:
    """RuntimeError with PyTorch's text for integers and bools."""
    if of(x._data).category < 2:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {of(x._data).title}"
        )
