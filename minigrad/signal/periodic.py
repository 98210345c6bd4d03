"""The window functions of the namespace of `torch` itself, which are periodic unless told otherwise."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..creation.arguments import dtype_of, whole
from . import windows

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def made(
    name: str, make: Any, length: Any, periodic: bool, dtype: Any, requires_grad: bool, **how: Any
) -> Any:
    """A window of `length` points in `dtype`, computed in double precision."""
    count = whole(name, "window_length", 1, length)
    kind = dtype_of(name, dtype) or dtypes.get_default_dtype()
    if count < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={count}")
    if kind.category != 2:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {kind}")
    window = make(count, sym=not periodic, dtype=dtypes.float64, **how).to(kind)
    return window.requires_grad_() if requires_grad else window


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    **options: Any,
) -> Any:
    """A triangle that starts at 0."""
    return made("bartlett_window", windows.bartlett, window_length, periodic, dtype, requires_grad, **options)


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    **options: Any,
) -> Any:
    """A sum of three cosines that starts at 0."""
    return made("blackman_window", windows.blackman, window_length, periodic, dtype, requires_grad, **options)


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    **options: Any,
) -> Any:
    """A raised cosine that starts at 0."""
    return made("hann_window", windows.hann, window_length, periodic, dtype, requires_grad, **options)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    **options: Any,
) -> Any:
    """`alpha - beta · cos`, which starts above 0."""
    weights = {"a": (alpha, beta), **options}
    return made(
        "hamming_window", windows.general_cosine, window_length, periodic, dtype, requires_grad, **weights
    )


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    **options: Any,
) -> Any:
    """A bell by a Bessel function, the narrower the greater `beta` is."""
    how = {"beta": beta, **options}
    return made("kaiser_window", windows.kaiser, window_length, periodic, dtype, requires_grad, **how)
