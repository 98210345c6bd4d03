"""Window functions: weights for the points of a piece of a signal.

Each takes the number of points `M`. With `sym=False` the window is one period of a repeating one, whose next
point would be the first again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .. import dtypes
from ..creation import arange, empty, linspace, ones, tensor
from ..devices import strided
from ..op import F

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming",
    "hamming", "hann", "kaiser", "nuttall",
]  # fmt: skip


def checked(name: str, M: int, dtype: Any, layout: Any) -> Any:
    """The dtype of a window; PyTorch's ValueError for a negative length, other layouts and dtypes."""
    dtype = dtype or dtypes.get_default_dtype()
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def points(start: Any, end: Any, M: int, options: dict[str, Any]) -> Any:
    """`M` numbers evenly spaced."""
    return linspace(start, end, M, **options)


def periods(M: int, sym: bool) -> int:
    """How many steps there are from the first point to the last, or to the first again."""
    return M if not sym and M > 1 else M - 1


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """e to the power of minus the distance from the center, in units of `tau`."""
    options = {
        "dtype": checked("exponential", M, dtype, layout),
        "device": device,
        "requires_grad": requires_grad,
    }
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 0:
        return empty((0,), **options)
    center = periods(M, sym) / 2.0 if center is None else center
    return F.exp(F.neg(F.abs(points(-center / tau, (-center + M - 1) / tau, M, options))))


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Half a period of a sine, the points in the middles of its parts."""
    options = {"dtype": checked("cosine", M, dtype, layout), "device": device, "requires_grad": requires_grad}
    if M == 0:
        return empty((0,), **options)
    part = math.pi / (periods(M, sym) + 1)
    return F.sin(points(0.5 * part, (M - 0.5) * part, M, options))


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A bell of standard deviation `std`, in points."""
    options = {
        "dtype": checked("gaussian", M, dtype, layout),
        "device": device,
        "requires_grad": requires_grad,
    }
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return empty((0,), **options)
    start, scale = -periods(M, sym) / 2.0, 1 / (std * math.sqrt(2))
    return F.exp(-(points(start * scale, (start + M - 1) * scale, M, options) ** 2))


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Kaiser's window: the Bessel function I₀ over a half circle, the narrower the greater `beta` is."""
    options = {"dtype": checked("kaiser", M, dtype, layout), "device": device, "requires_grad": requires_grad}
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return ones((1,), **options) if M else empty((0,), **options)
    step = 2.0 * beta / periods(M, sym)
    k = points(-beta, min(beta, -beta + (M - 1) * step), M, options)
    top = tensor(beta, dtype=options["dtype"])
    return F.i0(F.sqrt(top * top - k**2)) / F.i0(top)


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Hamming's window: a raised cosine that does not quite reach 0."""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Hann's window: a raised cosine that starts and ends with 0."""
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Blackman's window, of three cosines."""
    dtype = checked("blackman", M, dtype, layout)
    return general_cosine(
        M,
        a=[0.42, 0.5, 0.08],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A triangle that starts and ends with 0."""
    options = {
        "dtype": checked("bartlett", M, dtype, layout),
        "device": device,
        "requires_grad": requires_grad,
    }
    if M < 2:
        return ones((1,), **options) if M else empty((0,), **options)
    return 1 - F.abs(points(-1, -1 + (M - 1) * 2 / periods(M, sym), M, options))


def general_cosine(
    M: int,
    *,
    a: Any,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A sum of cosines of 0, 1, 2 … periods, with the weights `a` of alternating sign."""
    kind = checked("general_cosine", M, dtype, layout)
    options = {"dtype": kind, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return ones((1,), **options) if M else empty((0,), **options)
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    k = points(0, (M - 1) * 2 * math.pi / periods(M, sym), M, options)
    signed = [(-1) ** i * w for i, w in enumerate(a)]
    weights = tensor(signed, **options)
    count = arange(len(signed), dtype=kind, device=device, requires_grad=requires_grad)
    return (weights.unsqueeze(-1) * F.cos(count.unsqueeze(-1) * k)).sum(0)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A raised cosine: `alpha` minus `1 - alpha` times a cosine of one period."""
    return general_cosine(
        M,
        a=[alpha, 1.0 - alpha],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Nuttall's window, of four cosines."""
    return general_cosine(
        M,
        a=[0.3635819, 0.4891775, 0.1365995, 0.0106411],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )
