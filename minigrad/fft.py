"""Discrete Fourier transforms and their inverses.

`n` (of several dimensions `s`) is the length of the signal along `dim`: it is cut or filled with zeros.
`norm` says which direction divides by the number of points: "backward" (the inverse), "forward", or "ortho",
each by its square root.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from . import dtypes
from .creation import arange
from .devices import strided
from .explained import attach_all as _attach_all
from .op import F
from .ops import rearranging, spectral
from .tensor.products import must_be_tensors

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn",
    "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq",
    "rfftn",
]  # fmt: skip


# ── arguments
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def transform(function: Any) -> Any:
    """TypeError with PyTorch's text unless the first argument is a tensor."""

    @functools.wraps(function)
    def checked(input: Any, *args: Any, **kwargs: Any) -> Any:
        must_be_tensors("fft_" + function.__name__, input=input)
        return function(input, *args, **kwargs)

    return checked


def mode(norm: Any, forward: bool) -> int:
    """What the sums of this direction are divided by; RuntimeError with PyTorch's text for another name."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return spectral.BY_ROOT
    return spectral.BY_N if forward == (norm == "forward") else spectral.NOTHING


def promoted(input: Any, to_complex: bool) -> Any:
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


def refuse_complex(name: str, input: Any, word: str) -> None:
    """RuntimeError with PyTorch's text."""
    kind = dtypes.of(input._data)
    if kind.is_complex:
        raise RuntimeError(f"{name} expects a {word} input tensor, but got {kind.title}")


def axis(dim: int, ndim: int) -> int:
    """`dim` counted from the front; IndexError with PyTorch's text, also for a tensor without dimensions."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})"
        )
    return dim % ndim


def check_points(n: int) -> None:
    """RuntimeError with PyTorch's text unless there is a point to transform."""
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


def resized(x: Any, dims: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """`x` cut, or filled with zeros at the end, to `sizes` along `dims`."""
    pad = [0] * (2 * x._data.ndim)
    for dim, n in zip(dims, sizes):
        size = x._data.shape[dim]
        if size < n:
            pad[-2 * dim - 1] = n - size
        elif size > n:
            x = F.slice(x, dim, 0, n, 1)
    return F.constant_pad_nd(x, tuple(pad)) if any(pad) else x


def listed(x: Any) -> tuple[int, ...] | None:
    """An int or several of them as a tuple."""
    return x if x is None else (x,) if isinstance(x, int) else tuple(x)


def shape_and_dims(input: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The length of the signal in each dimension, and the dimensions; PyTorch's errors."""
    own = input._data.shape
    sizes, given = listed(s), listed(dim)
    dims = tuple(axis(d, len(own)) for d in given or ())
    if len(set(dims)) < len(dims):
        raise RuntimeError("FFT dims must be unique")
    if sizes is not None:
        if given is not None and len(given) != len(sizes):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(sizes) > len(own):
            raise RuntimeError(
                f"Got shape with {len(sizes)} values but input tensor only has {len(own)} dimensions."
            )
    if given is None:
        dims = tuple(range(len(own) - len(own if sizes is None else sizes), len(own)))
    asked = sizes or (-1,) * len(dims)
    sizes = tuple(own[d] if n == -1 else n for d, n in zip(dims, asked))
    for n in sizes:
        check_points(n)
    return sizes, dims


def half_shape_and_dims(name: str, input: Any, s: Any, dim: Any) -> tuple[Any, tuple[int, ...], int]:
    """The same for what is half of a transform, and how many real numbers there are along the last of these
    dimensions.
    """
    sizes, dims = shape_and_dims(input, s, dim)
    if not sizes:
        raise RuntimeError(f"{name} must transform at least one axis")
    asked = listed(s)
    inferred = asked is None or asked[-1] == -1
    last = 2 * (input._data.shape[dims[-1]] - 1) if inferred else sizes[-1]
    check_points(last)
    return (*sizes[:-1], last // 2 + 1), dims, last


# ── over one dimension
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def of_complex(input: Any, n: Any, dim: int, norm: Any, forward: bool) -> Any:
    """`fft` or `ifft` of complex numbers."""
    x = promoted(input, True)
    place = axis(dim, x._data.ndim)
    check_points(x._data.shape[place] if n is None else n)
    x = x if n is None else resized(x, (place,), (n,))
    return spectral._fft_c2c(x, (place,), mode(norm, forward), forward)


def of_real(name: str, input: Any, n: Any, dim: int, norm: Any, forward: bool, onesided: bool) -> Any:
    """The transform of real numbers; of the inverse one the conjugate, which is the same."""
    refuse_complex(name, input, "real")
    x = promoted(input, False)
    place = axis(dim, x._data.ndim)
    check_points(x._data.shape[place] if n is None else n)
    x = x if n is None else resized(x, (place,), (n,))
    made = spectral._fft_r2c(x, (place,), mode(norm, forward), onesided)
    return made if forward else F.conj(made)


def to_real(input: Any, n: Any, dim: int, norm: Any, forward: bool) -> Any:
    """The real numbers of which `input` is half of the transform, or for `forward` the conjugates of it."""
    x = promoted(input, True)
    place = axis(dim, x._data.ndim)
    last = 2 * (x._data.shape[place] - 1) if n is None else n
    check_points(last)
    x = x if n is None else resized(x, (place,), (n // 2 + 1,))
    return spectral._fft_c2r(F.conj(x) if forward else x, (place,), mode(norm, forward), last)


def is_complex(x: Any) -> bool:
    """Whether a tensor holds complex numbers."""
    return x._data.dtype.kind == "c"


@transform
def fft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The discrete Fourier transform along `dim`: Σₜ x[t] · exp(-2πi k t / n) for each k < n."""
    if is_complex(input):
        return of_complex(input, n, dim, norm, True)
    return of_real("fft", input, n, dim, norm, True, False)


@transform
def ifft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of `fft`."""
    if is_complex(input):
        return of_complex(input, n, dim, norm, False)
    return of_real("ifft", input, n, dim, norm, False, False)


@transform
def rfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The first n/2 + 1 numbers of the `fft` of real numbers; the others are their conjugates."""
    return of_real("rfft", input, n, dim, norm, True, True)


@transform
def irfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of `rfft`: n real numbers; without `n` an even number of them."""
    return to_real(input, n, dim, norm, False)


@transform
def hfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The transform, of n real numbers, of a signal whose second half are the conjugates of the first, which
    is `input`.
    """
    return to_real(input, n, dim, norm, True)


@transform
def ihfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of `hfft`: the first n/2 + 1 numbers of the `ifft` of real numbers."""
    return of_real("ihfft", input, n, dim, norm, False, True)


# ── over several dimensions
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def of_complex_nd(input: Any, s: Any, dim: Any, norm: Any, forward: bool) -> Any:
    """`fftn` or `ifftn`."""
    sizes, dims = shape_and_dims(input, s, dim)
    x = resized(promoted(input, True), dims, sizes)
    return spectral._fft_c2c(x, dims, mode(norm, forward), forward)


@transform
def fftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The discrete Fourier transform over the dimensions `dim`, all (or the last of them) without it."""
    return of_complex_nd(input, s, dim, norm, True)


@transform
def ifftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of `fftn`."""
    return of_complex_nd(input, s, dim, norm, False)


@transform
def rfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """`fftn` of real numbers, the first n/2 + 1 along the last dimension."""
    refuse_complex("rfftn", input, "real-valued")
    sizes, dims = shape_and_dims(input, s, dim)
    if not sizes:
        raise RuntimeError("rfftn must transform at least one axis")
    return spectral._fft_r2c(resized(promoted(input, False), dims, sizes), dims, mode(norm, True), True)


@transform
def irfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of `rfftn`: real numbers."""
    sizes, dims, last = half_shape_and_dims("irfftn", input, s, dim)
    return spectral._fft_c2r(resized(promoted(input, True), dims, sizes), dims, mode(norm, False), last)


@transform
def hfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """`hfft` along the last dimension of the `fftn` over the others."""
    sizes, dims, last = half_shape_and_dims("hfftn", input, s, dim)
    x = resized(promoted(input, True), dims, sizes)
    if len(dims) > 1:
        x = spectral._fft_c2c(x, dims[:-1], mode(norm, True), True)
    return spectral._fft_c2r(F.conj(x), dims[-1:], mode(norm, True), last)


@transform
def ihfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of `hfftn`: the first n/2 + 1 numbers along the last dimension."""
    sizes, dims = shape_and_dims(input, s, dim)
    if not sizes:
        raise RuntimeError("ihfftn must transform at least one axis")
    x = resized(promoted(input, False), dims, sizes)
    made = spectral._fft_r2c(x, dims[-1:], mode(norm, False), True)
    if len(dims) == 1:
        return F.conj(made)
    return spectral._fft_c2c(F.conj_physical(made), dims[:-1], mode(norm, False), False)


@transform
def fft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`fftn` over two dimensions."""
    return fftn(input, s, dim, norm)


@transform
def ifft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`ifftn` over two dimensions."""
    return ifftn(input, s, dim, norm)


@transform
def rfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`rfftn` over two dimensions."""
    return rfftn(input, s, dim, norm)


@transform
def irfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`irfftn` over two dimensions."""
    return irfftn(input, s, dim, norm)


@transform
def hfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`hfftn` over two dimensions."""
    return hfftn(input, s, dim, norm)


@transform
def ihfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """`ihfftn` over two dimensions."""
    return ihfftn(input, s, dim, norm)


# ── frequencies
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def shifted(input: Any, dim: Any, more: int) -> Any:
    """Rolled by half of the size (`more` = 1: rounded up) along `dim`, or all dimensions."""
    ndim = input._data.ndim
    dims = tuple(range(ndim)) if dim is None else tuple(axis(d, ndim) for d in listed(dim) or ())
    return rearranging.roll(input, tuple((input._data.shape[d] + more) // 2 for d in dims), dims)


@transform
def fftshift(input: Any, dim: Any = None) -> Any:
    """The results of a transform with frequency 0 in the middle."""
    return shifted(input, dim, 0)


@transform
def ifftshift(input: Any, dim: Any = None) -> Any:
    """The inverse of `fftshift`: frequency 0 in front."""
    return shifted(input, dim, 1)


def frequencies(name: str, count: int, wrapped: int, step: float, dtype: Any, requires_grad: bool) -> Any:
    """0, 1, …, `count` - 1 times `step`, and those from `wrapped` on counted from behind."""
    kind = dtype or dtypes.get_default_dtype()
    if kind.category < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    numbers = arange(count, dtype=kind)
    numbers[wrapped:] -= count
    return numbers.mul_(step).requires_grad_(requires_grad)


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """The frequency of each number of an `fft` of `n` points with steps of `d`: 0, 1, …, -2, -1, times
    1 / (n · d).
    """
    return frequencies("fftfreq", n, (n + 1) // 2, 1.0 / (n * d), dtype, requires_grad)


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """The frequency of each number of an `rfft` of `n` points: 0, 1, …, n/2, times 1 / (n · d)."""
    count = n // 2 + 1
    return frequencies("rfftfreq", count, count, 1.0 / (n * d), dtype, requires_grad)


_attach_all(globals(), "fft_")
