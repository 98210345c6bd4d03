"""Threads, memory and depth."""

from __future__ import annotations

import tracemalloc

import pytest
from functions import square_and_result

import minigrad

# memory, depth


Square = square_and_result(minigrad)


@pytest.mark.sample(1)
@pytest.mark.quick(1)
@pytest.mark.parametrize("step", [lambda y, x: y * 1.00001, lambda y, x: y + x, lambda y, x: -y])
def test_deep_chains(step):
    """100,000 steps: built, printed, run, run under create_graph, freed; no recursion anywhere."""
    x = minigrad.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = step(y, x)
    assert repr(y).startswith("tensor(")
    repr(y.grad_fn)
    (g,) = minigrad.autograd.grad(y, x, create_graph=True)
    y.backward()
    assert x.grad.item() == g.item()
    del y, g


@pytest.mark.full
def test_a_deep_chain_of_functions():
    x = minigrad.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = Square.apply(y)
    y.backward()
    assert x.grad.item() == float("inf") or x.grad.item() > 0
    del y


def test_a_node_takes_little_memory():
    x = minigrad.tensor(1.0, requires_grad=True)
    y = x * 1.5
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(10_000):
            y = y * 1.0001
        used = (tracemalloc.get_traced_memory()[0] - before) / 10_000
    finally:
        tracemalloc.stop()
    assert used <= 260, f"{used:.0f} bytes a node"
