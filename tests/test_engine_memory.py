"""Threads, memory and depth."""

from __future__ import annotations

import gc
import threading
import tracemalloc
import weakref

import pytest
from functions import square_and_result

import minigrad

# memory, depth


def test_two_threads_over_separate_graphs():
    results, start = {}, threading.Barrier(2)

    def work(k: int) -> None:
        start.wait()
        sums = []
        for _ in range(30):
            x = minigrad.tensor(1.0, requires_grad=True)
            y = x
            for _ in range(100):
                y = y * 1.01 + x * k
            y.register_hook(lambda g: g)
            with minigrad.no_grad():
                assert not (x * 2).requires_grad
            y.backward()
            sums.append(x.grad.item())
        results[k] = sums

    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k, sums in results.items():
        assert len(set(sums)) == 1
        assert sums[0] == pytest.approx(1.01**100 + k * (1.01**100 - 1) / 0.01, rel=1e-4)


def test_two_threads_over_one_graph():
    """Two passes over a kept graph at once: each adds its gradient once."""
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    threads = [
        threading.Thread(target=lambda: minigrad.autograd.grad(y, x, retain_graph=True)) for _ in range(8)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    (g,) = minigrad.autograd.grad(y, x)
    assert g.tolist() == [2.0, 4.0]


def test_backward_inside_a_hook():
    x, inner = (minigrad.tensor(2.0, requires_grad=True) for _ in range(2))
    y = x * 3

    def run_another(g):
        with minigrad.enable_grad():
            (inner**2).backward()

    y.register_hook(run_another)
    (y * y).backward()
    assert (x.grad.item(), inner.grad.item()) == (36.0, 4.0)


Square = square_and_result(minigrad)
LEAK_TESTS = {
    "chain": lambda x: (x * 2 + 1).exp().log() ** 2,
    "function": lambda x: Square.apply(x) * 3,
    "saved result": lambda x: x.exp().tanh().sqrt(),
    "view": lambda x: x.view(1)[0] * x,
    "in place": lambda x: (x * 2).mul_(x).add_(1),
    "in place on a view": lambda x: written(x),
    "hook": lambda x: hooked(x),
    "retained": lambda x: retained(x),
}


def written(x):
    y = x.view(1) * 2
    y[0] = x * 3
    return y.sum()


def hooked(x):
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda a, b: None)
    return y * y


def retained(x):
    y = x * 2
    y.retain_grad()
    return y * y


@pytest.mark.parametrize("when", ["never run", "backward", "grad", "second order"])
@pytest.mark.parametrize("name", LEAK_TESTS)
def test_everything_is_freed_without_the_collector(name, when):
    gc.collect()
    gc.disable()
    try:
        x = minigrad.tensor(1.5, requires_grad=True)
        z = LEAK_TESTS[name](x)
        alive = [weakref.ref(x), weakref.ref(z)]
        if when == "backward":
            z.backward()
        elif when != "never run":
            (g,) = minigrad.autograd.grad(z, x, create_graph=when == "second order")
            alive.append(weakref.ref(g))
            if when == "second order" and g.requires_grad:
                minigrad.autograd.grad(g, x, allow_unused=True)
            del g
        node = z.grad_fn
        while node.next_functions:
            node = next(n for n, _ in node.next_functions if n is not None)
        alive.append(weakref.ref(node))  # the AccumulateGrad, which the whole graph keeps alive
        del x, z, node
        assert [ref() for ref in alive] == [None] * len(alive)
    finally:
        gc.enable()


def test_failed_passes_free_everything_too():
    gc.collect()
    gc.disable()
    try:
        x = minigrad.tensor(1.5, requires_grad=True)
        y = x * 2

        def refuse(g):
            raise ValueError("refused")

        y.register_hook(refuse)
        z = y.exp()
        alive = [weakref.ref(x), weakref.ref(y), weakref.ref(z)]
        with pytest.raises(ValueError, match="refused"):
            z.backward()
        del x, y, z
        assert [ref() for ref in alive] == [None] * 3
    finally:
        gc.enable()


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
