"""Custom Functions under saved-tensor hooks, anomaly detection, inference mode, with complex numbers, inside
each other and in threads, against PyTorch; and what observers receive of them."""

from __future__ import annotations

import threading

import pytest
from functions import exponential, leaf, made, square
from twins import Programs, assert_same_diary, graph, outcome, told

import minigrad
from minigrad.core import modes as observers

programs = Programs()


@programs
def saved_tensor_hooks(L, note):
    x = leaf(L)

    def pack(t):
        note("pack", t, t is x, t.is_leaf, L.is_grad_enabled())
        return [t.detach() * 2]

    def unpack(kept):
        note("unpack", kept, L.is_grad_enabled())
        return kept[0] / 2

    def forward(ctx, a, b):
        c = a * b
        ctx.save_for_backward(a, None, c, b)
        return c

    def backward(ctx, g):
        a, nothing, c, b = ctx.saved_tensors
        note(a, a is x, a.is_leaf, nothing, c, c.requires_grad, b)
        return g * b, g * a

    with L.autograd.graph.saved_tensors_hooks(pack, unpack):
        z = made(L, forward, backward).apply(x, x * 3)
        e = exponential(L).apply(x)
    note(graph(z), graph(e))
    z.sum().backward()
    e.sum().backward()
    note(x.grad)
    note.error(lambda: z.grad_fn.saved_tensors)


@programs
def saved_tensor_hooks_in_second_order(L, note):
    x = leaf(L)
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 2, lambda t: t / 2):
        z = square(L).apply(exponential(L).apply(x))
    (g,) = L.autograd.grad(z.sum(), x, create_graph=True)
    note(g, graph(g))
    note(L.autograd.grad(g.sum(), x))


@programs
def hooks_on_one_saved_tensor(L, note):
    x = leaf(L)
    z = made(
        L,
        lambda ctx, a: (ctx.save_for_backward(a, None), a * 2)[1],
        lambda ctx, g: (note(ctx.saved_tensors), g)[1],
    ).apply(x)
    saved, nothing = z.grad_fn._raw_saved_tensors
    note(len(z.grad_fn._raw_saved_tensors), saved is z.grad_fn._raw_saved_tensors[0])
    note.error(nothing.register_hooks, lambda t: t, lambda t: t)
    saved.register_hooks(lambda t: (note("pack", t), t * 5)[1], lambda t: (note("unpack", t), t / 5)[1])
    note.error(saved.register_hooks, lambda t: t, lambda t: t)
    z.sum().backward()
    note.error(lambda: z.grad_fn._raw_saved_tensors)


@programs
def pack_hooks_that_write(L, note):
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        note.error(lambda: square(L).apply(leaf(L) * 1))


@programs
def hooks_are_disabled(L, note):
    with L.autograd.graph.disable_saved_tensors_hooks("not here"):
        note(square(L).apply(leaf(L)))


@programs
def written_since_but_under_hooks(L, note):
    x = leaf(L)
    y = x * 1
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        z = square(L).apply(y)
    y.mul_(10)
    z.sum().backward()
    note(x.grad)


@programs
def anomaly_detection(L, note):
    def fail(ctx, g):
        raise ValueError("refused")

    x = leaf(L)
    for backward in (fail, lambda ctx, g: g * float("nan"), lambda ctx, g: g):
        with L.autograd.detect_anomaly():
            z = made(L, lambda ctx, a: a * 2, backward).apply(x)
            note(sorted(z.grad_fn.metadata))
            result, warned = told(lambda z=z: z.sum().backward())
            note(result, [text.partition("Traceback")[0] for _, text in warned])
        note(x.grad)


@programs
def inference_mode(L, note):
    x = leaf(L)
    with L.inference_mode():
        z = square(L).apply(x)
        note(z.is_inference(), z.requires_grad, z.grad_fn)
        frozen = L.ones(2)
    note.error(lambda: square(L).apply(frozen))
    f = made(L, lambda ctx, a, b: (ctx.save_for_backward(b), a * b)[1], lambda ctx, g: (g, None))
    note.error(lambda: f.apply(x, frozen))
    note(made(L, lambda ctx, a, b: a * b, lambda ctx, g: (g * 2, None)).apply(x, frozen))
    same = made(L, lambda ctx, a: a)
    note(same.apply(frozen), same.apply(frozen).is_inference())


@programs
def complex_numbers(L, note):
    z = L.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    x = leaf(L)
    f = made(L, lambda ctx, a, b: a * b, lambda ctx, g: (g * (1 + 1j), L.real(g)))
    w = f.apply(z, x)
    note(w.dtype == L.complex64, w.grad_fn)
    w.backward(L.ones(2, dtype=L.complex64))
    note(L.view_as_real(z.grad), x.grad)
    for wrong in (lambda g: (g, g), lambda g: (L.real(g), None), lambda g: (L.tensor([1, 2]), None)):
        z.grad = None
        f = made(L, lambda ctx, a, b: a * b, lambda ctx, g, wrong=wrong: wrong(g))
        note.error(lambda f=f: f.apply(z, x).backward(L.ones(2, dtype=L.complex64)))
        note(z.grad is None or L.view_as_real(z.grad))


@programs
def checkpoints(L, note):
    from importlib import import_module

    checkpoint = import_module(f"{L.__name__}.utils.checkpoint").checkpoint
    for reentrant in (True, False):
        x = leaf(L)
        z = checkpoint(lambda a: square(L).apply(a) * exponential(L).apply(a), x, use_reentrant=reentrant)
        z.sum().backward()
        note(z, x.grad)


@programs
def gradients_of_gradients_by_gradcheck(L, note):
    x = L.tensor([0.5, 1.5], dtype=L.float64, requires_grad=True)
    for f in (square(L).apply, exponential(L).apply):
        note(L.autograd.gradcheck(f, x), L.autograd.gradgradcheck(f, x))
    wrong = made(L, lambda ctx, a: a * 2, lambda ctx, g: g * 3)
    note(outcome(L.autograd.gradcheck, wrong.apply, x)[0])


@programs
def in_a_thread(L, note):
    results = []

    def work():
        x = leaf(L)
        square(L).apply(x).sum().backward()
        results.append((x.grad, L.is_grad_enabled()))

    with L.no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    note(results)


@programs
def deep_inside_each_other(L, note):
    """Each backward runs another backward."""

    def backward(ctx, g):
        if ctx.depth:
            with L.enable_grad():
                x = leaf(L, 1.0)
                nested.apply(x, ctx.depth - 1).backward()
            return g + x.grad, None
        return g, None

    def forward(ctx, a, depth):
        ctx.depth = depth
        return a * 1

    nested = made(L, forward, backward)
    x = leaf(L, 1.0)
    nested.apply(x, 40).backward()
    note(x.grad)


@pytest.mark.parametrize("program", programs, ids=programs.titles)
def test_as_in_pytorch(torch, program):
    assert_same_diary(program, torch)


class Watcher:
    """Notes the events of custom Functions."""

    def __init__(self):
        self.told = []

    def __getattr__(self, name):
        return lambda *args: self.told.append((name, args))


def test_observers_are_told():
    Square, watcher = square(minigrad), Watcher()
    x = leaf(minigrad)
    observers.add_observer(watcher)
    try:
        with minigrad.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            z = Square.apply(x)
        z.sum().backward()
    finally:
        observers.remove_observer(watcher)
    names = [name for name, _ in watcher.told]
    assert names == [
        *("mode_changed", "packed", "forward", "mode_changed", "forward"),
        *("backward_started", "node_ran", "custom_starts", "unpacked", "forward", "forward", "custom_ended"),
        *("node_ran", "deposit_starts", "node_ran", "backward_ended"),
    ]
    packed = next(args for name, args in watcher.told if name == "packed")
    assert packed[0] is z.grad_fn and packed[1:] == ("0", x, x)
    op, inputs, result = watcher.told[2][1]
    assert op is Square and inputs[0] is x and result is z
