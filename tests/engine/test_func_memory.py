"""Transforms leave nothing behind that waits for the cycle collector."""

from __future__ import annotations

import gc

import pytest
from functions import square_apart

import minigrad as torch
from minigrad.core.node import Node
from minigrad.core.tensor_state import TensorBase

X = torch.tensor([1.0, 2.0], requires_grad=True)
W = torch.tensor([3.0, 4.0], requires_grad=True)
ONES = torch.ones(2)
ROWS = torch.ones(3, 2)


class Square(square_apart(torch)):
    generate_vmap_rule = True


def cube(x):
    return (W * x**3).sum()


def along(f, x):
    return torch.func.jvp(f, (x,), (ONES,))[1]


def pulled_back_twice():
    _, vjp_fn = torch.func.vjp(cube, X)
    vjp_fn(torch.tensor(1.0))
    vjp_fn(torch.tensor(2.0))


def failing():
    with pytest.raises(ZeroDivisionError):
        torch.func.grad(lambda x: torch.func.grad(lambda y: (y * y).sum() / (1 // 0))(x).sum())(X)


F, A = torch.func, torch.autograd.functional
CASES = {
    "grad": lambda: F.grad(cube)(X),
    "grad, constant": lambda: F.grad(cube)(ONES),
    "grad of grad": lambda: F.grad(lambda x: (F.grad(cube)(x) ** 2).sum())(X),
    "grad of a Function": lambda: F.grad(lambda x: Square.apply(x).sum())(X),
    "backward": lambda: F.grad(cube)(X).sum().backward(),
    "failing": failing,
    "vjp": pulled_back_twice,
    "jvp": lambda: F.jvp(cube, (X,), (ONES,)),
    "jvp in jvp": lambda: along(lambda x: along(cube, x), X),
    "linearize": lambda: F.linearize(cube, X)[1](ONES),
    "jacrev": lambda: F.jacrev(lambda x: W * x * x)(X),
    "jacfwd": lambda: F.jacfwd(lambda x: W * x * x)(X),
    "hessian": lambda: F.hessian(cube)(X),
    "vmap": lambda: F.vmap(cube)(ROWS),
    "vmap of grad": lambda: F.vmap(F.grad(lambda x: (W * Square.apply(x)).sum()))(ROWS),
    "functional.vjp": lambda: A.vjp(cube, X, create_graph=True),
    "functional.jvp": lambda: A.jvp(cube, X, ONES, create_graph=True),
    "functional.hvp": lambda: A.hvp(cube, X, ONES),
    "functional.vhp": lambda: A.vhp(cube, X, ONES),
    "functional.jacobian": lambda: A.jacobian(cube, X, create_graph=True),
    "functional.jacobian, rows": lambda: A.jacobian(lambda x: W * x, X, vectorize=True),
    "functional.jacobian, columns": lambda: A.jacobian(
        lambda x: W * x, X, vectorize=True, strategy="forward-mode"
    ),
    "functional.hessian": lambda: A.hessian(cube, X, create_graph=True),
    "functional.hessian, columns": lambda: A.hessian(
        cube, X, vectorize=True, outer_jacobian_strategy="forward-mode"
    ),
}


def alive() -> int:
    return sum(issubclass(type(thing), (Node, TensorBase)) for thing in gc.get_objects())


@pytest.mark.quick(2)
@pytest.mark.parametrize("case", CASES)
def test_nothing_stays(case):
    run = CASES[case]
    run()
    gc.collect()
    gc.disable()
    try:
        before = alive()
        for _ in range(5):
            run()
        assert alive() == before
    finally:
        gc.enable()
        X.grad = W.grad = None
