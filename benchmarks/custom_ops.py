"""Row k: a sigmoid as a user adds it to each engine, by the means that the engine offers for it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

Op = Callable[[Any], Any]


def like_torch(torch: Any) -> Op:
    """A `Function` with its two static methods."""

    class Sigmoid(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = 1 / (1 + torch.exp(-x))
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (y,) = ctx.saved_tensors
            return g * y * (1 - y)

    apply: Op = Sigmoid.apply
    return apply


def mygrad(library: Any) -> Op:
    """An `Operation`, which works on arrays."""
    Operation: Any = importlib.import_module("mygrad.operation_base").Operation

    class Sigmoid(Operation):
        def __call__(self, x: Any) -> Any:
            self.variables = (x,)
            self.y = 1 / (1 + np.exp(-x.data))
            return self.y

        def backward_var(self, grad: Any, index: int, **kwargs: Any) -> Any:
            return grad * self.y * (1 - self.y)

    return lambda x: library.execute_op(Sigmoid, x)


def hips() -> Op:
    """A primitive and its vector-Jacobian product."""
    extend = importlib.import_module("autograd.extend")

    def sigmoid(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    primitive: Op = extend.primitive(sigmoid)
    extend.defvjp(primitive, lambda y, x: lambda g: g * y * (1 - y))
    return primitive


def by_hand(x: Any, count: int) -> Any:
    """The gradient of the sum of `count` nested sigmoids, in NumPy."""
    saved = []
    for _ in range(count):
        x = 1 / (1 + np.exp(-x))
        saved.append(x)
    g = np.ones_like(x)
    for y in reversed(saved):
        g = g * y * (1 - y)
    return g
