"""`Function`, the base class of ops with a derivative of the user's own, and a decorator for its backward."""

from __future__ import annotations

import functools
import inspect
import itertools
import warnings
from types import FunctionType
from typing import Any, ClassVar

from ...core import modes
from ...core.node import Node
from ...core.tensor_state import TensorBase, alias, edge
from .calls import call
from .context import BackwardCFunction, FunctionCtx

LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
    "function with static forward method. (Example: "
    "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
numbers = itertools.count()


class FunctionMeta(type):
    """Gives each Function the class of its nodes, `_backward_cls`, named `<Function's name>Backward`."""

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        members = {"__slots__": (), "_forward_cls": cls, "_autograd_function_id": next(numbers)}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), members)
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base class of your own differentiable functions.

    Define the static methods `forward(ctx, *inputs)` and `backward(ctx, *grads)`, and call the function by
    `apply`. `backward` returns a gradient for each input, None for those without. `forward` has no `ctx` if
    you also define `setup_context(ctx, inputs, output)`. `jvp(ctx, *tangents)` adds forward mode.

    Args:
        args: none; the class is not instantiated.
        kwargs: none.

    Raises:
        NotImplementedError: `forward`, or `backward` when it is needed, is not defined.
        RuntimeError: `backward` returns the wrong number of gradients, or a gradient of the wrong shape.

    Example:
        >>> class Square(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         x, = ctx.saved_tensors
        ...         return 2 * x * g
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> Square.apply(x).backward()
        >>> x.grad
        tensor(6.)

    Source: PyTorch's page `torch.autograd.Function`.
    """

    base: ClassVar[type[Function]]
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so "
            "you should invoke them on the class itself. Instantiating an autograd function will raise an "
            "error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(LEGACY)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what backward needs, when `forward` has no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradient of each input of `forward` from the gradients of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the tangent of each output of `forward` from the tangents of the inputs."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Define the batched computation in PyTorch; `func.vmap` of minigrad runs the Function item by
        item.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and add a node to the graph."""
        own_setup = cls.setup_context is not Function.setup_context
        if modes.state.transforms:
            check_transforms(cls, own_setup)
        if own_setup and (kwargs or not takes_all(cls.forward, args)):
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        return call(cls, args if not kwargs else in_places(cls, args, kwargs, own_setup), own_setup)


Function.base = Function


class InplaceFunction(Function):
    """Old base class of Functions; use `Function`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def takes_all(function: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a plain function takes exactly these arguments, so that binding them can be skipped."""
    if function.__class__ is not FunctionType or function.__dict__:  # a wrapper says there what it wraps
        return False
    code = function.__code__
    return code.co_argcount == len(args) and not code.co_kwonlyargcount


MORE = " For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def check_transforms(cls: Any, own_setup: bool) -> None:
    """Raise PyTorch's RuntimeErrors for a Function that the transforms of `func` cannot use."""
    if not own_setup:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), "
            "it must override the setup_context staticmethod." + MORE
        )
    if "vmap" not in modes.state.transforms:
        return
    modes.repeat_for_each()
    own_vmap = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule and own_vmap:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an "
            "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap "
            "staticmethod to avoid ambiguity." + MORE
        )
    if not (cls.generate_vmap_rule or own_vmap):
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and "
            "implement the vmap staticmethod or set generate_vmap_rule=True." + MORE
        )


def in_places(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], own_setup: bool) -> tuple[Any, ...]:
    """Return all arguments of `cls.forward` by position; raise PyTorch's TypeErrors."""
    code = cls.forward.__code__
    names = code.co_varnames[0 if own_setup else 1 : code.co_argcount]
    values = dict(enumerate(args))
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) in values:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
        values[names.index(name)] = value
    count = max(values) + 1
    if count > len(names):
        raise TypeError(f"forward() takes {len(names)} positional arguments but {count} were given")
    for i in range(count):
        if i not in values:
            raise TypeError(f"forward() missing required argument: '{names[i]}' (position {i})")
    return tuple(values[i] for i in range(count))


TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


class Error(Node):
    """A node that says why it cannot be differentiated."""

    __slots__ = ("_outputs",)

    def __init__(self, inputs: list[Any]) -> None:
        self._outputs = len(inputs)
        self._begin(tuple(None if t is None else edge(t) for t in inputs))

    def apply(self, gradient: Any, keep: bool = True) -> tuple[Any, ...]:
        """Raise the error."""
        raise RuntimeError(TWICE)

    _apply_tensors = apply


def once_differentiable(fn: Any) -> Any:
    """Decorate a `backward` that cannot be differentiated itself.

    It runs without recording a graph. A second derivative through its results raises an error.

    Args:
        fn: the `backward` of a Function.

    Returns:
        The decorated function.

    Raises:
        RuntimeError: a second derivative is computed through the results.

    Example:
        >>> backward = torch.autograd.function.once_differentiable(lambda ctx, g: 2 * g)
        >>> backward(None, torch.tensor(3.0))
        tensor(6.)

    Source: PyTorch's page `torch.autograd.function.once_differentiable`.
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with modes.Within(grad_enabled=False):
            outputs = fn(ctx, *args, **kwargs)
        needed = any(isinstance(a, TensorBase) and a.requires_grad for a in args)
        if not (needed and modes.is_grad_enabled()):
            return outputs
        results = [stand_in(o) for o in (outputs if isinstance(outputs, tuple) else (outputs,))]
        node = Error(results)
        ends = [None if t is None else output_of(node, i, t) for i, t in enumerate(results)]
        return tuple(ends) if len(ends) > 1 else ends[0]

    return wrapper


def output_of(node: Node, nr: int, leaf: Any) -> Any:
    """The numbers of `leaf` as output `nr` of `node`."""
    result = alias(leaf, leaf._data)
    result._fn, result._nr = node, nr
    return result


def stand_in(output: Any) -> Any:
    """A leaf instead of a result of `backward`."""
    if output is None:
        return None
    leaf = output.detach()
    leaf.requires_grad = True
    return leaf
