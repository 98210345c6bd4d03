"""Custom Functions that several tests use, for whichever library `L` is."""

from __future__ import annotations

from typing import Any


def leaf(L: Any, *values: float, **how: Any) -> Any:
    """A leaf: 0-dim for one value."""
    data = values[0] if len(values) == 1 else list(values or (1.0, 2.0))
    return L.tensor(data, requires_grad=True, **how)


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
