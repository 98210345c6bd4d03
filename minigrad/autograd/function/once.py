"""`once_differentiable`: a backward whose own derivative nobody may ask for."""

from __future__ import annotations

import functools
from typing import Any

from ...core import modes
from ...core.modes import Within
from ...core.node import Node
from ...core.tensor_state import TensorBase, alias, edge

TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


class Error(Node):
    """A node that says why it cannot be differentiated."""

    __slots__ = ("message", "_outputs")

    def __init__(self, message: str, inputs: list[Any]) -> None:
        self.message = message
        self._outputs = len(inputs)
        self._begin(tuple(None if t is None else edge(t) for t in inputs))

    def apply(self, gradient: Any, keep: bool = True) -> tuple[Any, ...]:
        """Raise the error."""
        raise RuntimeError(self.message)

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
        with Within(grad_enabled=False):
            outputs = fn(ctx, *args, **kwargs)
        needed = any(isinstance(a, TensorBase) and a.requires_grad for a in args)
        if not (needed and modes.is_grad_enabled()):
            return outputs
        results = [stand_in(o) for o in (outputs if isinstance(outputs, tuple) else (outputs,))]
        node = Error(TWICE, results)
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
