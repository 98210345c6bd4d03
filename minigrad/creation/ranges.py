"""Numbers in a row: `arange`, `linspace`, `logspace`; and `eye` and the indices of triangles."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.modes import quiet
from ..core.public import shown_as
from ..core.tensor_state import TensorBase
from ..core.user_warnings import warn
from .arguments import fitted, number, whole
from .sized import maker

__all__ = ["arange", "eye", "linspace", "logspace"]

RANGE_IS_DEPRECATED = (
    "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent "
    "with Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
)
OF_RANGE = shown_as(lambda start=0, end=None, step=1, *, dtype=None: None)


@maker
@OF_RANGE
def arange(start: Any = None, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Any:
    """Return the numbers from `start` up to, but not including, `end`, in steps of `step`.

    Args:
        start: the first number; 0 in `arange(end)`.
        end: the bound.
        step: the distance between two numbers.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is int64 for
            integers, else the default one if none is given.
    Shape: (ceil((end - start) / step),).
    Returns: a new leaf.
    Raises: RuntimeError if `step` is 0 or leads away from `end`.
    Source: torch.arange

    >>> torch.arange(1, 7, 2)
    tensor([1, 3, 5])
    """
    if end is None:
        start, end = None, start
    start, end, step = (number(n) for n in (0 if start is None else start, end, step))
    if any(isinstance(n, complex) for n in (start, end, step)):
        raise RuntimeError("value cannot be converted to type double without overflow")
    if dtype is None:
        is_float = any(isinstance(n, float) for n in (start, end, step))
        dtype = dtypes.get_default_dtype() if is_float else dtypes.int64
    elif dtype.category in (0, 3):
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtype.title}'")
    check_row(start, end, step)
    if dtype.category == 1:
        if dtype is dtypes.int64:
            end = int(end)
        start, first = int(start), start
        is_exact = dtype is dtypes.int64
        count = -(-(end - start) // int(step)) if is_exact else math.ceil((end - first) / step)
        step = int(step)
    else:
        count = math.ceil((end - start) / step)
    if count >= 2**63:
        raise RuntimeError("invalid size, possible overflow?")
    return quiet((np.arange(max(count, 0)) * step + start).astype, dtype.numpy)


@partial(maker, name="range", out="")
@OF_RANGE
def inclusive_range(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any) -> Any:
    """Return numbers from `start` up to and including `end`, in steps of `step`; deprecated in PyTorch."""
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warn(RANGE_IS_DEPRECATED)
    check_row(start, end, step)
    count = math.floor((end - start) / step) + 1
    kind = dtype or dtypes.get_default_dtype()
    return quiet((np.arange(count) * step + start).astype, kind.numpy)


def check_row(start: Any, end: Any, step: Any) -> None:
    """RuntimeError with PyTorch's text for a row that does not lead from `start` to `end`."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


@maker
def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None) -> Any:
    """Return `steps` numbers at equal distances from `start` to `end`, both included.

    Args:
        start, end: the first and the last number.
        steps: how many.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: (steps,).
    Returns: a new leaf.
    Raises: RuntimeError if `steps` is negative.
    Source: torch.linspace

    >>> torch.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    kind, found = spaced("linspace", start, end, steps, dtype)
    return quiet(found.astype, kind.numpy)


@maker
def logspace(start: Any, end: Any, steps: Any, base: float = 10.0, *, dtype: Any = None) -> Any:
    """Return `base` to the powers of `linspace(start, end, steps)`."""
    kind, found = spaced("logspace", start, end, steps, dtype)
    raised = quiet(np.power, np.array(base, np.result_type(found, float)), found)
    return quiet(raised.astype, kind.numpy)


def spaced(name: str, start: Any, end: Any, steps: Any, kind: Any) -> tuple[dtypes.dtype, np.ndarray]:
    """Return the dtype and the numbers in double precision; both halves are counted from their ends."""
    steps = whole(steps)
    dims = [v._data.ndim if isinstance(v, TensorBase) else 0 for v in (start, end)]
    if any(dims):
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {dims}")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = number(start), number(end)
    kind = spaced_kind(name, kind, isinstance(start, complex) or isinstance(end, complex))
    start, end = (kind.numpy.type(fitted(v, kind)).item() for v in (start, end))
    if steps == 1:
        return kind, np.array([start])
    i = np.arange(steps)
    step = (end - start) / max(steps - 1, 1)
    if kind is dtypes.float32 and name == "linspace":
        # PyTorch's kernel rounds the step, then start + step * i once: here such a product is exact
        a, b = np.float32(start), np.float32(end)
        step = ((b - a) / np.float32(max(steps - 1, 1))).item()
    return kind, np.where(i < steps // 2, start + step * i, end - step * (steps - 1 - i))


def spaced_kind(name: str, kind: Any, has_complex: bool) -> dtypes.dtype:
    """Return the dtype of the numbers that `linspace` and `logspace` give."""
    if has_complex:
        found = dtypes.get_default_dtype().to_complex()
        if kind is not None and not kind.is_complex:
            told = f"inferred dtype {found} can't be safely cast to passed dtype {kind.title}"
            raise RuntimeError(f"torch.{name}(): {told}")
        return kind or found
    if kind is dtypes.bool_:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    return kind or dtypes.get_default_dtype()


@maker
def eye(n: Any, m: Any = None, *, dtype: Any) -> Any:
    """Return a matrix with ones on the main diagonal and zeros elsewhere.

    Args:
        n: the number of rows.
        m: the number of columns; `n` if None.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: (n, m).
    Returns: a new leaf.
    Raises: RuntimeError if a size is negative.
    Source: torch.eye

    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    n = whole(n)
    m = n if m is None else whole(m)
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return np.eye(n, m, dtype=dtype.numpy)
