"""Custom Functions under saved-tensor hooks, anomaly detection, inference mode, with complex numbers, inside
each other and in threads, against PyTorch; and what observers receive of them."""

import threading

from functions import exponential, leaf, made, square
from twins import graph, outcome_and_warnings
from watching import watched

import minigrad


def test_saved_tensor_hooks(L, note):
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


def test_saved_tensor_hooks_in_second_order(L, note):
    x = leaf(L)
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 2, lambda t: t / 2):
        z = square(L).apply(exponential(L).apply(x))
    (g,) = L.autograd.grad(z.sum(), x, create_graph=True)
    note(g, graph(g))
    note(L.autograd.grad(g.sum(), x))


def test_pack_hooks_that_write(L, note):
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        note.error(lambda: square(L).apply(leaf(L) * 1))


def test_hooks_are_disabled(L, note):
    with L.autograd.graph.disable_saved_tensors_hooks("not here"):
        note(square(L).apply(leaf(L)))


def test_written_since_but_under_hooks(L, note):
    x = leaf(L)
    y = x * 1
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        z = square(L).apply(y)
    y.mul_(10)
    z.sum().backward()
    note(x.grad)


def test_anomaly_detection(L, note):
    def fail(ctx, g):
        raise ValueError("refused")

    x = leaf(L)
    for backward in (fail, lambda ctx, g: g * float("nan"), lambda ctx, g: g):
        with L.autograd.detect_anomaly():
            z = made(L, lambda ctx, a: a * 2, backward).apply(x)
            note(sorted(z.grad_fn.metadata))
            result, warned = outcome_and_warnings(lambda z=z: z.sum().backward())
            note(result, [text.partition("Traceback")[0] for _, text in warned])
        note(x.grad)


def test_inference_mode(L, note):
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


def test_complex_numbers(L, note):
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


def test_in_a_thread(L, note):
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


def test_observers_are_told():
    Square, x = square(minigrad), leaf(minigrad)
    with watched() as told:
        with minigrad.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            z = Square.apply(x)
        z.sum().backward()
    assert [name for name, *_ in told] == [
        *("mode_changed", "packed", "forward", "mode_changed", "forward"),
        *("backward_started", "node_ran", "custom_starts", "unpacked", "forward", "forward", "custom_ended"),
        *("node_ran", "deposit_starts", "node_ran", "backward_ended"),
    ]
    _, node, *packed = next(event for event in told if event[0] == "packed")
    assert node is z.grad_fn and packed == ["0", x, x]
    _, op, inputs, result = told[2]
    assert op is Square and inputs[0] is x and result is z
