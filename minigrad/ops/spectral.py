"""Discrete Fourier transforms: of complex numbers, of real ones, and back to real ones.

`normalization` says what the sums are divided by, as PyTorch's nodes note it: nothing, √n or n. Each
transform is linear, and its vjp is the transform in the other direction with the same factor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, composite
from ..core.tensor_state import TensorBase
from .kernels import linear_op, reduced_in_place

NOTHING, BY_ROOT, BY_N = 0, 1, 2
# What NumPy calls them: the direction that is divided by n.
FORWARD: tuple[Any, ...] = ("backward", "ortho", "forward")
BACKWARD: tuple[Any, ...] = ("forward", "ortho", "backward")


@linear_op(self=lambda g, dim, normalization, forward: F._fft_c2c(g, dim, normalization, not forward))
def _fft_c2c(self, dim, normalization, forward):
    """Return the transform over the dimensions `dim`, or with the other sign in the exponent unless
    `forward`.
    """
    if forward:
        return np.fft.fftn(self, axes=dim, norm=FORWARD[normalization])
    return np.fft.ifftn(self, axes=dim, norm=BACKWARD[normalization])


# ── of real numbers
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def with_zeros(g: Any, dim: int, size: int) -> Any:
    """`g` with zeros after it along `dim`, up to `size`; on tensors written in place, as in PyTorch."""
    if not isinstance(g, TensorBase):
        return F.constant_pad_nd(g, (0, 0) * (len(g.shape) - dim - 1) + (0, size - g.shape[dim]), 0)
    whole = F.zeros_of(g, (*g._data.shape[:dim], size, *g._data.shape[dim + 1 :]))
    part: Any = F.slice(whole, dim, 0, g._data.shape[dim], 1)
    part.copy_(g)
    return whole


def of_real_vjp(g, self, dim, normalization, onesided):
    """Return the real part of the transform back; the half that was left out sends nothing."""
    size = self.shape[dim[-1]]
    whole = with_zeros(g, dim[-1], size) if onesided and g.shape[dim[-1]] < size else g
    return F.real(F._fft_c2c(whole, dim, normalization, False))


@linear_op(self=of_real_vjp, complexes=True)
def _fft_r2c(self, dim, normalization, onesided):
    """Return the transform of real numbers: the second half along the last of `dim`, which are the conjugates
    of the first, only unless `onesided`.
    """
    transform = np.fft.rfftn if onesided else np.fft.fftn
    return transform(self, axes=dim, norm=FORWARD[normalization])


# ── to real numbers
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def double_parts(x: Any, dim: int, count: int) -> Any:
    """Twice the `count` parts of `x`, which nobody else has, that follow the first along `dim`."""
    if not count:
        return x
    part = F.slice(x, dim, 1, 1 + count, 1)
    if isinstance(x, TensorBase):
        reduced_in_place("mul_scalar", part, 2)
        return x
    rest = x.shape[dim] - 1 - count
    return x + F.constant_pad_nd(part, (0, 0) * (len(x.shape) - dim - 1) + (1, rest), 0)


def to_real_vjp(g, dim, normalization):
    """Return the transform of the real gradient; what stands for its conjugate too counts twice."""
    half = F._fft_r2c(g, dim, normalization, True)
    return double_parts(half, dim[-1], g.shape[dim[-1]] - half.shape[dim[-1]])


@linear_op(self=to_real_vjp, complexes=True)
def _fft_c2r(self, dim, normalization, last_dim_size):
    """Return the real numbers, `last_dim_size` along the last of `dim`, of which `self` is the first half of
    the transform.
    """
    sizes = [self.shape[d] for d in dim[:-1]]
    return np.fft.irfftn(self, (*sizes, last_dim_size), axes=dim, norm=BACKWARD[normalization])
