"""Discrete Fourier transforms and their inverses.

`n` (of several dimensions `s`) is the length of the signal along `dim`: it is cut or filled with zeros.
`norm` says which direction divides by the number of points: "backward" (the inverse), "forward", or "ortho",
each by its square root.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import F, dtypes
from .core.devices import strided
from .core.guards import check_has_dimensions
from .creation import arange
from .left_out import refusing as _refusing
from .ops import rearranging, spectral
from .ops.shapes import place
from .tensor.binder import attach_all as _attach_all

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


# ── arguments
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def mode(norm: Any, forward: bool) -> int:
    """What the sums of this direction are divided by; RuntimeError with PyTorch's text for another name."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return spectral.BY_ROOT
    return spectral.BY_N if forward == (norm == "forward") else spectral.NOTHING


def promote(input: Any, to_complex: bool) -> Any:
    """Integers as the default float, and real numbers as complex ones where the transform takes these."""
    data = input._data
    if data.dtype.kind == "c":
        return input
    kind = data.dtype if data.dtype.kind == "f" else dtypes.get_default_dtype().numpy
    if kind == np.float16:
        raise RuntimeError(f"Unsupported dtype {dtypes.of(data).title}")
    if to_complex:
        kind = np.result_type(kind, np.complex64)
    return input if kind == data.dtype else F.to(input, kind)


def axis(dim: int, ndim: int) -> int:
    """`dim` counted from the front; IndexError with PyTorch's text, also for a tensor without dimensions."""
    check_has_dimensions(ndim, dim)
    return place(dim, ndim)


def resize(x: Any, dims: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """`x` cut, or filled with zeros at the end, to `sizes` along `dims`."""
    pad = [0] * (2 * x._data.ndim)
    for dim, n in zip(dims, sizes):
        size = x._data.shape[dim]
        if size < n:
            pad[-2 * dim - 1] = n - size
        elif size > n:
            x = F.slice(x, dim, 0, n, 1)
    return F.constant_pad_nd(x, tuple(pad)) if any(pad) else x


def shape_and_dims(input: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The length of the signal in each dimension (-1: the tensor's), and the dimensions; PyTorch's errors."""
    own, sizes, given = input._data.shape, s, dim
    dims = tuple(axis(d, len(own)) for d in given or ())
    if len(set(dims)) < len(dims):
        raise RuntimeError("FFT dims must be unique")
    if sizes is not None and given is not None and len(given) != len(sizes):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if sizes is not None and len(sizes) > len(own):
        raise RuntimeError(
            f"Got shape with {len(sizes)} values but input tensor only has {len(own)} dimensions."
        )
    if given is None:
        dims = tuple(range(len(own) - len(own if sizes is None else sizes), len(own)))
    return sizes or (-1,) * len(dims), dims


# ── transforms
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def transform(name: str, input: Any, s: Any, dim: Any, norm: Any) -> Any:
    """Return the transform of this name: with an "i" the inverse, with an "r" of real numbers or to them."""
    forward, real, several = name[0] != "i", "r" in name, name[-1] != "t"
    has_imaginary = input._data.dtype.kind == "c"
    if real and forward and has_imaginary:
        raise RuntimeError(f"{name} expects a real input tensor, but got {dtypes.of(input._data).title}")
    if not several:
        s, dim = None if s is None else (s,), (dim,)
    asked, dims = shape_and_dims(input, s, dim)
    if real and not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    sizes = [input._data.shape[d] if n == -1 else n for d, n in zip(dims, asked)]
    last = 0
    if real and not forward:
        last = 2 * (sizes[-1] - 1) if asked[-1] == -1 else sizes[-1]
        sizes[-1] = last // 2 + 1
    for n in (*sizes, *([last] if real and not forward else [])):
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")
    by, of_real = mode(norm, forward), not has_imaginary and not (real and not forward)
    x = resize(promote(input, not of_real or (several and not real)), dims, tuple(sizes))
    if last:
        return spectral._fft_c2r(x, dims, by, last)
    if real or (of_real and not several):
        made = spectral._fft_r2c(x, dims, by, real)
        return made if forward else F.conj(made)
    return spectral._fft_c2c(x, dims, by, forward)


def fft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """Return the discrete Fourier transform along `dim`: Σₜ x[t] · exp(-2πi k t / n) for each k < n."""
    return transform("fft", input, n, dim, norm)


def ifft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """Return the inverse of `fft`."""
    return transform("ifft", input, n, dim, norm)


def rfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """Return the first n/2 + 1 numbers of the `fft` of real numbers; the others are their conjugates."""
    return transform("rfft", input, n, dim, norm)


def irfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """Return the inverse of `rfft`: n real numbers; without `n` an even number of them."""
    return transform("irfft", input, n, dim, norm)


def fftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The discrete Fourier transform over the dimensions `dim`, all (or the last of them) without it."""
    return transform("fftn", input, s, dim, norm)


def ifftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """Return the inverse of `fftn`."""
    return transform("ifftn", input, s, dim, norm)


def rfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """`fftn` of real numbers, the first n/2 + 1 along the last dimension."""
    return transform("rfftn", input, s, dim, norm)


def irfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """Return the inverse of `rfftn`: real numbers."""
    return transform("irfftn", input, s, dim, norm)


def fft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`fftn` over two dimensions."""
    return transform("fft2", input, s, dim, norm)


def ifft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`ifftn` over two dimensions."""
    return transform("ifft2", input, s, dim, norm)


def rfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`rfftn` over two dimensions."""
    return transform("rfft2", input, s, dim, norm)


def irfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`irfftn` over two dimensions."""
    return transform("irfft2", input, s, dim, norm)


# ── frequencies
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def shift(input: Any, dim: Any, more: int) -> Any:
    """Rolled by half of the size (`more` = 1: rounded up) along `dim`, or all dimensions."""
    ndim = input._data.ndim
    dims = tuple(range(ndim)) if dim is None else tuple(axis(d, ndim) for d in dim)
    return rearranging.roll_op(input, tuple((input._data.shape[d] + more) // 2 for d in dims), dims)


def fftshift(input: Any, dim: Any = None) -> Any:
    """Return the results of a transform with frequency 0 in the middle."""
    return shift(input, dim, 0)


def ifftshift(input: Any, dim: Any = None) -> Any:
    """Return the inverse of `fftshift`: frequency 0 in front."""
    return shift(input, dim, 1)


def frequencies(name: str, count: int, wrapped: int, step: float, dtype: Any, requires_grad: bool) -> Any:
    """0, 1, …, `count` - 1 times `step`, and those from `wrapped` on counted from behind."""
    kind = dtype or dtypes.get_default_dtype()
    if kind.category < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    numbers = arange(count, dtype=kind)
    numbers[wrapped:] -= count
    return numbers.mul_(step).requires_grad_(requires_grad)


def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Return the frequency of each number of an `fft` of `n` points with steps of `d`: 0, 1, …, -2, -1, times
    1 / (n · d).
    """
    return frequencies("fftfreq", n, (n + 1) // 2, 1.0 / (n * d), dtype, requires_grad)


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Return the frequency of each number of an `rfft` of `n` points: 0, 1, …, n/2, times 1 / (n · d)."""
    count = n // 2 + 1
    return frequencies("rfftfreq", count, count, 1.0 / (n * d), dtype, requires_grad)


_attach_all(globals(), "fft_")

__getattr__ = _refusing("fft")
