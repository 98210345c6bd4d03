"""Several threads run ops and backward at the same time: shared leaves, shared graphs, own modes and errors.

Python changes threads as often as it can while these run. The order in which threads come is nobody's
business; sums, errors and modes are compared with PyTorch's.
"""

import contextlib
import sys
import threading
import warnings

import numpy as np
import pytest
from functions import made

import minigrad
from minigrad.core import modes
from minigrad.core.tensor_state import edge

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def restless():
    """Python looks for another thread to run as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*jobs):
    """Run each job in a thread of its own; the errors that they end with, in the order of the jobs."""
    errors = [None] * len(jobs)
    start = threading.Barrier(len(jobs))

    def run(i, job):
        start.wait()
        try:
            job()
        except Exception as error:
            errors[i] = type(error).__name__, str(error)

    threads = [threading.Thread(target=run, args=(i, job)) for i, job in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_shared_leaf_own_graphs(L, note):
    for size in ((), (3,), (2000,)):
        x = L.tensor(np.ones(size, np.float32).tolist(), requires_grad=True)

        def job(x=x):
            for _ in range(50):
                (x * 2 + x).sum().backward()

        note(together(*[job] * 6), x.grad.sum())


def test_shared_graph_kept(L, note):
    x = L.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(20):
        y = y * 1.0 + x * 0
    root = y.sum()

    def job():
        for _ in range(20):
            root.backward(retain_graph=True)

    note(together(*[job] * 6), x.grad)


def test_hooks_and_retained_gradients(L, note):
    x = L.tensor(1.0, requires_grad=True)
    y = x * 2
    calls = []
    y.register_hook(calls.append)
    x.register_hook(lambda g: g * 1)
    y.grad_fn.register_prehook(lambda g: calls.append(g))

    def job():
        for _ in range(20):
            (y * 3).backward(retain_graph=True)

    note(together(*[job] * 6), x.grad, len(calls))


def test_shared_graph_freed(L, note):
    """One thread gets the error that the graph was freed; nothing worse happens."""
    seen = set()
    for _ in range(40):
        x = L.tensor([1.0, 2.0], requires_grad=True)
        y = x
        for _ in range(12):
            y = (y * y).exp().log() * x
        root = y.sum()
        errors = together(*[root.backward] * 3)
        seen.update(error for error in errors if error is not None)
    note(sorted(seen) in ([], [FREED]))


FREED = (
    "RuntimeError",
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
    "if you need to access saved tensors after calling backward.",
)


def test_create_graph_and_grad(L, note):
    x = L.tensor([1.0, 2.0], requires_grad=True)
    wrong = []

    def deposit():
        for _ in range(20):
            (x * x).sum().backward(create_graph=True)

    def ask():
        for _ in range(40):
            (g,) = L.autograd.grad((x * x * x).sum(), x, create_graph=True)
            (h,) = L.autograd.grad(g.sum(), x)
            if g.tolist() != [3.0, 12.0] or h.tolist() != [6.0, 12.0]:
                wrong.append((g, h))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        note(together(*[deposit, ask] * 3), wrong, x.grad.detach())
    x.grad = None


def test_an_error_in_one_thread(L, note):
    def fail(ctx, g):
        raise KeyError("mine alone")

    fails = made(L, lambda ctx, a: a * 1, fail)
    x = L.tensor(1.0, requires_grad=True)

    def wrong():
        for _ in range(30):
            with contextlib.suppress(KeyError):
                fails.apply(x * 2).backward()
        raise ValueError("at the end")

    def right():
        for _ in range(30):
            (x * 2).backward()

    note(together(wrong, right, wrong, right), x.grad, L.is_grad_enabled())


def test_hooks_of_several_tensors(L, note):
    a, b = L.tensor(2.0, requires_grad=True), L.tensor(3.0, requires_grad=True)
    c = a * b
    calls = []
    L.autograd.graph.register_multi_grad_hook((a, b, c), lambda gs: calls.append(sum(float(g) for g in gs)))

    def job():
        for _ in range(20):
            (c * 1).backward(retain_graph=True)

    note(together(*[job] * 4), calls)


def test_nested_in_threads(L, note):
    x = L.tensor(1.0, requires_grad=True)

    def job():
        y = x * 2

        def hook(g):
            with L.enable_grad():
                (x * 3).backward()

        y.register_hook(hook)
        for _ in range(10):
            y.backward(retain_graph=True)

    note(together(*[job] * 4), x.grad)


def test_one_accumulator_for_all_threads():
    for _ in range(200):
        x = minigrad.tensor(1.0, requires_grad=True)
        found = []
        together(*[lambda x=x, found=found: found.append(edge(x))] * 4)
        assert len(set(found)) == 1


def test_one_storage_for_all_threads():
    for _ in range(200):
        x = minigrad.tensor(1.0)
        views = []
        together(*[lambda x=x, views=views: views.append(x.detach())] * 4)
        views[0].add_(1)
        assert [v.item() for v in views] == [2.0] * 4 and x._version == 1


def test_numpy_stays_silent_in_all_threads(recwarn):
    """Only one thread at a time can use the prepared context that keeps NumPy quiet."""

    def job():
        for _ in range(30):
            x = minigrad.tensor([0.0, -1.0], requires_grad=True)
            (x.log() / x).sum().backward()

    before = modes.snapshot()
    assert together(*[job] * 4) == [None] * 4
    assert not recwarn.list and modes.snapshot() == before
