"""Tensors cut into several, and several put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, composite, rename
from ..core.op import RAW
from ..core.tensor_state import wrap
from .kernels import linear_op, view_op
from .shape import place

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
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, t in enumerate(tensors):
        if t.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    rest = [(i, t) for i, t in enumerate(tensors) if t.shape != (0,)]
    if not rest:
        place(dim, 1)
        return tensors[0].copy()
    first = rest[0][1]
    dim = place(dim, first.ndim)
    for i, t in rest[1:]:
        if t.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {t.ndim}")
        for d in range(t.ndim):
            if d != dim and t.shape[d] != first.shape[d]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {first.shape[d]} "
                    f"but got size {t.shape[d]} for tensor number {i} in the list."
                )
    return np.concatenate([t for _, t in rest], dim)


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
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
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


# ── one cut into several
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def stacked(grads: list[Any], dim: int) -> Any:
    """Return the gradient of `unbind`: zeros where none was sent."""
    given = next(g for g in grads if g is not None)
    return F.stack([F.zeros_of(given, given.shape) if g is None else g for g in grads], dim)


@view_op(self=lambda grads, dim: stacked(grads, dim), several=True, forms="function method", out="")
def unbind(self, dim=0):
    """Return all parts along `dim` as a tuple; this dimension is removed."""
    if self.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    front = (np.s_[:],) * place(dim, self.ndim)
    return tuple(self[(*front, i, ...)] for i in range(self.shape[dim]))


def cut(self: Any, sizes: Any, dim: int) -> tuple[Any, ...]:
    """`self` in parts of these sizes along `dim`."""
    front, parts, start = (np.s_[:],) * place(dim, self.ndim), [], 0
    for n in sizes:
        parts.append(self[(*front, np.s_[start : start + n])])
        start += n
    return tuple(parts)


def even(length: int, size: int) -> list[int]:
    """The sizes of the parts when `length` is cut into parts of `size`, the last of which may be smaller."""
    return [size] * (length // size) + [length % size] * (length % size > 0) if size and length else [length]


def joined(grads: list[Any], sizes: tuple[int, ...], parts: Any, dim: int) -> Any:
    """Return the gradient of a split: zeros where none was sent."""
    dim = place(dim, len(sizes))
    given = next(g for g in grads if g is not None)
    whole = []
    for g, n in zip(grads, parts, strict=True):
        whole.append(F.zeros_of(given, (*sizes[:dim], n, *sizes[dim + 1 :])) if g is None else g)
    return F.cat(whole, dim)


def split_kernel(self: Any, split_size: int, dim: int = 0) -> tuple[Any, ...]:
    """Parts of `split_size`; RuntimeError in PyTorch's words."""
    if self.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    length = self.shape[place(dim, self.ndim)]
    if split_size == 0 and length:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}"
        )
    return cut(self, even(length, split_size), dim)


def sized_kernel(self: Any, split_sizes: Any, dim: int = 0) -> tuple[Any, ...]:
    """Parts of `split_sizes`; RuntimeError in PyTorch's words."""
    if self.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
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
    return joined(grads, self_sym_sizes, even(self_sym_sizes[dim], split_size), dim)


def sized_vjp(grads, self_sym_sizes, split_sizes, dim):
    """Return the parts in one piece."""
    return joined(grads, self_sym_sizes, split_sizes, dim)


@view_op(self=split_vjp, kernel=split_kernel, node="SplitBackward0", several=True)
def split_evenly(self, split_size, dim=0):
    """Return parts of `split_size` along `dim`, the last of which may be smaller."""


@view_op(self=sized_vjp, kernel=sized_kernel, several=True, forms="function", out="")
def split_with_sizes(self, split_sizes, dim=0):
    """Return parts of the given sizes along `dim`."""


@linear_op(self=split_vjp, kernel=split_kernel, several=True, forms="function method", out="")
def unsafe_split(self, split_size, dim=0):
    """Return `split` whose parts do not know that they share memory with `self`."""


@linear_op(self=sized_vjp, kernel=sized_kernel, several=True, forms="function", out="")
def unsafe_split_with_sizes(self, split_sizes, dim=0):
    """Return `split_with_sizes` whose parts do not know that they share memory with `self`."""


rename(split_evenly, "split")
