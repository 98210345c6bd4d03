"""Tensors of a size: `zeros`, `ones`, `full`, `empty`; numbers in a row: `arange`, `linspace`, `eye`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from ..core import F, dtypes
from ..core.devices import contiguous_format, preserve_format, strided, unfilled_like, zeros_in_format
from ..core.guards import check_sizes, overflow_error, refuse_dtype
from ..core.modes import quiet
from ..core.public import publish, shown_as
from ..core.tensor_state import TensorBase, numbers
from ..core.user_warnings import warn
from ..ops.arguments import check_options, fit_number, number
from .data import leaf

__all__ = [
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "scalar_tensor",
    "zeros",
    "zeros_like",
    "arange",
    "eye",
    "linspace",
    "logspace",
]


# ─── How tensors are made, with PyTorch's options; tensors of a size: `zeros`, `ones`, `full`, `empty`


OPTIONS = {"dtype": None, "layout": strided, "device": None, "pin_memory": False, "requires_grad": False}
OPTIONS_LIKE = OPTIONS | {"layout": None, "memory_format": preserve_format}


def with_options(own: dict[str, Parameter], options: dict[str, Any]) -> Signature:
    """The signature of these parameters and options, which are given by name."""
    named = {key: Parameter(key, Parameter.KEYWORD_ONLY, default=value) for key, value in options.items()}
    return Signature(list((own | named).values()))


def pop_options(named: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Take options out of the arguments that were given by name; those that were not have their defaults."""
    return {key: named.pop(key, value) for key, value in defaults.items()}


def new_leaf(made: Any, requires_grad: bool) -> Any:
    """A leaf on an array, or on the first of a pair, whose second is the number that the array is full of."""
    data, source = made if made.__class__ is tuple else (made, None)
    return leaf(data, requires_grad, source)


def maker(function: Any, name: str = "", out: str = "made", sizes: str = "") -> Any:
    """Publish `function(…, dtype)`, which makes an array, as one that makes a tensor and takes all options.

    The user's dtype is passed on; without one, the default of the parameter `dtype`, or the default dtype if
    it has no default. What the function returns is for `new_leaf`, or is a tensor already. The parameter
    `sizes` is shown as one that takes integers one by one.
    """
    name = name or function.__name__
    own = dict(signature(function).parameters)
    usual = own.pop("dtype").default

    @wraps(function)
    def make(*args: Any, **named: Any) -> Any:
        how = pop_options(named, OPTIONS)
        requires_grad, kind = how.pop("requires_grad"), how.pop("dtype")
        check_options(**how)
        if kind is None:
            kind = dtypes.get_default_dtype() if usual is Parameter.empty else usual
        made = function(*args, dtype=kind, **named)
        return made if isinstance(made, TensorBase) else new_leaf(made, requires_grad)

    if sizes:
        own[sizes] = own[sizes].replace(kind=Parameter.VAR_POSITIONAL)
    asked = usual if isinstance(usual, dtypes.dtype) else None
    make.__signature__ = with_options(own, OPTIONS | {"dtype": asked})  # type: ignore[attr-defined]
    publish(make, name, "function", out)
    return make


sized = partial(maker, sizes="size")


def like_maker(function: Any, plain: Callable[..., Any] | None = None) -> Any:
    """Publish `function(input, …)` as one that makes a tensor in the shape of another tensor.

    It is called with zeros, in the dtype and shape that are wanted. `plain` is the op that is run instead if
    no option is given.
    """
    name = function.__name__

    @wraps(function)
    def make(input: Any, *args: Any, **named: Any) -> Any:
        how = pop_options(named, OPTIONS_LIKE)
        if plain is not None and how == OPTIONS_LIKE:
            return plain(input, *args, **named)
        requires_grad, memory_format = how.pop("requires_grad"), how.pop("memory_format")
        kind = how.pop("dtype")
        check_options(**how)
        zeros = unfilled_like(input._data, (kind or dtypes.of(input._data)).numpy, memory_format)
        return new_leaf(function(zeros, *args, **named), requires_grad)

    own = dict(signature(function).parameters)
    make.__signature__ = with_options(own, OPTIONS_LIKE)  # type: ignore[attr-defined]
    publish(make, name, "function")
    return make


# ── of a size
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@sized
def zeros(size: tuple[int, ...], *, dtype: Any) -> Any:
    """Return a tensor of zeros.

    Args:
        size: the sizes, one by one or in a tuple.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is not an integer. RuntimeError if it is negative.
    Source: torch.zeros

    >>> torch.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """
    return np.zeros(check_sizes(size, "zeros"), dtype.numpy), 0


@sized
def ones(size: tuple[int, ...], *, dtype: Any) -> Any:
    """Return a tensor of ones.

    Args:
        size: the sizes, one by one or in a tuple.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is not an integer. RuntimeError if it is negative.
    Source: torch.ones

    >>> torch.ones(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """
    return np.ones(check_sizes(size), dtype.numpy), 1


@sized
def empty(size: tuple[int, ...], *, dtype: Any, memory_format: Any = contiguous_format) -> Any:
    """Return an uninitialized tensor; minigrad fills it with zeros.

    Args:
        size: the sizes, one by one or in a tuple.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
        memory_format: the order of the memory.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is not an integer. RuntimeError if it is negative.
    Source: torch.empty

    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    if memory_format is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    return zeros_in_format(check_sizes(size), dtype.numpy, memory_format)


@maker
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """Return a tensor filled with `fill_value`.

    Args:
        size: the sizes, a list or tuple.
        fill_value: a number, whose type decides the dtype if none is given.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if `size` holds anything but integers.
    Source: torch.full

    >>> torch.full((2,), 3.5)
    tensor([3.5000, 3.5000])
    """
    kind = dtype or dtypes.of_number(fill_value)
    return np.full(check_sizes(size), fit_number(fill_value, kind), kind.numpy), fill_value


@partial(maker, out="")
def scalar_tensor(s: Any, *, dtype: Any) -> Any:
    """Return a 0-dim tensor of one number, of the default dtype if none is given."""
    return np.array(fit_number(s, dtype), dtype.numpy), s


# ── like another tensor ─────────────────────────────────────────────────────────────────────────────────────


@partial(like_maker, plain=F.zeros_like)
def zeros_like(input: Any) -> Any:
    """Return a tensor of zeros in the shape of `input`.

    Args:
        input: a tensor of any shape.
        dtype, layout, device, pin_memory, requires_grad, memory_format: properties of the result; those of
            `input` if not given.
    Shape: the same as that of `input`.
    Returns: a new leaf.
    Raises: TypeError if `input` is not a tensor.
    Source: torch.zeros_like

    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
    """
    return input, 0


@partial(like_maker, plain=F.ones_like)
def ones_like(input: Any) -> Any:
    """Return a tensor of ones in the shape of `input`.

    Args:
        input: a tensor of any shape.
        dtype, layout, device, pin_memory, requires_grad, memory_format: properties of the result; those of
            `input` if not given.
    Shape: the same as that of `input`.
    Returns: a new leaf.
    Raises: TypeError if `input` is not a tensor.
    Source: torch.ones_like

    >>> torch.ones_like(torch.tensor([1, 2]))
    tensor([1, 1])
    """
    input[...] = 1
    return input, 1


@like_maker
def empty_like(input: Any) -> Any:
    """Return a tensor in the shape of `input` for numbers to be written to: zeros; in PyTorch it holds
    anything.
    """
    return input


@like_maker
def full_like(input: Any, fill_value: Any) -> Any:
    """Return `fill_value` in the shape of `input`, and in its dtype if none is given."""
    input[...] = fit_number(fill_value, dtypes.of(input))
    return input, fill_value


# ─── Numbers in a row: `arange`, `linspace`, `logspace`; and `eye` and the indices of triangles


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
    start = 0 if start is None else start
    if any(isinstance(n, complex) for n in (start, end, step)):
        raise overflow_error("double")
    if dtype is None:
        is_float = any(isinstance(n, float) for n in (start, end, step))
        dtype = dtypes.get_default_dtype() if is_float else dtypes.int64
    refuse_dtype(dtype, "arange_cpu")
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
    kind, found = evenly_spaced("linspace", start, end, steps, dtype)
    return quiet(found.astype, kind.numpy)


@maker
def logspace(start: Any, end: Any, steps: Any, base: float = 10.0, *, dtype: Any = None) -> Any:
    """Return `base` to the powers of `linspace(start, end, steps)`."""
    kind, found = evenly_spaced("logspace", start, end, steps, dtype)
    raised = quiet(np.power, np.array(base, np.result_type(found, float)), found)
    return quiet(raised.astype, kind.numpy)


def evenly_spaced(name: str, start: Any, end: Any, steps: Any, kind: Any) -> tuple[dtypes.dtype, np.ndarray]:
    """Return the dtype and the numbers in double precision; both halves are counted from their ends."""
    dims = [v._data.ndim if isinstance(v, TensorBase) else 0 for v in (start, end)]
    if any(dims):
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {dims}")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = (numbers(v).item() if isinstance(v, TensorBase) else number(v) for v in (start, end))
    kind = spaced_kind(name, kind, isinstance(start, complex) or isinstance(end, complex))
    start, end = (kind.numpy.type(fit_number(v, kind)).item() for v in (start, end))
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
    kind = kind or dtypes.get_default_dtype()
    refuse_dtype(kind, "linspace_cpu" if name == "linspace" else "logspace_cpu")
    return kind


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
    m = n if m is None else m
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return np.eye(n, m, dtype=dtype.numpy)
