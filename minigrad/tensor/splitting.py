"""Splitting a tensor into views, stacking tensors, grids, and broadcasting."""

from __future__ import annotations

from typing import Any

from ..core import F, dialect
from ..core.operands import broadcast, check_elements
from ..core.public import public
from ..ops import joining
from ..ops import shape as sh
from ..ops.checks import is_whole
from ..ops.shape import place

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
        dialect.warn(INDEXING)
    return grid(tensors, "ij" if indexing is None else indexing)


def grid(tensors: Any, indexing: str) -> tuple[Any, ...]:
    """`meshgrid` with the indexing given."""
    vectors = listed(tensors)
    if not vectors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if len({t._data.dtype for t in vectors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if any(t._data.ndim > 1 for t in vectors):
        shapes = [list(t.shape) for t in vectors]
        raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensors in the tensor list but got: {shapes}")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    turned = indexing == "xy" and len(vectors) > 1
    if turned:
        vectors[:2] = vectors[1::-1]
    shape = tuple(t._data.size for t in vectors)
    lines = ([n if j == i else 1 for j in range(len(shape))] for i, n in enumerate(shape))
    found = [F.expand(F.view(t, line), shape) for t, line in zip(vectors, lines)]
    if turned:
        found[:2] = found[1::-1]
    return tuple(found)


def listed(tensors: Any) -> list[Any]:
    """Tensors given one by one or as one sequence."""
    found = list(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors)
    check_elements(found)
    return found


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
    """Return tensors expanded to the shape to which they broadcast; those that have it as they are."""
    shape = broadcast((), *(t._data.shape for t in tensors))
    return tuple(t if t._data.shape == shape else sh.expand(t, shape) for t in tensors)


@public("function")
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Return the tensor split along `dim` into parts of a size, the last of which may be smaller.

    Args:
        input: a tensor of at least one dimension.
        split_size_or_sections: the size of each part, or a list of sizes.
        dim: the dimension.
    Shape: that of `input` with the size of the part at `dim`.
    Returns: a tuple of views.
    Raises: RuntimeError if a list of sizes does not add up.
    Derivative: the gradients of the parts, joined.
    Source: torch.split

    >>> torch.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    size = split_size_or_sections
    if is_whole(size):
        return joining.split_evenly(tensor, int(size), dim)
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not "
            f"{type(size).__name__}"
        )
    return joining.split_with_sizes(tensor, tuple(size), dim)


def chunked(tensor: Any, chunks: int, dim: int, evenly: Any, with_sizes: Any) -> Any:
    """Split a tensor into at most `chunks` parts by one of two ops; RuntimeError in PyTorch's words."""
    if tensor._data.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = -(-tensor._data.shape[place(dim, tensor._data.ndim)] // chunks)
    return evenly(tensor, size, dim) if size else with_sizes(tensor, (0,) * chunks, dim)


@public()
def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """Return the tensor split along `dim` into at most `chunks` parts of equal size.

    Args:
        input: a tensor of at least one dimension.
        chunks: how many parts.
        dim: the dimension.
    Shape: that of `input` with the size of the part at `dim`.
    Returns: a tuple of views; the last may be smaller.
    Raises: RuntimeError if `chunks` is not positive.
    Derivative: the gradients of the parts, joined.
    Source: torch.chunk

    >>> torch.arange(5).chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return chunked(input, chunks, dim, joining.split_evenly, joining.split_with_sizes)


@public()
def unsafe_chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """Return `chunk` whose parts do not know that they share memory with the tensor."""
    return chunked(input, chunks, dim, joining.unsafe_split, joining.unsafe_split_with_sizes)


@public("method", name="split")
def split_method(self, split_size: Any, dim: int = 0) -> Any:
    """Return the tensor split along `dim` into parts of a size, the last of which may be smaller.

    Args:
        split_size: the size of each part, or a list of sizes.
        dim: the dimension.
    Shape: that of the tensor, but at `dim` the size of the part.
    Returns: a tuple of views.
    Raises: RuntimeError if a list of sizes does not add up.
    Derivative: the gradients of the parts, joined.
    Source: torch.Tensor.split

    >>> torch.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    return split(self, split_size, dim)


@public("method")
def split_with_sizes(self, split_sizes: Any, dim: int = 0) -> Any:
    """Return parts of the given sizes along `dim`."""
    return joining.split_with_sizes(self, tuple(split_sizes), dim)


@public("method")
def unsafe_split_with_sizes(self, split_sizes: Any, dim: int = 0) -> Any:
    """Return `split_with_sizes` whose parts do not know that they share memory with the tensor."""
    return joining.unsafe_split_with_sizes(self, tuple(split_sizes), dim)


def checked(tensors: Any, name: str) -> tuple[Any, ...]:
    """Return the tensors; RuntimeError in PyTorch's words where there are none."""
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tuple(tensors)


@public("function", out="cast")
def hstack(tensors: Any) -> Any:
    """Return tensors side by side: along the second dimension, vectors along their only one."""
    parts = [atleast_1d(t) for t in checked(tensors, "hstack")]
    return joining.cat(parts, 0 if parts[0].ndim == 1 else 1)


@public("function", out="cast", also="row_stack")
def vstack(tensors: Any) -> Any:
    """Return tensors one below the other, along the first dimension; a vector counts as a row."""
    return joining.cat([atleast_2d(t) for t in checked(tensors, "vstack")], 0)


@public("function", out="cast")
def dstack(tensors: Any) -> Any:
    """Return tensors one behind the other, along the third dimension."""
    return joining.cat([atleast_3d(t) for t in checked(tensors, "dstack")], 2)


@public("function", out="cast")
def column_stack(tensors: Any) -> Any:
    """Return tensors side by side; a vector or number counts as a column."""
    parts = checked(tensors, "column_stack")
    return hstack([t if t.ndim > 1 else F.reshape(t, (t._data.size, 1)) for t in parts])
