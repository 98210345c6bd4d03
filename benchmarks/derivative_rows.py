"""Rows j and k: Hessian, Jacobian, and an op that a user defines."""

from __future__ import annotations

from typing import Any

import custom_ops
import numpy as np
from engines import Engine
from workload import Run, Workload, normal, of_arrays


def rosenbrock_hessian(n: int) -> Workload:
    """Σ 100 (x[i+1] − x[i]²)² + (1 − x[i])² in n dimensions: all second derivatives."""
    point = normal(n, seed=5, scale=0.5)

    def rosenbrock(x: Any) -> Any:
        low, high = x[:-1], x[1:]
        return (100.0 * (high - low**2) ** 2 + (1.0 - low) ** 2).sum()

    def by_hand() -> Run:
        def run() -> Any:
            low, high = point[:-1], point[1:]
            found = np.zeros((n, n), point.dtype)
            i = np.arange(n - 1)
            found[i, i] = 1200 * low**2 - 400 * high + 2
            found[i + 1, i + 1] += 200
            found[i, i + 1] = found[i + 1, i] = -400 * low
            return found

        return run

    def bind(engine: Engine) -> Run:
        x, hessian = engine.constant(point), engine.ops.hessian
        return lambda: hessian(rosenbrock, x)

    title = f"Hessian of Rosenbrock in {n} dimensions"
    return Workload("j Hessian", title, bind, bind, by_hand, needs=("hessian",))


def layer_jacobian(n: int) -> Workload:
    """tanh(W x + b), n → n: the Jacobian by x."""
    weight, bias, point = normal(n, n, seed=6, scale=n**-0.5), normal(n, seed=7), normal(n, seed=8)

    def by_hand() -> Run:
        def run() -> Any:
            y = np.tanh(weight @ point + bias)
            return (1 - y * y)[:, None] * weight

        return run

    def bind(engine: Engine) -> Run:
        w, b, x = (engine.constant(array) for array in (weight, bias, point))
        tanh, jacobian = engine.ops.tanh, engine.ops.jacobian
        return lambda: jacobian(lambda x: tanh(w @ x + b), x)

    return Workload(
        "j Jacobian", f"Jacobian of a tanh layer {n}→{n}", bind, bind, by_hand, needs=("jacobian",)
    )


def custom_function(count: int, n: int) -> Workload:
    """`count` sigmoids upon each other, which a user has added to the engine, on n numbers."""

    def forward(ops: Any, x: Any) -> Any:
        sigmoid = ops.custom
        for _ in range(count):
            x = sigmoid(x)
        return x.sum()

    def by_hand(x: Any) -> Any:
        return (custom_ops.by_hand(x, count),)

    title = f"custom Function, {count} times on {n}"
    return of_arrays("k", title, forward, [normal(n, seed=9)], by_hand, needs=("custom",))


def derivative_rows(small: bool) -> list[Workload]:
    """Rows j and k; less of everything if `small`."""
    if small:
        return [rosenbrock_hessian(4), layer_jacobian(5), custom_function(3, 4)]
    return [rosenbrock_hessian(20), layer_jacobian(50), custom_function(4, 100)]
