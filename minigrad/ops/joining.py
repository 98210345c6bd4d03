"""Splitting tensors, and joining several into one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..core import F, composite, dialect, rename
from ..core.guards import (
    broadcast,
    check_elements,
    check_has_dimensions,
    check_integers,
    check_not_empty,
    check_not_number,
    is_integer,
)
from ..core.op import RAW
from ..core.public import public
from ..core.tensor_state import wrap
from . import shapes as sh
from .kernels import linear_op, view_op
from .shapes import place

# ─── Tensors cut into several, and several put together


# ── several put together
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def pieces(g, tensors_sym_sizes, tensors_scalar_type, dim):
    """`g` cut along `dim` into parts of the tensors' sizes, the real part for real tensors; what was left
    out of `cat` gets zeros.
    """
    parts, start = [], 0
    dim = place(dim, len(g.shape))
    whole = g
    for size, kind in zip(tensors_sym_sizes, tensors_scalar_type, strict=True):
        g = whole if kind.kind == "c" else F.real(whole)
        if size == (0,) and len(g.shape) != 1:
            parts.append(F.zeros_of(g, size))
            continue
        parts.append(F.slice(g, dim, start, start + size[dim], 1))
        start += size[dim]
    return parts


@linear_op(tensors=pieces, listed=True, forms="function", also="concat concatenate")
def cat(tensors, dim=0):
    """Return tensors joined along a dimension that they have; empty vectors are skipped.

    Args:
        tensors: a list or tuple of tensors that agree in all other sizes.
        dim: the dimension along which they are joined.
    Shape: the sizes along `dim` add up.
    Returns: a new tensor.
    Raises: RuntimeError if other sizes differ. ValueError if the list is empty.
    Derivative: each tensor receives its part of `g`.
    Source: torch.cat

    >>> torch.cat([torch.tensor([1, 2]), torch.tensor([3])])
    tensor([1, 2, 3])
    """
    check_joined(tensors)
    rest = [(i, t) for i, t in enumerate(tensors) if t.shape != (0,)]
    if not rest:
        place(dim, 1)
        return tensors[0].copy()
    dim = place(dim, rest[0][1].ndim)
    check_other_sizes(rest, dim)
    return np.concatenate([t for _, t in rest], dim)


def check_joined(tensors: Any) -> None:
    """PyTorch's errors for no tensors, and for one without dimensions."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, t in enumerate(tensors):
        if t.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")


def check_other_sizes(numbered: list[tuple[int, Any]], dim: int) -> None:
    """RuntimeError with PyTorch's text unless numbered tensors agree in all sizes but that along `dim`."""
    first = numbered[0][1]
    for i, t in numbered[1:]:
        if t.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {t.ndim}")
        for d in range(t.ndim):
            if d != dim and t.shape[d] != first.shape[d]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {first.shape[d]} "
                    f"but got size {t.shape[d]} for tensor number {i} in the list."
                )


@linear_op(
    tensors=lambda g, tensors_sym_sizes, dim: [F.select(g, dim, i) for i in range(len(tensors_sym_sizes))],
    listed=True,
    forms="function",
)
def stack(tensors, dim=0):
    """Return tensors of one shape side by side along a new dimension.

    Args:
        tensors: a list or tuple of tensors of the same shape.
        dim: the position of the new dimension.
    Shape: n tensors of shape (*) → (*) with a dimension of size n at `dim`.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes differ or the list is empty.
    Derivative: each tensor receives its part of `g`.
    Source: torch.stack

    >>> torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    check_not_empty(tensors, "stack")
    place(dim, tensors[0].ndim + 1)
    for i, t in enumerate(tensors):
        if t.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 "
                f"and {list(t.shape)} at entry {i}"
            )
    return np.stack(tensors, dim)


@composite
def zeros_of(g: Any, size: tuple[int, ...]) -> Any:
    """Zeros of shape `size` in the dtype of `g`."""
    return np.zeros(size, g.dtype)[()] if isinstance(g, RAW) else wrap(np.zeros(size, g._data.dtype)[()])


def diagonal_blocks(g, tensors_sym_sizes, tensors_scalar_type):
    """The blocks of `g` in the shapes of the tensors, the real part for real tensors."""
    parts, row, column = [], 0, 0
    for size, kind in zip(tensors_sym_sizes, tensors_scalar_type, strict=True):
        height, width = (1, 1, *size)[-2:]
        block = g if kind.kind == "c" else F.real(g)
        block = F.slice(F.slice(block, 0, row, row + height, 1), 1, column, column + width, 1)
        for _ in range(2 - len(size)):
            block = F.squeeze_dim(block, -1)
        parts.append(F.sum_to(block, size) if size else block)
        row, column = row + height, column + width
    return parts


@linear_op(name="block_diag", tensors=diagonal_blocks, listed=True)
def block_diag_op(tensors):
    """Return a matrix with these matrices along its diagonal, and zeros elsewhere."""
    for i, t in enumerate(tensors):
        if t.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.ndim} "
                "dimensions"
            )
    blocks = [np.atleast_2d(t) for t in tensors]
    shape = tuple(np.sum([b.shape for b in blocks], 0))
    out, row, column = np.zeros(shape, np.result_type(*blocks)), 0, 0
    for b in blocks:
        height, width = b.shape
        out[row : row + height, column : column + width] = b
        row, column = row + height, column + width
    return out


# ── one cut into several
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def stack_gradients(grads: list[Any], dim: int) -> Any:
    """Return the gradient of `unbind`: zeros where none was sent."""
    given = next(g for g in grads if g is not None)
    return F.stack([F.zeros_of(given, given.shape) if g is None else g for g in grads], dim)


@view_op(self=lambda grads, dim: stack_gradients(grads, dim), several=True, forms="function method", out="")
def unbind(self, dim=0):
    """Return all parts along `dim` as a tuple; this dimension is removed."""
    check_has_dimensions(self.ndim)
    front = (np.s_[:],) * place(dim, self.ndim)
    return tuple(self[(*front, i, ...)] for i in range(self.shape[dim]))


def cut(self: Any, sizes: Any, dim: int) -> tuple[Any, ...]:
    """`self` in parts of these sizes along `dim`."""
    front, parts, start = (np.s_[:],) * place(dim, self.ndim), [], 0
    for n in sizes:
        parts.append(self[(*front, np.s_[start : start + n])])
        start += n
    return tuple(parts)


def even_sizes(length: int, size: int) -> list[int]:
    """The sizes of the parts when `length` is cut into parts of `size`, the last of which may be smaller."""
    return [size] * (length // size) + [length % size] * (length % size > 0) if size and length else [length]


def join_gradients(grads: list[Any], sizes: tuple[int, ...], parts: Any, dim: int) -> Any:
    """Return the gradient of a split: zeros where none was sent."""
    dim = place(dim, len(sizes))
    given = next(g for g in grads if g is not None)
    whole = []
    for g, n in zip(grads, parts, strict=True):
        whole.append(F.zeros_of(given, (*sizes[:dim], n, *sizes[dim + 1 :])) if g is None else g)
    return F.cat(whole, dim)


def split_kernel(self: Any, split_size: int, dim: int = 0) -> tuple[Any, ...]:
    """Parts of `split_size`; RuntimeError in PyTorch's words."""
    check_not_number(self, "split")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    length = self.shape[place(dim, self.ndim)]
    if split_size == 0 and length:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}"
        )
    return cut(self, even_sizes(length, split_size), dim)


def sized_kernel(self: Any, split_sizes: Any, dim: int = 0) -> tuple[Any, ...]:
    """Parts of `split_sizes`; RuntimeError in PyTorch's words."""
    check_not_number(self, "split")
    length = self.shape[place(dim, self.ndim)]
    if any(n < 0 for n in split_sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_sizes)}"
        )
    if sum(split_sizes) != length:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    return cut(self, split_sizes, dim)


def split_vjp(grads, self_sym_sizes, split_size, dim):
    """Return the parts in one piece."""
    return join_gradients(grads, self_sym_sizes, even_sizes(self_sym_sizes[dim], split_size), dim)


def sized_vjp(grads, self_sym_sizes, split_sizes, dim):
    """Return the parts in one piece."""
    return join_gradients(grads, self_sym_sizes, split_sizes, dim)


@view_op(self=split_vjp, kernel=split_kernel, node="SplitBackward0", several=True)
def split_evenly(self, split_size, dim=0):
    """Return parts of `split_size` along `dim`, the last of which may be smaller."""


@view_op(name="split_with_sizes", self=sized_vjp, kernel=sized_kernel, several=True, forms="function", out="")
def split_with_sizes_op(self, split_sizes, dim=0):
    """Return parts of the given sizes along `dim`."""


@linear_op(self=split_vjp, kernel=split_kernel, several=True, forms="function method", out="")
def unsafe_split(self, split_size, dim=0):
    """Return `split` whose parts do not know that they share memory with `self`."""


@linear_op(
    name="unsafe_split_with_sizes",
    self=sized_vjp,
    kernel=sized_kernel,
    several=True,
    forms="function",
    out="",
)
def unsafe_split_with_sizes_op(self, split_sizes, dim=0):
    """Return `split_with_sizes_op` whose parts do not know that they share memory with `self`."""


rename(split_evenly, "split")


# ─── Splitting a tensor into views, stacking tensors, grids, and broadcasting


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
        dialect.warn_of_dialect(INDEXING)
    return grid(tensors, "ij" if indexing is None else indexing)


def grid(tensors: Any, indexing: str) -> tuple[Any, ...]:
    """`meshgrid` with the indexing given."""
    vectors = as_tensor_list(tensors)
    check_not_empty(vectors, "meshgrid")
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


def as_tensor_list(tensors: Any) -> list[Any]:
    """Tensors given one by one or as one sequence."""
    found = list(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors)
    check_elements(found)
    return found


@public("function")
def block_diag(*tensors: Any) -> Any:
    """Return a matrix with the given matrices along its diagonal, and zeros elsewhere.

    Args:
        tensors: matrices, vectors (as one row) or scalars.
    Shape: the sum of the heights, and that of the widths.
    Returns: a new tensor in the common dtype.
    Raises: RuntimeError if a tensor has more than two dimensions.
    Derivative: each tensor receives its block of `g`.
    Source: torch.block_diag

    >>> torch.block_diag(torch.tensor([1, 2]), torch.tensor([[3], [4]]))
    tensor([[1, 2, 0],
            [0, 0, 3],
            [0, 0, 4]])
    """
    if not tensors:
        return wrap(np.zeros((1, 0), np.float32))
    return F.block_diag(as_tensor_list((tensors,)))


def check_vector(t: Any) -> Any:
    """`t` itself; RuntimeError with PyTorch's text unless it has one dimension."""
    if t._data.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(t._data.shape)}")
    return t


@public("function")
def cartesian_prod(*tensors: Any) -> Any:
    """Return every way to take one element of each vector, a row each; the last changes fastest.

    Args:
        tensors: vectors of one dtype.
    Shape: n vectors of lengths (a, b, …) → (a · b · …, n); one vector as it is.
    Returns: a new tensor; one vector itself.
    Raises: RuntimeError if a tensor is not a vector.
    Derivative: the sum of `g` over the rows that have the element.
    Source: torch.cartesian_prod

    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    vectors = [check_vector(t) for t in as_tensor_list((tensors,))]
    if len(vectors) == 1:
        return vectors[0]
    return F.stack([sh.reshape(t, (t._data.size,)) for t in grid(vectors, "ij")], 1)


@public("function")
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """Return every way to choose `r` elements of a vector in order, a row each.

    Args:
        input: a vector.
        r: how many elements are chosen.
        with_replacement: whether an element may be chosen several times.
    Shape: (n) → (number of ways, r).
    Returns: a new tensor.
    Raises: RuntimeError if `input` is not a vector or `r` is negative.
    Derivative: the sum of `g` over the places of the element.
    Source: torch.combinations

    >>> torch.combinations(torch.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    check_vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.zeros(0, input._data.dtype))
    indices = np.indices((input._data.size,) * r)
    chosen = [a <= b if with_replacement else a < b for a, b in pairwise(indices)]
    mask = wrap(np.all(chosen, 0) if chosen else np.ones(input._data.shape, bool))
    return F.stack([F.masked_select(t, mask) for t in grid([input] * r, "ij")], 1)


def at_least(n: int, tensors: tuple[Any, ...]) -> Any:
    """`atleast_1d` to `atleast_3d`: of one tensor, or of several as a tuple."""
    many = len(tensors) == 1 and isinstance(tensors[0], (tuple, list))
    given = tuple(tensors[0]) if many else tensors
    results = tuple(raise_dims(t, n) for t in given)
    return results if many or len(results) != 1 else results[0]


def raise_dims(t: Any, n: int) -> Any:
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
    if is_integer(size):
        return split_evenly(tensor, int(size), dim)
    check_integers("split_with_sizes", "split_sizes", size, 2)
    return split_with_sizes_op(tensor, tuple(size), dim)


def chunk_by(tensor: Any, chunks: int, dim: int, evenly: Any, with_sizes: Any) -> Any:
    """Split a tensor into at most `chunks` parts by one of two ops; RuntimeError in PyTorch's words."""
    check_not_number(tensor._data, "chunk")
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
    return chunk_by(input, chunks, dim, split_evenly, split_with_sizes_op)


@public()
def unsafe_chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """Return the parts of `chunk`, but not registered as views that share memory with the tensor."""
    return chunk_by(input, chunks, dim, unsafe_split, unsafe_split_with_sizes_op)


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
    return split_with_sizes_op(self, tuple(split_sizes), dim)


@public("method")
def unsafe_split_with_sizes(self, split_sizes: Any, dim: int = 0) -> Any:
    """Return `split_with_sizes` whose parts do not know that they share memory with the tensor."""
    return unsafe_split_with_sizes_op(self, tuple(split_sizes), dim)


@public("function", out="cast")
def hstack(tensors: Any) -> Any:
    """Return tensors side by side: along the second dimension, vectors along their only one."""
    check_not_empty(tensors, "hstack")
    parts = [atleast_1d(t) for t in tensors]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


@public("function", out="cast", also="row_stack")
def vstack(tensors: Any) -> Any:
    """Return tensors one below the other, along the first dimension; a vector counts as a row."""
    check_not_empty(tensors, "vstack")
    return cat([atleast_2d(t) for t in tensors], 0)


@public("function", out="cast")
def dstack(tensors: Any) -> Any:
    """Return tensors one behind the other, along the third dimension."""
    check_not_empty(tensors, "dstack")
    return cat([atleast_3d(t) for t in tensors], 2)


@public("function", out="cast")
def column_stack(tensors: Any) -> Any:
    """Return tensors side by side; a vector or number counts as a column."""
    check_not_empty(tensors, "column_stack")
    return hstack([t if t.ndim > 1 else F.reshape(t, (t._data.size, 1)) for t in tensors])
