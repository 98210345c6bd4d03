"""Functions and methods that move or repeat elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F
from ..core.public import public, shown_as
from ..core.tensor_state import numbers, wrap
from ..creation.arguments import dims as dims_of
from ..creation.arguments import integers
from ..ops import rearranging as re
from ..ops import views as vw
from ..ops.checks import is_whole
from ..ops.shape import place
from .views import flatten


@public("function")
def flip(input: Any, dims: Any) -> Any:
    """Return a copy with the elements in reverse order along `dims`.

    Args:
        input: a tensor of any shape.
        dims: the dimensions, a list or tuple.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no such dimension.
    Derivative: `g.flip(dims)`.
    Source: torch.flip

    >>> torch.flip(torch.tensor([1, 2, 3]), [0])
    tensor([3, 2, 1])
    """
    return re.flip(input, dims_of(dims))


@public()
def fliplr(input: Any) -> Any:
    """Return a copy with the second dimension in reverse order; RuntimeError for less than two dimensions."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return re.flip(input, (1,))


@public()
def flipud(input: Any) -> Any:
    """Return a copy with the first dimension in reverse order; RuntimeError for a number."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return re.flip(input, (0,))


@public()
def roll(input: Any, shifts: Any, dims: Any = ()) -> Any:
    """Return a copy with the elements shifted along `dims`; what leaves at the end comes back at the start.

    Args:
        input: a tensor of any shape.
        shifts: by how many positions, a number or one for each dimension.
        dims: the dimensions; None to shift the flattened tensor.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if `shifts` and `dims` have different lengths.
    Derivative: `g.roll(-shifts, dims)`.
    Source: torch.roll

    >>> torch.roll(torch.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    return re.roll(input, dims_of(shifts), dims_of(dims) or ())


@public()
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Return a copy turned `k` quarters of a circle in the plane of two dimensions."""
    return re.rot90(input, k, tuple(dims))


@public("function")
def tile(input: Any, dims: Any) -> Any:
    """Return a copy in which the tensor stands `dims` times along its last dimensions, or new ones
    in front.
    """
    times = dims_of(dims) or ()
    return re.repeat(input, (1,) * (input.ndim - len(times)) + times)


@public()
def repeat_interleave(
    input: Any = None, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """Return a copy with each element, or each part along `dim`, repeated.

    Args:
        input: a tensor of any shape; without it, the indices of the parts are repeated.
        repeats: how often, a number or a tensor with one number for each part.
        dim: the dimension; None for the flattened tensor.
        output_size: the size of the result along `dim`, if it is known.
    Shape: longer along `dim`; a vector without `dim`.
    Returns: a new tensor.
    Raises: RuntimeError if `repeats` does not fit the size.
    Derivative: the sum of `g` over the repetitions.
    Source: torch.repeat_interleave

    >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    if repeats is None or input is None:
        return indices_repeated(input if repeats is None else repeats, output_size)
    if dim is None:
        input, dim = flatten(input), 0
    if is_whole(repeats):
        return each_repeated(input, int(repeats), dim, output_size)
    shape = input._data.shape or (1,)
    counts = F.expand(repeats, (shape[place(dim, len(shape))],))  # one count may stand for all
    return F.index_select(input, dim, indices_repeated(counts, output_size))


def indices_repeated(repeats: Any, output_size: int | None) -> Any:
    """`0` the first number of times, `1` the second, and so on."""
    counts = numbers(repeats)
    if counts.dtype not in (np.int32, np.int64):
        title = repeats.dtype.title
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{title}'")
    if counts.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    check_size(int(counts.sum()), output_size)
    return wrap(np.repeat(np.arange(len(counts), dtype=counts.dtype), counts))


def check_size(size: int, expected: int | None) -> None:
    """RuntimeError with PyTorch's text unless the result is as long as it was said to be."""
    if expected is not None and size != expected:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {expected}")


def each_repeated(input: Any, repeats: int, dim: int, output_size: int | None) -> Any:
    """Each part along `dim` the same number of times, by the ops that PyTorch takes."""
    input = input if input.ndim else F.reshape(input, (1,))
    shape, dim = input._data.shape, place(dim, input.ndim)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    check_size(shape[dim] * repeats, output_size)
    rows = F.expand(F.unsqueeze(input, dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    return F.view(F.clone(rows, "C"), (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))


@public(out="same")
def diag(input: Any, diagonal: int = 0) -> Any:
    """Return the diagonal of a matrix, or a matrix with a vector on its diagonal.

    Args:
        input: a vector or a matrix.
        diagonal: 0 for the main diagonal; a positive number lies above it, a negative one below.
    Shape: (n,) → (n, n); (n, m) → (min(n, m),) for diagonal 0.
    Returns: a new tensor.
    Raises: RuntimeError for more than two dimensions.
    Derivative: `diag(g, diagonal)`.
    Source: torch.diag

    >>> torch.diag(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    if input.ndim == 1:
        return vw.diag_embed(input, diagonal)
    return vw.diagonal_copy(input, diagonal)


@public()
def diagflat(input: Any, offset: int = 0) -> Any:
    """Return the matrix with all elements, one after the other, on its diagonal."""
    return vw.diag_embed(F.view(input.contiguous(), (-1,)), offset)


@public("method", name="flip")
@shown_as(lambda self, dims: None)
def flip_method(self, *dims: Any) -> Any:
    """Return a copy with the elements in reverse order along `dims`.

    Args:
        dims: the dimensions, one by one or in a list.
    Shape: that of the tensor.
    Returns: a new tensor.
    Raises: IndexError if there is no such dimension.
    Derivative: `g.flip(dims)`.
    Source: torch.Tensor.flip

    >>> torch.tensor([1, 2, 3]).flip(0)
    tensor([3, 2, 1])
    """
    return re.flip(self, integers(dims))


@public("method")
def repeat(self, *repeats: Any) -> Any:
    """Return a copy in which the tensor is repeated along each dimension.

    Args:
        repeats: how often, one number for each dimension; more numbers add dimensions in front.
    Shape: each size multiplied by its number.
    Returns: a new tensor.
    Raises: RuntimeError for fewer numbers than dimensions.
    Derivative: the sum of `g` over the repetitions.
    Source: torch.Tensor.repeat

    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    return re.repeat(self, integers(repeats))


@public("method", name="tile")
@shown_as(lambda self, dims: None)
def tile_method(self, *dims: Any) -> Any:
    """Return a copy in which the tensor is repeated along its last dimensions.

    Args:
        dims: how often, one number for each of the last dimensions.
    Shape: each size multiplied by its number.
    Returns: a new tensor.
    Raises: RuntimeError for a negative number.
    Derivative: the sum of `g` over the repetitions.
    Source: torch.Tensor.tile

    >>> torch.tensor([1, 2]).tile(2)
    tensor([1, 2, 1, 2])
    """
    return tile(self, integers(dims))


@public("method")
def sum_to_size(self, *size: Any) -> Any:
    """Return the sum over the dimensions along which a tensor of that size would be broadcast to this
    one.
    """
    if not size:
        raise TypeError("no size is given")
    shape = integers(size)
    own = self._data.shape
    lead = len(own) - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, own[lead:])):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(own)}}}.")
    return self if shape == own != () else F.sum_to(self, shape)
