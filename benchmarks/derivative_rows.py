"""Rows j and k: Hessian, Jacobian, and an op that a user defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import custom_ops
import numpy as np
from engines import Engine
from workload import Run, Workload, normal, of_arrays

WAYS = {  # to all derivatives, and what an engine needs for each
    "functional": ("hessian", "jacobian"),
    "func": ("func_hessian", "func_jacobian"),
    "loop": ("grad", "stack"),
}


def derivatives(engine: Engine, way: str, f: Callable[[Any], Any], point: np.ndarray, twice: bool) -> Run:
    """The Jacobian of f at a point, or the Hessian if `twice`, in one of WAYS; the loop is a user's own."""
    leaf, x, ops = engine.leaf, engine.constant(point), engine.ops
    if way == "functional":
        whole = ops.hessian if twice else ops.jacobian
        return lambda: whole(f, x)
    if way == "func":
        of = ops.func_hessian if twice else ops.func_jacobian
        return lambda: of(f)(x)

    def run() -> Any:
        x = leaf(point)
        y = f(x)
        if twice:
            (y,) = ops.grad(y, x, create_graph=True)
        return ops.stack([ops.grad(y[i], x, retain_graph=True)[0] for i in range(len(point))])

    return run


def rosenbrock_hessian(n: int, way: str) -> Workload:
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
        return derivatives(engine, way, rosenbrock, point, twice=True)

    title = f"Hessian of Rosenbrock in {n} dimensions, {way}"
    return Workload(f"j Hessian {way}", title, bind, bind, by_hand, needs=WAYS[way])


def layer_jacobian(n: int, way: str) -> Workload:
    """tanh(W x + b), n → n: the Jacobian by x."""
    weight, bias, point = normal(n, n, seed=6, scale=n**-0.5), normal(n, seed=7), normal(n, seed=8)

    def by_hand() -> Run:
        def run() -> Any:
            y = np.tanh(weight @ point + bias)
            return (1 - y * y)[:, None] * weight

        return run

    def bind(engine: Engine) -> Run:
        w, b, tanh = engine.constant(weight), engine.constant(bias), engine.ops.tanh
        return derivatives(engine, way, lambda x: tanh(w @ x + b), point, twice=False)

    title = f"Jacobian of a tanh layer {n}→{n}, {way}"
    return Workload(f"j Jacobian {way}", title, bind, bind, by_hand, needs=WAYS[way])


def custom_function(count: int, n: int) -> Workload:
    """`count` nested sigmoids on n numbers. The sigmoid is a custom op that a user added to the engine."""

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
    variables, width, function = (4, 5, (3, 4)) if small else (20, 50, (4, 100))
    return [
        *(rosenbrock_hessian(variables, way) for way in WAYS),
        *(layer_jacobian(width, way) for way in WAYS),
        custom_function(*function),
    ]
