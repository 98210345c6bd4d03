"""Grids, tensors with at least so many dimensions, and broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import F, dialect, dtypes
from ..core.operands import broadcast, check_elements
from ..core.public import public
from ..ops import shape as sh
from .size import Size

INDEXING = "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument."


@public("function")
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    """Return coordinate grids made of vectors: result i varies along dimension i only.

    Args:
        tensors: vectors or scalars, one by one or in one list.
        indexing: "ij" (rows first, the default) or "xy".
    Shape: n vectors of lengths (a, b, …) → n tensors of shape (a, b, …).
    Returns: a tuple of tensors that share memory with the vectors.
    Raises: RuntimeError if a tensor has more than one dimension.
    Derivative: the sum of `g` over the other dimensions.
    Source: torch.meshgrid

    >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing='ij')[0]
    tensor([[1, 1],
            [2, 2]])
    """
    if indexing is None:
        dialect.warn(INDEXING, stacklevel=2)
    return grid(tensors, "ij" if indexing is None else indexing)


def grid(tensors: Any, indexing: str) -> tuple[Any, ...]:
    """`meshgrid` with the indexing given."""
    vectors = listed(tensors)
    if not vectors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in vectors:
        if t._data.dtype != vectors[0]._data.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if t._data.ndim > 1:
            kind = f"{dtypes.of(t._data).type_name}{{{','.join(map(str, t._data.shape))}}}"
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {kind}")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    turned = indexing == "xy" and len(vectors) > 1
    if turned:
        vectors[:2] = vectors[1::-1]
    shape = tuple(t._data.size for t in vectors)
    found = []
    for i, t in enumerate(vectors):
        line = [1] * len(shape)
        line[i] = shape[i]
        found.append(F.expand(F.view(t, line), shape))
    if turned:
        found[:2] = found[1::-1]
    return tuple(found)


def listed(tensors: Any) -> list[Any]:
    """Tensors given one by one or as one sequence."""
    found = list(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors)
    check_elements(found)
    return found


@public("function")
def broadcast_shapes(*shapes: Any) -> Any:
    """Return the shape that tensors of these shapes broadcast to."""
    lists = [(s,) if isinstance(s, int) else s for s in shapes]
    rank = max((len(s) for s in lists if isinstance(s, Sequence)), default=0)
    found = [1] * rank
    for place, shape in enumerate(lists):
        if not isinstance(shape, Sequence):
            raise RuntimeError(
                f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}"
            )
        for i in range(-1, -1 - len(shape), -1):
            widen(found, i, place, shape)
    return Size(found)


def widen(found: list[int], i: int, place: int, shape: Any) -> None:
    """Let `found[i]` also be the size of `shape[i]`; an error where they do not agree."""
    if shape[i] < 0:
        raise ValueError("Attempting to broadcast a dimension with negative length!")
    if shape[i] in (1, found[i]):
        return
    if found[i] != 1:
        raise RuntimeError(
            f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching argument at index "
            f"{place} had {tuple(shape)}; but expected shape should be broadcastable to {found}"
        )
    found[i] = shape[i]


def at_least(n: int, tensors: tuple[Any, ...]) -> Any:
    """`atleast_1d` to `atleast_3d`: of one tensor, or of several as a tuple."""
    many = len(tensors) == 1 and isinstance(tensors[0], (tuple, list))
    given = tuple(tensors[0]) if many else tensors
    results = tuple(raised(t, n) for t in given)
    return results if many or len(results) != 1 else results[0]


def raised(t: Any, n: int) -> Any:
    """`t` with at least `n` dimensions."""
    k = t._data.ndim
    if k == 0:
        return sh.reshape(t, (1,) * n)
    if k == 1 and n > 1:
        t = sh.unsqueeze(t, 0)
    return sh.unsqueeze(t, -1) if k < 3 == n else t


@public("function")
def atleast_1d(*tensors: Any) -> Any:
    """Return tensors with at least one dimension."""
    return at_least(1, tensors)


@public("function")
def atleast_2d(*tensors: Any) -> Any:
    """Return tensors with at least two dimensions."""
    return at_least(2, tensors)


@public("function")
def atleast_3d(*tensors: Any) -> Any:
    """Return tensors with at least three dimensions."""
    return at_least(3, tensors)


@public("function")
def broadcast_tensors(*tensors: Any) -> Any:
    """Return tensors expanded to the shape to which they broadcast."""
    shape = broadcast((), *(t._data.shape for t in tensors))
    return tuple(sh.expand(t, shape) for t in tensors)
