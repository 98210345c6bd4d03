"""Distances between all rows of matrices."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..core.public import public

MODES = {
    "use_mm_for_euclid_dist_if_necessary": 0,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}
MANY = 25  # rows from which on Euclidean distances are made by a product of matrices


def check_number(name: str, p: Any, position: int) -> None:
    """TypeError with PyTorch's text unless `p` is a number."""
    if not isinstance(p, (int, float)):
        raise TypeError(f"{name}(): argument 'p' (position {position}) must be float, not {type(p).__name__}")


@public("function")
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """Return the distances between all pairs of rows of two matrices.

    Args:
        x1, x2: matrices, or batches of matrices, with equally long rows.
        p: the norm; 2 for the Euclidean distance.
        compute_mode: how PyTorch computes the Euclidean distance.
    Shape: (…, n, k) and (…, m, k) → (…, n, m).
    Returns: a new tensor.
    Raises: RuntimeError if the rows have different lengths.
    Derivative: `g * (x1 - x2) / result` for p = 2.
    Source: torch.cdist

    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    if compute_mode not in MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    check_number("cdist", p, 3)
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    batch = broadcast_batches(x1, x2)
    is_many = max(x1.shape[-2], x2.shape[-2]) > MANY
    by_product = p == 2 and MODES[compute_mode] < 2 and (MODES[compute_mode] == 1 or is_many)
    if not by_product or not x1.numel() or not x2.numel():
        return F._cdist_forward(x1, x2, float(p))
    return by_products(x1, x2, batch)


def broadcast_batches(x1: Any, x2: Any) -> tuple[int, ...]:
    """Return the shape of both batches together; RuntimeError with PyTorch's text if they do not fit."""
    first, second = x1.shape[:-2], x2.shape[:-2]
    ndim = max(len(first), len(second))
    first, second = ((1,) * (ndim - len(s)) + tuple(s) for s in (first, second))
    for i in reversed(range(ndim)):
        if first[i] != second[i] and 1 not in (first[i], second[i]):
            raise RuntimeError(
                f"The size of tensor a ({first[i]}) must match the size of tensor b ({second[i]}) at "
                f"non-singleton dimension {i}"
            )
    return tuple(b if a == 1 else a for a, b in zip(first, second))


def by_products(x1: Any, x2: Any, batch: tuple[int, ...]) -> Any:
    """Euclidean distances from a product of matrices, of one batch as PyTorch makes it."""
    rows, columns = (x.shape[-2] for x in (x1, x2))
    if not (x1.ndim == x2.ndim == 2):
        x1, x2 = (x.expand(*batch, *x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in (x1, x2))
    return F._euclidean_dist(x1, x2).view(*batch, rows, columns)
