"""Backward inside backward, against PyTorch: in hooks and custom Functions, over one graph and several."""

import os
import signal
import threading
import time

import pytest
from functions import leaf, made, square

import minigrad
from minigrad.core import modes

pytestmark = pytest.mark.quick


def nested(L):
    """A Function whose backward runs backward through itself, as often as its input says."""

    def forward(ctx, x):
        ctx.left = x.item()
        return x * 1

    def backward(ctx, g):
        if ctx.left < 0:
            raise ValueError("the bottom")
        if ctx.left > 0:
            with L.enable_grad():
                inner = leaf(L, ctx.left - 1)
                function.apply(inner).backward()
            return g + inner.grad
        return g

    function = made(L, forward, backward)
    return function


def test_in_a_hook_over_another_graph(L, note):
    x, w = leaf(L, 2.0), leaf(L, 3.0)
    y = x * 2

    def hook(g):
        with L.enable_grad():
            (w * w).backward()
        return g * w.grad

    y.register_hook(hook)
    (y * 5).backward()
    note(x.grad, w.grad)


def test_in_a_hook_over_the_same_graph(L, note):
    x = leaf(L, 2.0)
    y = x * x
    z = y * y
    calls = []

    def hook(g):
        calls.append(g)
        if len(calls) < 4:
            z.backward(retain_graph=True)

    y.register_hook(hook)
    z.backward(retain_graph=True)
    note(x.grad, calls)


def test_in_every_kind_of_hook(L, note):
    x, w = leaf(L, 2.0), leaf(L, 3.0)

    def inner(label):
        def hook(*args):
            with L.enable_grad():
                (w * 2).backward()
            note(label, w.grad, L.is_grad_enabled())

        return hook

    y = x * 3
    y.register_hook(inner("tensor"))
    y.grad_fn.register_prehook(inner("pre"))
    y.grad_fn.register_hook(inner("post"))
    x.register_hook(inner("leaf"))
    x.register_post_accumulate_grad_hook(inner("deposit"))
    (y * 2).backward(retain_graph=True)
    note(x.grad)
    L.autograd.grad(x * y, [x, y])
    note(x.grad)


def test_the_inner_frees_what_the_outer_needs(L, note):
    x = leaf(L, 2.0)
    y = x * x
    z = y * y
    (end := z * 1).register_hook(lambda g: note(L.autograd.grad(z, x)))
    note.error(end.backward)
    note(x.grad)


def test_grad_inside_backward(L, note):
    x = leaf(L, 2.0)

    class Twice(square(L)):
        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            with L.enable_grad():
                b = a.detach().requires_grad_()
                (slope,) = L.autograd.grad(b * b, b)
            return g * slope

    y = Twice.apply(x * 3)
    y.backward()
    note(x.grad)
    (g,) = L.autograd.grad(Twice.apply(x * 3), x, create_graph=True)
    note(g)


def test_deep(L, note):
    Nested = nested(L)
    for depth in (1.0, 40.0):
        x = leaf(L, depth)
        Nested.apply(x).backward()
        note(x.grad)
    for depth in (3.5, 30.5):
        x = leaf(L, depth)
        note.error(Nested.apply(x).backward)
        note(x.grad, L.is_grad_enabled())


def test_deep_under_create_graph(L, note):
    x = leaf(L, 30.0)
    (g,) = L.autograd.grad(nested(L).apply(x), x, create_graph=True)
    note(g.detach())


# ------------------------------------------------------------------- many passes in one another


def descend(depth, bottom):
    """Run `bottom` inside that many backward calls."""

    def forward(ctx, x):
        ctx.left = x.item()
        return x * 1

    def backward(ctx, g):
        if ctx.left > 0:
            with minigrad.enable_grad():
                down.apply(leaf(minigrad, ctx.left - 1)).backward()
        else:
            bottom()
        return g

    down = made(minigrad, forward, backward)
    down.apply(leaf(minigrad, float(depth))).backward()


DEPTH = 40


def test_what_user_code_leaves_switched_is_undone():
    """In inner passes, too."""
    before = modes.snapshot()
    for depth in (0, DEPTH):
        entered = []

        def bottom(entered=entered):
            minigrad.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
            minigrad.set_grad_enabled(False)
            entered.append(bool(modes.state.saved_hooks))

        descend(depth, bottom)
        assert entered == [True] and modes.snapshot() == before


def test_the_traceback_reaches_from_top_to_bottom():
    def bottom():
        raise KeyError("down here")

    with pytest.raises(KeyError, match="down here") as caught:
        descend(DEPTH, bottom)
    names = [entry.name for entry in caught.traceback]
    assert names[0] == "test_the_traceback_reaches_from_top_to_bottom" and names[-1] == "bottom"
    assert names.count("backward") >= DEPTH


def test_an_interrupt_ends_all_passes():
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        pytest.skip("this process was started in the background, where shells let interrupts be ignored")

    def bottom():
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            pass
        raise AssertionError("not interrupted")

    before = modes.snapshot()
    for depth in (0, DEPTH):
        with pytest.raises(KeyboardInterrupt):
            descend(depth, bottom)
        assert modes.snapshot() == before
    x = minigrad.tensor(2.0, requires_grad=True)
    (x * 3).backward()
    assert x.grad.item() == 3


def test_nesting_without_end_is_an_error():
    def hook(g):
        with minigrad.enable_grad():
            y = x * 2
        y.register_hook(hook)
        y.backward()

    x = minigrad.tensor(1.0, requires_grad=True)
    y = x * 2
    y.register_hook(hook)
    with pytest.raises(RecursionError):
        y.backward()
    assert minigrad.is_grad_enabled() and x.grad is None
