"""Leaves and custom Functions that several tests use, for whichever library `L` is."""

from __future__ import annotations

from typing import Any

import numpy as np


def leaf(L: Any, *values: float, **how: Any) -> Any:
    """A leaf: 0-dim for one value."""
    data = values[0] if len(values) == 1 else list(values or (1.0, 2.0))
    return L.tensor(data, requires_grad=True, **how)


def numbers(L: Any, *shape: int) -> Any:
    """A leaf of different numbers around 0, in float64."""
    return L.tensor(np.sin(np.arange(np.prod(shape)) * 1.7 + 0.4).reshape(shape), requires_grad=True)


def made(L: Any, forward: Any, backward: Any = lambda ctx, g: g, **more: Any) -> Any:
    """A Function of plain functions."""
    methods = {"forward": forward, "backward": backward, **more}
    members = {n: staticmethod(f) if callable(f) else f for n, f in methods.items() if f is not None}
    return type("Made", (L.autograd.Function,), members)


def square(L: Any) -> Any:
    """x², saving its input."""

    class Square(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    return Square


def exponential(L: Any) -> Any:
    """exp(x), saving its output."""

    class Exp(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, g):
            (result,) = ctx.saved_tensors
            return g * result

    return Exp


def square_and_result(L: Any) -> Any:
    """x², saving its input and its output."""

    class Square(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x * x
            ctx.save_for_backward(x, result)
            return result

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    return Square


def square_apart(L: Any) -> Any:
    """x², with `setup_context` apart from `forward`."""

    class Square(L.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    return Square


def my_pow(L: Any, wrong: float = 0) -> Any:
    """`x ** q`, the documents' own Function. `wrong` is added to x in the derivative with respect to q."""

    class MyPow(L.autograd.Function):
        @staticmethod
        def forward(ctx, x, q):
            ctx.save_for_backward(x, q)
            return x**q

        @staticmethod
        def backward(ctx, g):
            x, q = ctx.saved_tensors
            return g * q * x ** (q - 1), g * x**q * L.log(x + wrong)

    return MyPow


def of_inputs(L: Any, forward: Any, backward: Any) -> Any:
    """A Function that saves its inputs. Its gradients are `backward` of what came and of the inputs."""

    def saving(ctx, *inputs):
        ctx.save_for_backward(*inputs)
        return forward(*inputs)

    return made(L, saving, lambda ctx, g: backward(g, *ctx.saved_tensors))


def pair(L: Any) -> Any:
    """Two outputs, and no gradient for the second input."""
    return made(L, lambda ctx, a, b: (a * b, a + b), lambda ctx, g, h: (g + h, None))


def many(L: Any) -> Any:
    """A quarter of the sum of many inputs: several leaves become ready at once."""

    def backward(ctx, g):
        return (g * 0.25,) * len(ctx.needs_input_grad)

    return made(L, lambda ctx, *inputs: sum(inputs) * 0.25, backward)
