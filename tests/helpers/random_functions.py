"""The custom Functions of random programs, made once for each library."""

from __future__ import annotations

import functools
from typing import Any

from functions import exponential, square_apart

FUNCTIONS = ["scale", "saved result", "identity", "flat", "halves", "scale_", "apart", "none", "twice"]


@functools.cache
def make_functions(L: Any) -> dict[str, Any]:
    """By name, a function of two tensors that applies a custom Function of library `L`."""
    Function = L.autograd.Function
    SavedResult, Twice = exponential(L), square_apart(L)

    class Scale(Function):  # saves inputs
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    class Identity(Function):  # returns its input as it is
        @staticmethod
        def forward(ctx, a):
            return a

        @staticmethod
        def backward(ctx, g):
            return g * 3

    class Flat(Function):  # returns a view
        @staticmethod
        def forward(ctx, a):
            ctx.shape = a.shape
            return a.view(-1)

        @staticmethod
        def backward(ctx, g):
            return g.reshape(ctx.shape)

    class Halves(Function):  # two outputs, with no gradient for one that is not used
        @staticmethod
        def forward(ctx, a):
            ctx.set_materialize_grads(False)
            return a * 2, a * 3

        @staticmethod
        def backward(ctx, g, h):
            if g is None or h is None:
                return g * 2 if h is None else h * 3
            return g * 2 + h * 3

    class ScaleInPlace(Function):  # writes into its input
        @staticmethod
        def forward(ctx, a):
            ctx.mark_dirty(a)
            return a.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class Apart(Function):  # one of two outputs is not differentiable
        @staticmethod
        def forward(ctx, a):
            more = a + 1
            ctx.mark_non_differentiable(more)
            return a * 3, more

        @staticmethod
        def backward(ctx, g, _):
            return g * 3

    class Nothing(Function):  # gives no gradient
        @staticmethod
        def forward(ctx, a):
            return a + 1

        @staticmethod
        def backward(ctx, g):
            return None

    return {
        "scale": lambda a, b: Scale.apply(a, b),
        "saved result": lambda a, b: SavedResult.apply(a),
        "identity": lambda a, b: Identity.apply(a),
        "flat": lambda a, b: Flat.apply(a),
        "halves": lambda a, b: Halves.apply(a),
        "scale_": lambda a, b: ScaleInPlace.apply(a),
        "apart": lambda a, b: Apart.apply(a),
        "none": lambda a, b: Nothing.apply(a),
        "twice": lambda a, b: Twice.apply(a),
    }
