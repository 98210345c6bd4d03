"""`assert_close`: whether results are what they should be, up to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .core import dtypes
from .tensor import Tensor

__all__ = ["assert_close"]

# Relative and absolute tolerance by dtype; 0 for others.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}
NUMBERS = (bool, int, float, complex, np.generic)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Any = None,
) -> None:
    """AssertionError unless `|actual - expected| <= atol + rtol · |expected|` for all elements.

    Tensors, arrays and numbers can be compared, and sequences of them; tensors must have one shape and, if
    `check_dtype`, one dtype. Without `rtol` and `atol` both depend on the dtype.
    """
    if (rtol is None) != (atol is None):
        missing = "atol" if atol is None else "rtol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    tolerances = None if rtol is None else (rtol, atol)
    for path, a, b in pairs(actual, expected, ()):
        found = difference(a, b, tolerances, equal_nan, check_dtype, check_stride)
        if found:
            where = "".join(f"[{key!r}]" for key in path)
            text = found + (f"\n\nThe failure occurred for item {where}" if path else "")
            raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg)


def pairs(actual: Any, expected: Any, path: tuple[Any, ...]) -> Any:
    """What is to be compared, each pair with the way to it."""
    if not (is_sequence(actual) and is_sequence(expected)):
        yield path, actual, expected
        return
    if len(actual) != len(expected):
        raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
    for key, (a, b) in enumerate(zip(actual, expected)):
        yield from pairs(a, b, (*path, key))


def is_sequence(x: Any) -> bool:
    """Whether `x` is a list or its like, but no text."""
    return isinstance(x, Sequence) and not isinstance(x, (str, bytes))


def difference(a: Any, b: Any, given: Any, equal_nan: bool, check_dtype: bool, check_stride: bool) -> str:
    """How two tensors or numbers differ, in PyTorch's words; empty if they do not."""
    is_number = isinstance(a, NUMBERS) and isinstance(b, NUMBERS)
    like = (Tensor, np.ndarray)
    if not is_number and not (isinstance(a, like) and isinstance(b, like)):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.")
    mine, theirs = (x.numpy(force=True) if isinstance(x, Tensor) else np.asarray(x) for x in (a, b))
    if mine.shape != theirs.shape:
        return unlike("shape", *(f"torch.Size({list(x.shape)})" for x in (mine, theirs)))
    if not is_number and check_dtype and mine.dtype != theirs.dtype:
        return unlike("dtype", *(f"torch.{dtypes.of(x).name}" for x in (mine, theirs)))
    if check_stride and mine.strides != theirs.strides:
        return unlike("stride()", *(tuple(n // x.itemsize for n in x.strides) for x in (mine, theirs)))
    relative, absolute = given or tolerances(mine.dtype, theirs.dtype)
    kind = np.result_type(mine, theirs)
    wide = np.int64 if kind.kind in "biu" else kind
    mine, theirs = mine.astype(wide), theirs.astype(wide)
    with np.errstate(all="ignore"):
        close = np.equal(mine, theirs)  # of large integers, which as floats would be rounded
        if relative or absolute or equal_nan:
            close |= np.isclose(mine, theirs, relative, absolute, equal_nan)
        if close.all():
            return ""
        apart = np.abs(mine - theirs)
        real = apart.dtype if kind.kind in "fc" else np.float32
        ratio = apart.astype(real) / np.abs(theirs).astype(real)
        return described(mine, theirs, close, apart, ratio, (relative, absolute))


def unlike(what: str, a: Any, b: Any) -> str:
    """The text for two properties that differ."""
    return f"The values for attribute '{what}' do not match: {a} != {b}."


def tolerances(*kinds: Any) -> tuple[float, float]:
    """The greater of the tolerances of two dtypes."""
    found = [TOLERANCES.get(kind.name, (0.0, 0.0)) for kind in kinds]
    return max(t[0] for t in found), max(t[1] for t in found)


def described(
    mine: Any, theirs: Any, close: Any, apart: Any, ratio: Any, allowed: tuple[float, float]
) -> str:
    """The text about numbers that are not close."""
    relative, absolute = allowed
    words = "close" if any(allowed) else "equal"
    limits = [f" (up to {limit} allowed)" if any(allowed) else "" for limit in (absolute, relative)]
    if not mine.ndim:
        return (
            f"Scalars are not {words}!\n\nExpected {theirs.item()} but got {mine.item()}.\n"
            f"Absolute difference: {apart.item()}{limits[0]}\nRelative difference: {ratio.item()}{limits[1]}"
        )
    count, total = int((~close).sum()), close.size
    lines = [
        f"Tensor-likes are not {words}!\n",
        f"Mismatched elements: {count} / {total} ({count / total:.1%})",
    ]
    for name, values, limit in (("absolute", apart, limits[0]), ("relative", ratio, limits[1])):
        values = np.where(close, 0, values)
        at = tuple(map(int, np.unravel_index(np.argmax(values), values.shape)))
        lines.append(f"Greatest {name} difference: {values[at].item()} at index {at}{limit}")
    return "\n".join(lines)
