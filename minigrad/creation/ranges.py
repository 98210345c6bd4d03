"""Numbers in a row: `arange`, `linspace`, `logspace`; and `eye` and the indices of triangles."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import strided
from ..core.modes import quiet
from ..core.public import public
from ..core.shown_signature import shown_as
from ..core.tensor_state import TensorBase
from .arguments import fitted, is_whole, mismatch, number, options, whole
from .data import leaf

RANGE_IS_DEPRECATED = (
    "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent "
    "with Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
)
FORMS = (("end",), ("start", "end"), ("start", "end", "step"))

OF_RANGE = shown_as(
    lambda start=0, end=None, step=1, *, dtype=None, layout=strided, device=None, pin_memory=False,
    requires_grad=False: None
)  # fmt: skip


@public("function", out="made")
@OF_RANGE
def arange(
    *bounds: Any,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    **named: Any,
) -> Any:
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
    start, end, step = row_of(bounds, named)
    kind = options("arange", dtype, layout, device, pin_memory)
    if kind is None:
        is_float = any(isinstance(v, float) for v in (start, end, step))
        kind = dtypes.get_default_dtype() if is_float else dtypes.int64
    elif kind.category in (0, 3):
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind.title}'")
    check_row(start, end, step)
    if kind.category == 1:
        if kind is dtypes.int64:
            end = int(end)
        start, first = int(start), start
        count = -(-(end - start) // int(step)) if kind is dtypes.int64 else math.ceil((end - first) / step)
        step = int(step)
    else:
        count = math.ceil((end - start) / step)
    if count >= 2**63:
        raise RuntimeError("invalid size, possible overflow?")
    return leaf(quiet((np.arange(max(count, 0)) * step + start).astype, kind.numpy), requires_grad)


@public("function", name="range")
@OF_RANGE
def inclusive_range(start: Any = 0, end: Any = None, step: Any = 1, **options_: Any) -> Any:
    """Return numbers from `start` up to and including `end`, in steps of `step`; deprecated in PyTorch."""
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warnings.warn(RANGE_IS_DEPRECATED, UserWarning, stacklevel=2)
    check_row(start, end, step)
    kind = options_.pop("dtype", None) or dtypes.get_default_dtype()
    count = math.floor((end - start) / step) + 1
    return leaf(quiet((np.arange(count) * step + start).astype, kind.numpy), **options_)


def row_of(bounds: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Start, end and step as Python numbers."""
    names = FORMS[0] if len(bounds) == 1 and "end" not in named else FORMS[2]
    if len(bounds) > 3 or set(named) - set(FORMS[2]):
        raise mismatch("arange", *bounds, *named.values())
    given = dict(zip(names, bounds)) | named
    if "end" not in given:
        raise mismatch("arange", *bounds, *named.values())
    places = FORMS[len(bounds) - 1] if bounds else ()
    found = [
        number("arange", n, places.index(n) + 1 if n in places else 1, given.get(n, default))
        for n, default in (("start", 0), ("end", None), ("step", 1))
    ]
    if any(isinstance(v, complex) for v in found):
        raise RuntimeError("value cannot be converted to type double without overflow")
    return tuple(found)


def check_row(start: Any, end: Any, step: Any) -> None:
    """RuntimeError with PyTorch's text for a row that does not lead from `start` to `end`."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


@public("function", out="made")
def linspace(
    start: Any,
    end: Any,
    steps: Any,
    *,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
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
    kind = options("linspace", dtype, layout, device, pin_memory)
    kind, found = spaced("linspace", start, end, steps, kind)
    return leaf(quiet(found.astype, kind.numpy), requires_grad)


@public("function", out="made")
def logspace(
    start: Any,
    end: Any,
    steps: Any,
    base: float = 10.0,
    *,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Return `base` to the powers of `linspace(start, end, steps)`."""
    kind = options("logspace", dtype, layout, device, pin_memory)
    kind, found = spaced("logspace", start, end, steps, kind)
    raised = quiet(np.power, np.array(base, np.result_type(found, float)), found)
    return leaf(quiet(raised.astype, kind.numpy), requires_grad)


def spaced(name: str, start: Any, end: Any, steps: Any, kind: Any) -> tuple[dtypes.dtype, np.ndarray]:
    """Return the dtype and the numbers in double precision; both halves are counted from their ends."""
    if not is_whole(steps) or not all(isinstance(v, (int, float, complex, TensorBase)) for v in (start, end)):
        raise mismatch(name, start, end, steps)
    dims = [v._data.ndim if isinstance(v, TensorBase) else 0 for v in (start, end)]
    if any(dims):
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got start with {dims[0]} "
            f"dimension(s) and end with {dims[1]} dimension(s)."
        )
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = number(name, "start", 1, start), number(name, "end", 2, end)
    kind = spaced_kind(name, kind, isinstance(start, complex) or isinstance(end, complex))
    start, end = (kind.numpy.type(fitted(v, kind)).item() for v in (start, end))
    if steps == 1:
        return kind, np.array([start])
    i = np.arange(int(steps))
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
            part = {"complex64": "float", "complex128": "double"}[found.name]
            raise RuntimeError(
                f"torch.{name}(): inferred dtype c10::complex<{part}> can't be safely cast to passed dtype "
                f"{kind.title}"
            )
        return kind or found
    if kind is dtypes.bool_:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    return kind or dtypes.get_default_dtype()


@public("function", out="made")
def eye(
    n: Any,
    m: Any = None,
    *,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
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
    n = whole("eye", "n", 1, n)
    m = n if m is None else whole("eye", "m", 2, m)
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    kind = options("eye", dtype, layout, device, pin_memory) or dtypes.get_default_dtype()
    return leaf(np.eye(n, m, dtype=kind.numpy), requires_grad)


@public("function")
def tril_indices(
    row: Any,
    col: Any,
    offset: int = 0,
    *,
    dtype: Any = dtypes.int64,
    device: Any = None,
    layout: Any = strided,
    pin_memory: bool = False,
) -> Any:
    """Return the row and column of each element on and below diagonal `offset` of a matrix, row by row: shape
    (2, n).
    """
    kind, below = triangle("tril_indices", row, col, offset, options("tril_indices", dtype, layout, device))
    return leaf(np.stack(np.nonzero(below)).astype(kind))


@public("function")
def triu_indices(
    row: Any,
    col: Any,
    offset: int = 0,
    *,
    dtype: Any = dtypes.int64,
    device: Any = None,
    layout: Any = strided,
    pin_memory: bool = False,
) -> Any:
    """Return the row and column of each element on and above diagonal `offset` of a matrix, row by row: shape
    (2, n).
    """
    kind, below = triangle(
        "triu_indices", row, col, offset - 1, options("triu_indices", dtype, layout, device)
    )
    return leaf(np.stack(np.nonzero(~below)).astype(kind))


def triangle(name: str, row: Any, col: Any, offset: int, kind: Any) -> tuple[np.dtype, np.ndarray]:
    """The dtype of indices, and for each element of a matrix whether it is on or below diagonal `offset`."""
    row, col = whole(name, "row", 1, row), whole(name, "col", 2, col)
    for side, size in (("row", row), ("col", col)):
        if size < 0:
            raise RuntimeError(f"{side} must be non-negative, got{size}")
    kind = kind or dtypes.int64
    if kind not in (dtypes.int32, dtypes.int64):
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind.title}'")
    return kind.numpy, np.tri(row, col, offset, dtype=bool)
