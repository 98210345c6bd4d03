"""The transform of a signal piece by piece, and back."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..dtypes import of
from ..op import F
from ..ops.shape import place
from ..ops.spectral import BY_N, BY_ROOT, NOTHING, _fft_c2c, _fft_c2r, _fft_r2c
from ..tensor_base import TensorBase, numbers
from .products import must_be_tensors

NO_WINDOW = "A window was not provided. A rectangular window will be applied"
HOW_TO_SUPPRESS = (
    "To suppress this warning and use a rectangular window, explicitly set "
    "`window=torch.ones(n_fft, device=<device>)`."
)
COMPLEX_WINDOW = "Cannot have onesided output if window or input is complex"


def called(name: str, input: Any, window: Any, **given: Any) -> str:
    """A call as PyTorch's errors write it."""
    size = ", ".join(map(str, input._data.shape))
    shown = "None"
    if window is not None:
        shown = f"{of(window._data).type_name}{{{list(window._data.shape)}}}"
    rest = {"window": shown, **given}
    order = ("n_fft", "hop_length", "win_length", "window", *(n for n in given))
    text = ", ".join(f"{n}={number(rest[n])}" for n in dict.fromkeys(order))
    return f"{name}({of(input._data).type_name}[{size}], {text})"


def number(value: Any) -> Any:
    """A truth value as 0 or 1."""
    return int(value) if isinstance(value, bool) else value


# ── forward
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def with_borders(input: Any, n: int, mode: str) -> Any:
    """A signal with `n` more points on both sides."""
    data = input._data
    x = F.view(input, (*(1,) * (3 - data.ndim), *data.shape))
    if mode == "constant":
        x = F.constant_pad_nd(x, (n, n), 0.0)
    elif mode == "circular":
        size = data.shape[-1]
        x = F.cat([F.slice(x, -1, size - n, size, 1), x, F.slice(x, -1, 0, n, 1)], -1)
    elif mode in ("reflect", "replicate"):
        x = F.reflection_pad1d(x, (n, n)) if mode == "reflect" else F.replication_pad1d(x, (n, n))
    else:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return F.view(x, x._data.shape[3 - data.ndim :])


def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The Fourier transforms of pieces of `n_fft` points of a signal (of each in a batch), `hop_length` apart
    and weighted by `window`: (…, frequencies, pieces). With `center` the pieces are centered on multiples of
    `hop_length`, for which the signal is continued at both ends.
    """
    must_be_tensors("stft", input=input)
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        input = with_borders(input, n_fft // 2, pad_mode)
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    is_complex = any(x is not None and x._data.dtype.kind == "c" for x in (input, window))
    return_complex = whether_complex(return_complex, is_complex)
    check_stft(
        input,
        window,
        n_fft=n_fft,
        hop_length=hop,
        win_length=width,
        normalized=normalized,
        onesided=onesided,
        return_complex=return_complex,
        align_to_window=align_to_window,
    )
    x = F.unsqueeze(input, 0) if input._data.ndim == 1 else input
    missing = n_fft - width
    if align_to_window and missing:
        x = F.constant_pad_nd(x, (missing // 2, missing - missing // 2), 0.0)
    out = transformed(pieces(x, n_fft, hop), widened(window, width, n_fft, x), normalized, onesided)
    out.transpose_(1, 2)
    if input._data.ndim == 1:
        out.squeeze_(0)
    return out if return_complex else F.view_as_real(out)


def whether_complex(return_complex: bool | None, is_complex: bool) -> bool:
    """Whether the result shall be complex: of real numbers it must be said."""
    if return_complex is None and not is_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require "
            "that return_complex=True in a future PyTorch release."
        )
    return return_complex is None or return_complex


def check_stft(input: Any, window: Any, **given: Any) -> None:
    """RuntimeError with PyTorch's text for arguments that do not go together; a warning without a window."""
    start = called("stft", input, window, **given) + " : expected "
    shape, n, width = input._data.shape, given["n_fft"], given["win_length"]
    if of(input._data).category < 2:
        raise RuntimeError(start + "a tensor of floating point or complex values")
    if len(shape) not in (1, 2):
        raise RuntimeError(start + "a 1D or 2D tensor")
    if not 0 < n <= shape[-1]:
        raise RuntimeError(f"{start}0 < n_fft < {shape[-1]}, but got n_fft={n}")
    if given["hop_length"] <= 0:
        raise RuntimeError(f"{start}hop_length > 0, but got hop_length={given['hop_length']}")
    if not 0 < width <= n:
        raise RuntimeError(f"{start}0 < win_length <= n_fft, but got win_length={width}")
    if window is None:
        warnings.warn(
            f"{NO_WINDOW},which is known to cause spectral leakage. {HOW_TO_SUPPRESS}", stacklevel=3
        )
    elif window._data.shape != (width,):
        raise RuntimeError(
            f"{start}a 1D window tensor of size equal to win_length={width}, but got window with size "
            f"{list(window._data.shape)}"
        )


def pieces(x: Any, n: int, hop: int) -> Any:
    """Overlapping pieces of `n` points of each signal of a batch, as a view: (batch, pieces, n)."""
    batch, size = x._data.shape
    step, one = (s // x._data.itemsize for s in x._data.strides)
    return F.as_strided(x, (batch, 1 + (size - n) // hop, n), (step, hop * one, one), None)


def widened(window: Any, width: int, n: int, x: Any) -> Any:
    """The window with zeros on both sides, up to `n` points; None if it would be all 1."""
    if width == n:
        return window
    left = (n - width) // 2
    whole = (x if window is None else window).new_zeros((n,))
    inside = F.slice(whole, 0, left, left + width, 1)
    inside.fill_(1) if window is None else inside.copy_(window)
    return whole


def transformed(x: Any, window: Any, normalized: bool, onesided: bool | None) -> Any:
    """The transforms of all pieces, weighted; the second half, of real numbers, only unless `onesided`."""
    x = x if window is None else F.mul(x, window)
    mode = BY_ROOT if normalized else NOTHING
    if x._data.dtype.kind != "c":
        return _fft_r2c(x, (2,), mode, True if onesided is None else onesided)
    if onesided:
        raise RuntimeError(COMPLEX_WINDOW)
    return _fft_c2c(x, (2,), mode, True)


# ── back
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def istft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signal, of `length` points if given, of which `stft` with the same arguments gives `input`: all
    pieces put together, weighted by `window` once more, and divided by the sum of its squares at each point.
    """
    must_be_tensors("istft", input=input)
    if input._data.dtype.kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    given = {
        "n_fft": n_fft,
        "hop_length": hop,
        "win_length": width,
        "center": center,
        "normalized": normalized,
        "onesided": onesided,
        "length": length,
        "return_complex": return_complex,
    }
    start = called("istft", input, window, **given)
    half = check_istft(input, window, start, n_fft, hop, width, onesided)
    check_complex_window(window, half, return_complex)
    weights = input.real.new_ones((width,)) if window is None else window
    if width != n_fft:
        left = (n_fft - width) // 2
        weights = F.constant_pad_nd(weights, (left, n_fft - width - left), 0)
    x = F.view_as_real(input)
    x = F.view_as_complex(F.transpose(x if input._data.ndim == 3 else F.unsqueeze(x, 0), 1, 2))
    x = back(x, n_fft, BY_ROOT if normalized else BY_N, half, return_complex)
    count = x._data.shape[1]
    total = n_fft + hop * (count - 1)
    first = n_fft // 2 if center else 0
    last = first + length if length is not None else -(n_fft // 2) if center else total
    squares = F.expand(F.pow_scalar(weights, 2), (1, count, n_fft))
    y = added(F.mul(x, F.view(weights, (1, 1, n_fft))), hop, first, last)
    weight = added(squares, hop, first, last)
    if np.abs(numbers(weight)).min(initial=np.inf) < 1e-11:
        raise RuntimeError(f"{start} window overlap add min: 1\n[ CPUBoolType{{}} ]")
    y = F.div(y, weight)
    y = F.squeeze_dim(y, 0) if input._data.ndim == 2 else y
    return y if last <= total else longer(y, last - total)


def added(pieces: Any, hop: int, first: int, last: int) -> Any:
    """The sums of overlapping pieces at each point, from the first to the last that is wanted."""
    batch, count, n = pieces._data.shape
    whole = F.unfold_backward(pieces, (batch, n + hop * (count - 1)), 1, n, hop)
    return F.slice(whole, 1, first, last, 1)


def longer(y: Any, count: int) -> Any:
    """A signal with zeros at the end, and a warning."""
    warnings.warn(
        "The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
        "tail. Please check your center and hop_length settings.",
        stacklevel=3,
    )
    return F.constant_pad_nd(y, (0, count), 0)


def check_istft(
    input: Any, window: Any, start: str, n_fft: int, hop: int, width: int, onesided: bool | None
) -> bool:
    """Whether the input is the first half of the transforms; RuntimeError with PyTorch's text for arguments
    that do not go together.
    """
    shape = (*input._data.shape, 2)
    size = shape[place(-3, len(shape))]
    shape = shape[:-1]
    if window is None:
        text = f"{NO_WINDOW}.Please provide the same window used by stft to make the inversion lossless."
        warnings.warn(text + HOW_TO_SUPPRESS, stacklevel=3)
    if not input._data.size:
        raise RuntimeError(f"{start} : input tensor cannot be empty.")
    if len(shape) not in (2, 3):
        raise RuntimeError(f"{start} : expected a tensor with 2 or 3 dimensions, but got {len(shape)}")
    half = size != n_fft if onesided is None else onesided
    if size != (n_fft // 2 + 1 if half else n_fft):
        wanted = "n_fft / 2 + 1 when onesided=True" if half else "n_fft when onesided=False"
        raise RuntimeError(
            f"{start} : expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{wanted}, but got {size}"
        )
    if not 0 < hop <= width:
        raise RuntimeError(f"{start} : expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"{start} : expected 0 < win_length <= n_fft")
    if window is not None and window._data.shape != (width,):
        raise RuntimeError(f"{start} : Invalid window shape. window has to be 1D and length of `win_length`")
    return half


def check_complex_window(window: Any, half: bool, return_complex: bool) -> None:
    """RuntimeError with PyTorch's text for a result that cannot be what it shall be."""
    is_complex = window is not None and window._data.dtype.kind == "c"
    if return_complex and half:
        raise RuntimeError(COMPLEX_WINDOW)
    if is_complex and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")


def back(x: Any, n: int, mode: int, half: bool, return_complex: bool) -> Any:
    """The pieces, of which `x` has the transforms."""
    if return_complex:
        return _fft_c2c(x, (2,), mode, False)
    if not half:
        x = F.slice(x, -1, 0, n // 2 + 1, 1)
    return _fft_c2r(x, (2,), mode, n)


class Spectra(TensorBase):
    """Transforms of a signal piece by piece."""

    __slots__ = ()

    stft, istft = stft, istft
