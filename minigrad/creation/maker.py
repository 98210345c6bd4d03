"""What functions that make tensors have in common: PyTorch's options, and a new leaf as their result."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any

from ..core import dtypes
from ..core.devices import preserve_format, strided, unfilled_like
from ..core.public import publish
from ..core.tensor_state import TensorBase
from .arguments import options, sizes
from .data import leaf

OPTIONS = {"dtype": None, "layout": strided, "device": None, "pin_memory": False, "requires_grad": False}
OPTIONS_LIKE = OPTIONS | {"layout": None, "memory_format": preserve_format}


def with_options(own: dict[str, Parameter], options: dict[str, Any]) -> Signature:
    """The signature of these parameters and options, which are given by name."""
    named = {key: Parameter(key, Parameter.KEYWORD_ONLY, default=value) for key, value in options.items()}
    return Signature(list((own | named).values()))


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
    def make(
        *args: Any, dtype: Any = None, layout: Any = strided, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False, **named: Any,
    ) -> Any:  # fmt: skip
        kind = options(name, dtype, layout, device, pin_memory)
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
    def make(
        input: Any, *args: Any, dtype: Any = None, layout: Any = None, device: Any = None,
        pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = preserve_format,
        **named: Any,
    ) -> Any:  # fmt: skip
        kind = options(name, dtype, layout, device, pin_memory)
        is_plain = dtype is layout is device is None and memory_format is preserve_format
        if plain is not None and is_plain and not requires_grad:
            return plain(input, *args, **named)
        zeros = unfilled_like(input._data, (kind or dtypes.of(input._data)).numpy, memory_format)
        return new_leaf(function(zeros, *args, **named), requires_grad)

    own = dict(signature(function).parameters)
    make.__signature__ = with_options(own, OPTIONS_LIKE)  # type: ignore[attr-defined]
    publish(make, name, "function")
    return make
