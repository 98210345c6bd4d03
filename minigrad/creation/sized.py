"""How tensors are made, with PyTorch's options; tensors of a size: `zeros`, `ones`, `full`, `empty`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from ..core import F, dtypes
from ..core.devices import contiguous_format, preserve_format, strided, unfilled, unfilled_like
from ..core.public import publish
from ..core.tensor_state import TensorBase
from .arguments import fitted, number, options, shape_of, sizes
from .data import leaf

__all__ = [
    "empty", "empty_like", "full", "full_like", "ones", "ones_like", "scalar_tensor", "zeros", "zeros_like",
]  # fmt: skip

OPTIONS = {"dtype": None, "layout": strided, "device": None, "pin_memory": False, "requires_grad": False}
OPTIONS_LIKE = OPTIONS | {"layout": None, "memory_format": preserve_format}


def with_options(own: dict[str, Parameter], options: dict[str, Any]) -> Signature:
    """The signature of these parameters and options, which are given by name."""
    named = {key: Parameter(key, Parameter.KEYWORD_ONLY, default=value) for key, value in options.items()}
    return Signature(list((own | named).values()))


def taken(named: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Take options out of the arguments that were given by name; those that were not have their defaults."""
    return {key: named.pop(key, value) for key, value in defaults.items()}


def new_leaf(made: Any, requires_grad: bool) -> Any:
    """A leaf on an array, or on the first of a pair, whose second is the number that the array is full of."""
    data, source = made if made.__class__ is tuple else (made, None)
    return leaf(data, requires_grad, source)


def maker(function: Any, name: str = "", out: str = "made") -> Any:
    """Publish `function(…, dtype)`, which makes an array, as one that makes a tensor and takes all options.

    The user's dtype is passed on; without one, the default of the parameter `dtype`, or the default dtype if
    it has no default. What the function returns is for `new_leaf`, or is a tensor already.
    """
    name = name or function.__name__
    own = dict(signature(function).parameters)
    usual = own.pop("dtype").default

    @wraps(function)
    def make(*args: Any, **named: Any) -> Any:
        how = taken(named, OPTIONS)
        requires_grad, kind = how.pop("requires_grad"), options(name, **how)
        if kind is None:
            kind = dtypes.get_default_dtype() if usual is Parameter.empty else usual
        made = function(*args, dtype=kind, **named)
        return made if isinstance(made, TensorBase) else new_leaf(made, requires_grad)

    asked = usual if isinstance(usual, dtypes.dtype) else None
    make.__signature__ = with_options(own, OPTIONS | {"dtype": asked})  # type: ignore[attr-defined]
    publish(make, name, "function", out)
    return make


def sized(function: Any) -> Any:
    """Publish `function(shape, dtype)` in the same way; users give the shape as numbers or as one tuple."""
    name = function.__name__

    @wraps(function)
    def of_size(*size_: Any, size: Any = None, dtype: Any, **named: Any) -> Any:
        return function(sizes(name, size_, size), dtype=dtype, **named)

    _, *others = signature(function).parameters.values()
    of_size.__signature__ = Signature([Parameter("size", Parameter.VAR_POSITIONAL), *others])  # type: ignore
    return maker(of_size)


def like_maker(function: Any, plain: Callable[..., Any] | None = None) -> Any:
    """Publish `function(input, …)` as one that makes a tensor in the shape of another tensor.

    It is called with zeros, in the dtype and shape that are wanted. `plain` is the op that is run instead if
    no option is given.
    """
    name = function.__name__

    @wraps(function)
    def make(input: Any, *args: Any, **named: Any) -> Any:
        how = taken(named, OPTIONS_LIKE)
        if plain is not None and how == OPTIONS_LIKE:
            return plain(input, *args, **named)
        requires_grad, memory_format = how.pop("requires_grad"), how.pop("memory_format")
        kind = options(name, **how)
        zeros = unfilled_like(input._data, (kind or dtypes.of(input._data)).numpy, memory_format)
        return new_leaf(function(zeros, *args, **named), requires_grad)

    own = dict(signature(function).parameters)
    make.__signature__ = with_options(own, OPTIONS_LIKE)  # type: ignore[attr-defined]
    publish(make, name, "function")
    return make


# ── of a size
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@sized
def zeros(shape: tuple[int, ...], *, dtype: Any) -> Any:
    """Return a tensor of zeros.

    Args:
        size: the sizes, one by one or in a tuple.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is no integer. RuntimeError if it is negative.
    Source: torch.zeros

    >>> torch.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """
    return np.zeros(shape, dtype.numpy), 0


@sized
def ones(shape: tuple[int, ...], *, dtype: Any) -> Any:
    """Return a tensor of ones.

    Args:
        size: the sizes, one by one or in a tuple.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is no integer. RuntimeError if it is negative.
    Source: torch.ones

    >>> torch.ones(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """
    return np.ones(shape, dtype.numpy), 1


@sized
def empty(shape: tuple[int, ...], *, dtype: Any, memory_format: Any = contiguous_format) -> Any:
    """Return an uninitialized tensor; minigrad fills it with zeros.

    Args:
        size: the sizes, one by one or in a tuple.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
        memory_format: the order of the memory.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is no integer. RuntimeError if it is negative.
    Source: torch.empty

    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    if memory_format is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    return unfilled(shape, dtype.numpy, memory_format)


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
    value = number(fill_value)
    kind = dtype or dtypes.of_number(value)
    return np.full(shape_of("full", size), fitted(value, kind), kind.numpy), fill_value


@partial(maker, out="")
def scalar_tensor(s: Any, *, dtype: Any) -> Any:
    """Return a 0-dim tensor of one number, of the default dtype if none is given."""
    return np.array(fitted(number(s), dtype), dtype.numpy), s


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
    input[...] = fitted(number(fill_value), dtypes.of(input))
    return input, fill_value
