"""Elements in other places, or several times: flips, rotations, repetitions, triangles and shuffles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, itself
from .kernels import linear_op
from .reduction import over
from .shape import place

# ── turned round
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@linear_op(self=itself)
def flip(self, dims):
    """Return a copy with the elements in reverse order along `dims`."""
    return np.flip(self, over(dims, self.ndim) if dims else ()).copy()


@linear_op(self=lambda g, shifts, dims: F.roll(g, tuple(-n for n in reversed(shifts)), tuple(reversed(dims))))
def roll(self, shifts, dims):
    """Return a copy with the elements moved on by `shifts` along `dims` (of the flattened tensor for ()),
    those that leave at the end coming in at the beginning.
    """
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and (dims or len(shifts) > 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    for d in dims:
        if not self.ndim:
            raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
        place(d, self.ndim)
    return np.roll(self, shifts, dims) if dims else np.roll(self, shifts[0])


@linear_op(self=lambda g, k, dims: F.rot90(g, -k, dims))
def rot90(self, k, dims):
    """Return a copy turned `k` quarters of a circle, from the first of two dimensions towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    if place(dims[0], self.ndim) == place(dims[1], self.ndim):
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return np.rot90(self, k, dims).copy("K")  # lies as PyTorch's


# ── repeated
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def repeat_vjp(g: Any, self_sym_sizes: Any, repeats: Any) -> Any:
    """Return the sum over all repetitions."""
    if 0 in repeats:
        return F.zeros_of(g, self_sym_sizes)
    lead = len(repeats) - len(self_sym_sizes)
    for _ in range(lead):
        g = F.sum_dim(g, (0,), False)
    sizes, summed = unfolded(self_sym_sizes, repeats[lead:])
    g = F.reshape(g, sizes)
    return F.sum_dim(g, summed, False) if summed else g


def unfolded(sizes: Any, repeats: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of a repeated tensor with each repetition in a dimension of its own, and which these are."""
    shape: list[int] = []
    added: list[int] = []
    for times, n in zip(repeats, sizes, strict=True):
        if times != 1:
            added.append(len(shape))
            shape.append(times)
        shape.append(n)
    return tuple(shape), tuple(added)


@linear_op(self=repeat_vjp)
def repeat(self, repeats):
    """Return a copy in which the whole tensor stands `repeats` times along each dimension, new ones
    in front.
    """
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    if repeats and min(repeats) < 0:
        sizes = [n * m for n, m in zip(repeats, shape)]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {sizes}")
    return np.tile(self, repeats)[()]


# ── triangles
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_matrix(self: Any, name: str) -> None:
    """RuntimeError with PyTorch's text for less than two dimensions."""
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@linear_op(self=itself, forms="function method method_", out="same")
def tril(self, diagonal=0):
    """Return the lower triangle of a matrix, or of each matrix in a batch, with 0 above the diagonal.

    Args:
        input: a tensor of at least two dimensions.
        diagonal: 0 for the main diagonal; a positive number lies above it, a negative one below.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError for fewer than two dimensions.
    Derivative: `tril(g, diagonal)`.
    Source: torch.tril

    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    check_matrix(self, "tril")
    return np.tril(self, diagonal)


@linear_op(self=itself, forms="function method method_", out="same")
def triu(self, diagonal=0):
    """Return the upper triangle of a matrix, or of each matrix in a batch, with 0 below the diagonal.

    Args:
        input: a tensor of at least two dimensions.
        diagonal: 0 for the main diagonal; a positive number lies above it, a negative one below.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError for fewer than two dimensions.
    Derivative: `triu(g, diagonal)`.
    Source: torch.triu

    >>> torch.triu(torch.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    check_matrix(self, "triu")
    return np.triu(self, diagonal)


# ── images
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_image(self: Any, name: str, factor: int, word: str) -> None:
    """RuntimeError with PyTorch's text for less than three dimensions or a factor that is not positive."""
    if self.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {self.ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {word}, but got {factor}")


@linear_op(self=lambda g, upscale_factor: F.pixel_unshuffle(g, upscale_factor), forms="function", out="")
def pixel_shuffle(self, upscale_factor):
    """Return images of shape (…, C·r², H, W) as (…, C, H·r, W·r) for the factor r: channels become
    neighbors.
    """
    r = upscale_factor
    check_image(self, "pixel_shuffle", r, "upscale_factor")
    *lead, c, h, w = self.shape
    if c % r**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={c} is not divisible by {r**2}"
        )
    blocks = self.reshape(*lead, c // r**2, r, r, h, w)
    n = len(lead)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return blocks.transpose(order).reshape(*lead, c // r**2, h * r, w * r).copy()


@linear_op(self=lambda g, downscale_factor: F.pixel_shuffle(g, downscale_factor), forms="function", out="")
def pixel_unshuffle(self, downscale_factor):
    """Return images of shape (…, C, H·r, W·r) as (…, C·r², H, W) for the factor r: neighbors become
    channels.
    """
    r = downscale_factor
    check_image(self, "pixel_unshuffle", r, "downscale_factor")
    *lead, c, h, w = self.shape
    for name, size in (("height", h), ("width", w)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({-2 if name == 'height' else -1})={size} is not divisible by {r}"
            )
    blocks = self.reshape(*lead, c, h // r, r, w // r, r)
    n = len(lead)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return blocks.transpose(order).reshape(*lead, c * r**2, h // r, w // r).copy()
