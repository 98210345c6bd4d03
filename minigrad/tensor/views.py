"""Functions and methods that show a tensor's memory in another way, made of the ops in `ops.shape` and
`ops.views`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import F, dialect
from ..core.call import check_edges
from ..core.public import public
from ..core.storage import Geometry, address, root, strided
from ..core.tensor_state import TensorBase, numbers, share
from ..ops import shape as sh
from ..ops import views as vw
from ..ops.checks import is_whole
from ..ops.shape import place


def whole_of(x: Any) -> Any:
    """Return an index given as a tensor, as a number."""
    if isinstance(x, TensorBase) and not x._data.ndim and x._data.dtype.kind in "iu":
        return int(numbers(x))
    return x


@public()
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Return the part of length `length` along `dim` that begins at `start`.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        start: the first index.
        length: how many.
    Shape: that of `input` with size `length` at `dim`.
    Returns: a view: it shares its memory with `input`.
    Raises: RuntimeError if the part leaves the dimension.
    Derivative: `g` in this part, else 0.
    Source: torch.narrow

    >>> torch.tensor([1, 2, 3, 4]).narrow(0, 1, 2)
    tensor([2, 3])
    """
    data = input._data
    start = whole_of(start)
    if isinstance(start, TensorBase):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    if not data.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    n = data.shape[place(dim, data.ndim)]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start += n if start < 0 else 0
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return F.slice(input, dim, start, start + length, 1)


@public()
def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Return the tensor with two dimensions exchanged: `transpose`, with NumPy's names for its parameters.

    Args:
        input: a tensor.
        axis0, axis1: the dimensions to exchange.
    Shape: that of `input` with the two sizes exchanged.
    Returns: a view.
    Raises: IndexError if a dimension is out of range.
    Source: torch.swapaxes

    >>> torch.zeros(2, 3).swapaxes(0, 1).shape
    torch.Size([3, 2])
    """
    return sh.transpose(input, axis0, axis1)


@public(also="moveaxis")
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Return some dimensions moved to other places, the rest in their order."""
    n = input._data.ndim
    sources, targets = ([x] if is_whole(x) else list(x) for x in (source, destination))
    if len(sources) != len(targets):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({sources} dims) should contain the same "
            f"number of dims as destination ({targets} dims)"
        )
    taken, put = [place(d, n) for d in sources], [place(d, n) for d in targets]
    for name, given, dims in (("source", sources, taken), ("destination", targets, put)):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({given})")
    if not n:
        return F.alias(input)
    order = dict(zip(put, taken))
    rest = iter(d for d in range(n) if d not in taken)
    return sh.permute(input, tuple(order[d] if d in order else next(rest) for d in range(n)))


@public()
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """Return the tensor with one dimension split into several.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        sizes: the new sizes; one of them may be -1.
    Shape: `sizes` instead of the size at `dim`.
    Returns: a view: it shares its memory with `input`.
    Raises: RuntimeError if the sizes do not multiply to the old one.
    Derivative: `g` in the shape of `input`.
    Source: torch.unflatten

    >>> torch.arange(4).unflatten(0, (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    data = input._data
    if not len(sizes):
        raise RuntimeError("unflatten: sizes must be non-empty")
    d = place(dim, data.ndim)
    n = data.shape[d] if data.ndim else 1
    known = math.prod(k for k in sizes if k != -1)
    if list(sizes).count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    if (known != n) if -1 not in sizes else (not known or n % known):
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({n}) in the "
            "input tensor"
        )
    inner = [n // known if k == -1 else k for k in sizes]
    return sh.view(input, (*data.shape[:d], *inner, *data.shape[d + 1 :]))


@public()
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Return the tensor with the dimensions from `start_dim` to `end_dim` merged into one.

    Args:
        input: a tensor of any shape.
        start_dim: the first of them.
        end_dim: the last of them.
    Shape: one size, the product, instead of theirs.
    Returns: a view where that is possible, else a copy; the tensor itself if there is nothing to merge.
    Raises: RuntimeError if `end_dim` lies before `start_dim`.
    Derivative: `g` in the shape of `input`.
    Source: torch.flatten

    >>> torch.flatten(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    shape = input._data.shape
    first, last = place(start_dim, len(shape)), place(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return sh.reshape(input, (1,))
    if first == last:
        return input
    return sh.reshape(input, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@public()
def ravel(input: Any) -> Any:
    """Return the tensor as a vector.

    Args:
        input: a tensor of any shape.
    Shape: (n,) for n elements.
    Returns: a view where that is possible, else a copy.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g` in the shape of `input`.
    Source: torch.ravel

    >>> torch.tensor([[1, 2], [3, 4]]).ravel()
    tensor([1, 2, 3, 4])
    """
    return sh.view(input.contiguous(), (-1,))


def origin(t: Any) -> Any:
    """Return the array in whose memory `t` lies."""
    data = t._data if t._view is None else t._view.base._data
    return data if t._storage is None else root(data)


def offset_of(t: Any) -> int:
    """How many elements of the memory come before the first of `t`."""
    if not isinstance(t._data, np.ndarray):
        return 0
    return (address(t._data) - address(origin(t))) // t._data.itemsize if t._data.size else 0


@public("function method", name="as_strided")
def as_strided_view(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """Return a part of the memory by shape, strides and offset, all in elements."""
    return F.as_strided(input, *strided_place(input, size, stride, storage_offset))


def strided_place(input: Any, size: Any, stride: Any, storage_offset: int | None) -> tuple[Any, ...]:
    """Return the arguments of `as_strided`, checked; the offset from the first element of `input` on."""
    size, stride = tuple(size), tuple(stride)
    share(input)
    own = offset_of(input)
    start = own if storage_offset is None else storage_offset
    if len(size) != len(stride) or min((start, *size, *stride)) < 0:
        raise RuntimeError(
            "as_strided: expected as many sizes as strides, and nothing negative, got "
            f"sizes={list(size)}, strides={list(stride)}, offset={start}"
        )
    try:
        strided(origin(input), Geometry(size, stride, start))
    except RuntimeError:
        check_edges([input])
        raise
    return size, stride, None if storage_offset is None else start - own


def matrices(t: Any, name: str) -> bool:
    """Whether `t` has matrices to transpose: False, with a warning, for a number; an error for a vector."""
    n = t._data.ndim
    if n == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    if n == 0:
        kind = "adjoint()" if name == "adjoint()" else f"Tensor.{name}"
        rest = "This function is the identity in these cases." if name == "mT" else "Consider using x.conj()."
        dialect.warn(f"{kind} is deprecated on 0-D tensors. {rest}")
    return n > 0


@public()
def adjoint(input: Any) -> Any:
    """Return matrices transposed and conjugated."""
    return F.conj(sh.transpose(input, -2, -1) if matrices(input, "adjoint()") else input)


def linalg_diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return the diagonals of the matrices in the last two dimensions."""
    return vw.diagonal(A, offset, dim1, dim2)
