"""The backward pass against PyTorch: roots, inputs, hooks, captures, order, freeing, errors. One program per
topic, run in both libraries; what it notes must be equal.
"""

from __future__ import annotations

import gc
import threading
import tracemalloc
import weakref

import pytest
from twins import Programs, assert_same_diary

import minigrad

programs = Programs()


def test_programs_have_names_of_their_own():
    assert len(set(programs.titles)) == len(programs)


def leaf(L, value=2.0):
    return L.tensor(value, requires_grad=True)


@programs
def several_roots(L, note):
    x, y = leaf(L), leaf(L, 3.0)
    a, b = x * y, x + y
    L.autograd.backward([a, b], [L.tensor(2.0), None])
    note(x.grad, y.grad)
    c = x * 3
    L.autograd.backward((c, c), retain_graph=True)
    note(x.grad)
    d = c * 2  # a root that is also reached from the other root
    L.autograd.backward([d, c], [L.tensor(1.0), L.tensor(10.0)])
    note(x.grad)
    L.autograd.backward([x, x * 2])
    note(x.grad)


@programs
def roots_that_are_leaves(L, note):
    x = leaf(L)
    x.backward()
    note(x.grad)
    x.backward(L.tensor(3.0))
    note(x.grad, L.autograd.grad(x, x))
    note.error(lambda: L.autograd.grad(x, leaf(L)))


@programs
def shapes_of_roots(L, note):
    v = L.tensor([1.0, 2.0], requires_grad=True)
    (v[:1] * 3).backward()
    note(v.grad)
    (v * 2).view(1, 2)[0, :1].view(1, 1).backward()
    note(v.grad)
    (v * v).backward(L.tensor([1.0, 10.0]))
    note(v.grad)
    (v * 2).backward(gradient=L.tensor([1, 2]))
    note(v.grad, v.grad.dtype == L.float32)
    (v * 2).backward(gradient=L.tensor([1.0, 2.0], dtype=L.float64))
    note(v.grad, v.grad.dtype == L.float32)
    g = L.tensor([1.0, 2.0], dtype=L.float64, requires_grad=True)
    (h,) = L.autograd.grad(v * v, v, g, create_graph=True)
    note(h, L.autograd.grad(h.sum(), g))


@programs
def backward_into_inputs_only(L, note):
    x, y = leaf(L), leaf(L, 3.0)
    a = x * y
    b = a * a
    b.backward(inputs=[x])
    note(x.grad, y.grad, a.grad)
    b = (x * y) ** 2
    b.backward(inputs=y)
    note(x.grad, y.grad)
    a = x * y
    b = a**2
    b.backward(inputs=[a, x], retain_graph=True)
    note(x.grad, y.grad, a.grad, a.retains_grad)
    b.backward()
    note(x.grad, y.grad, a.grad)


@programs
def gradients_without_accumulation(L, note):
    x, y = leaf(L), leaf(L, 3.0)
    a = x * y
    b = a.exp() + a
    note(L.autograd.grad(b, [x, y, a], retain_graph=True))
    note(x.grad, y.grad, a.grad)
    note(L.autograd.grad([a, b], x, [L.tensor(1.0), L.tensor(0.5)], retain_graph=True))
    note(L.autograd.grad(b, b, retain_graph=True))
    note(L.autograd.grad(b, (a, a)))
    z = leaf(L)
    note(L.autograd.grad(x * 2, [x, z], allow_unused=True))
    note(L.autograd.grad(x * 2, [x, z], materialize_grads=True))
    note(L.autograd.grad(x * 2, x, [None, None]))


@programs
def keeping_the_graph(L, note):
    x = leaf(L)
    z = x**3
    note(L.autograd.grad(z, x, create_graph=True))
    note(L.autograd.grad(z, x))  # create_graph kept it
    note.error(lambda: L.autograd.grad(z, x))
    z = x**3
    L.autograd.grad(z, x, create_graph=True, retain_graph=False)
    note.error(lambda: L.autograd.grad(z, x))
    z = x**3
    z.backward(retain_graph=True)
    z.backward()
    note(x.grad)
    note.error(z.backward)
    note.error(lambda: z.grad_fn._saved_self)
    note(z.grad_fn._saved_exponent, z.grad_fn.next_functions)


@programs
def what_survives_two_passes(L, note):
    v = L.tensor([1.0, 2.0], requires_grad=True)
    w = L.tensor([3.0, 4.0], requires_grad=True)
    ops = {
        "x + 1": lambda: v + 1,
        "x * 2": lambda: v * 2,
        "x / 2": lambda: v / 2,
        "-x": lambda: -v,
        "x - y": lambda: v - w,
        "x * y": lambda: v * w,
        "x ** 2": lambda: v**2,
        "2 ** x": lambda: 2**v,
        "1 - x": lambda: 1 - v,
        "sum": lambda: v.sum(),
        "mean": lambda: v.mean(),
        "view": lambda: v.view(2, 1),
        "select": lambda: v[0],
        "clone": lambda: v.clone(),
        "double": lambda: v.double(),
        "expand": lambda: v.expand(3, 2),
        "exp": lambda: v.exp(),
        "relu": lambda: v.relu(),
        "dot": lambda: v @ w,
        "where": lambda: L.where(v > 1, v, w),
    }
    for name, op in ops.items():
        y = op()
        y.backward(L.ones_like(y))
        note(name)
        note.error(lambda y=y: y.backward(L.ones_like(y)))


@programs
def what_is_not_needed_is_not_freed(L, note):
    x, y = leaf(L), leaf(L, 3.0)
    a, b = x.exp(), y.exp()
    z = a * b
    L.autograd.grad(z, x)
    note.error(a.backward)
    note.error(b.backward)
    note(x.grad, y.grad)


@programs
def accumulation_in_place(L, note):
    x = leaf(L)
    (x * 3).backward()
    first = x.grad
    (x * 4).backward()
    note(x.grad is first, x.grad, x.grad._version)
    x.grad.zero_()
    (x * 5).backward()
    note(x.grad is first, x.grad, x.grad._version)
    x.grad = None
    (x * 6).backward()
    note(x.grad is first, x.grad, first)
    (x**2).backward(create_graph=True)
    note(x.grad, x.grad.grad_fn.next_functions)


@programs
def the_given_gradient_stays_its_own(L, note):
    v = L.tensor([1.0, 2.0], requires_grad=True)
    g = L.tensor([5.0, 6.0])
    v.backward(g)
    (v + 0).backward(g)
    note(v.grad, g)
    w = L.tensor([1.0, 2.0], requires_grad=True)
    a = v + w
    v.grad = None
    a.backward(g)
    v.grad.zero_()
    note(v.grad, w.grad, g)
    kept = []
    b = (v * 2) + (v * 3)
    b.register_hook(kept.append)
    b.backward(g)
    b = v + v
    b.register_hook(kept.append)
    b.backward(g)
    note(v.grad, kept, g)


@programs
def order_of_hooks(L, note):
    x = leaf(L)
    y = x * 3
    y.register_hook(lambda g: note("first tensor hook", g))
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda g: note("prehook", g))
    y.grad_fn.register_hook(lambda a, b: note("posthook", a, b))
    x.register_hook(lambda g: note("hook of the leaf", g))
    x.register_post_accumulate_grad_hook(lambda t: note("after the deposit", t.grad))
    z = y.log() + y.log()
    acc = y.grad_fn.next_functions[0][0]
    acc.register_prehook(lambda g: note("prehook of the leaf", g))
    acc.register_hook(lambda a, b: note("posthook of the leaf", a, b))
    z.backward()
    note(y.grad, x.grad)


@programs
def hooks_that_change_gradients(L, note):
    x = leaf(L)
    y = x * 3
    y.grad_fn.register_prehook(lambda g: (g[0] * 2,))
    y.grad_fn.register_hook(lambda a, b: (a[0] + 100, None))
    handle = y.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: None)
    y.backward(retain_graph=True)
    note(x.grad)
    handle.remove()
    handle.remove()
    y.backward(retain_graph=True)
    note(x.grad)
    with x.register_hook(lambda g: g * 0):
        y.backward(retain_graph=True)
    note(x.grad)
    y.backward()
    note(x.grad)


@programs
def hooks_and_captures(L, note):
    x = leaf(L)
    y = x * 3
    z = y.log()
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda g: (g[0] * 100,))
    x.register_hook(lambda g: g + 1)
    note(L.autograd.grad(z, [y, x], retain_graph=True))
    note(L.autograd.grad(z, y, retain_graph=True))
    note(L.autograd.grad(z, x, retain_graph=True))
    y.retain_grad()
    z.backward(inputs=[y])
    note(y.grad, x.grad)


@programs
def a_leaf_hook_sees_the_sum_once(L, note):
    x = leaf(L)
    x.register_hook(lambda g: note("leaf", g))
    z = x * x + x.sqrt() + x
    z.backward()
    note(x.grad)
    y = leaf(L)
    used = y * 2  # the hook comes after the graph
    y.register_hook(lambda g: note("late", g))
    used.backward()


@programs
def hooks_that_return_nonsense(L, note):
    def attempt(hook):
        v = L.tensor([1.0, 2.0], requires_grad=True)
        v.register_hook(hook)
        note.error(lambda: (v * 2).sum().backward())
        note(v.grad)

    attempt(lambda g: L.ones(3))
    attempt(lambda g: g.double())
    attempt(lambda g: 3)
    attempt(lambda g: g * 2)


@programs
def hooks_under_create_graph(L, note):
    x = leaf(L)
    y = x**2
    y.register_hook(lambda g: note("y", g, L.is_grad_enabled()))
    x.register_hook(lambda g: g * x)
    (g,) = L.autograd.grad(y, x, create_graph=True)
    note(g)
    note(L.autograd.grad(g, x))
    (x**2).backward()
    note(x.grad, L.is_grad_enabled())


@programs
def retained_gradients(L, note):
    x = leaf(L)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    z = y * y
    note(y.retains_grad, x.retains_grad, z.retains_grad)
    z.backward(retain_graph=True)
    note(y.grad)
    z.backward()
    note(y.grad, x.grad)
    x.retain_grad()
    note(x.retains_grad)
    note.error(lambda: L.tensor(1.0).retain_grad())
    y = x * 2
    y.retain_grad()
    (y**2).backward(create_graph=True)
    note(y.grad, x.grad)


@programs
def order_of_execution(L, note):
    def watch(root):
        seen, stack = [], [root.grad_fn]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.append(node)
            number = len(seen)
            node.register_hook(lambda a, b, n=node, k=number: note(n.name(), k))
            stack.extend(t for t, _ in node.next_functions if t is not None)

    a, b, c = leaf(L, 1.0), leaf(L, 2.0), leaf(L, 3.0)
    d = a * b + b * c + (c * a).exp() + a
    e = d * d + b
    watch(e)
    e.backward()
    xs = [leaf(L, 0.1 * i) for i in range(7)]
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    for x in reversed(xs):
        total = total * x
    watch(total)
    total.backward()


@programs
def edges_and_leaves(L, note):
    x, y = leaf(L), leaf(L, 3.0)
    z = x * y + x
    note(z.grad_fn.next_functions[0][0].next_functions[0][0].variable is x)
    note(z.grad_fn.next_functions[1][0] is z.grad_fn.next_functions[0][0].next_functions[0][0])
    note((x * 2).grad_fn.next_functions, (x + x).grad_fn.next_functions)
    note(z.grad_fn is z.grad_fn, z.output_nr, x.output_nr)
    node = (x * 1).grad_fn
    node.metadata["key"] = 3
    note(node.metadata)


@programs
def errors_of_backward(L, note):
    x = leaf(L)
    v = L.tensor([1.0, 2.0], requires_grad=True)
    grad, backward = L.autograd.grad, L.autograd.backward
    for attempt in (
        lambda: L.tensor(1.0).backward(),
        lambda: (x > 1).backward(),
        lambda: v.backward(),
        lambda: (v * 2).backward(),
        lambda: (v * 2).backward(L.tensor([1.0])),
        lambda: (x * 2).backward(3.0),
        lambda: (x * 2).backward([1.0]),
        lambda: backward([x * 2, x * 3], [None]),
        lambda: backward([x * 2, x * 3], L.tensor(1.0)),
        lambda: backward([]),
        lambda: backward(None),
        lambda: backward(3),
        lambda: backward([x * 2, L.tensor(2.0)]),
        lambda: backward(x * 2, grad_variables=L.tensor(1.0)),
        lambda: backward(x * 2, L.tensor(1.0), grad_variables=L.tensor(1.0)),
        lambda: (x * 2).backward(inputs=[]),
        lambda: (x * 2).backward(inputs=[L.tensor(1.0)]),
        lambda: grad(x * 2, []),
        lambda: grad([], [x]),
        lambda: grad(x * 2, 3),
        lambda: grad(3, x),
        lambda: grad(x * 2, [v]),
        lambda: grad(x * 2, L.tensor(1.0)),
        lambda: grad(L.tensor(1.0), x),
        lambda: grad(v * 2, x),
        lambda: grad(v[:0] * 2, x),
        lambda: grad(x * 2, [v], allow_unused=False, materialize_grads=True),
    ):
        note.error(attempt)


@programs
def errors_of_attributes(L, note):
    x = leaf(L)
    v = L.tensor([1.0, 2.0], requires_grad=True)
    for attempt in (
        lambda: L.tensor(1, requires_grad=True),
        lambda: L.tensor([True]).requires_grad_(),
        lambda: v.requires_grad_(3),
        lambda: setattr(v * 2, "requires_grad", False),
        lambda: setattr(v * 2, "requires_grad", True),
        lambda: v.numpy(),
        lambda: (v * 2).numpy(),
        lambda: setattr(v, "grad", L.tensor([1.0])),
        lambda: setattr(v, "grad", 3),
        lambda: setattr(v, "grad", v),
        lambda: L.tensor(1.0).register_hook(print),
        lambda: (x * 2).register_post_accumulate_grad_hook(print),
        lambda: L.tensor(1.0).register_post_accumulate_grad_hook(print),
        lambda: L.log(3.0),
        lambda: L.tensor([1.0, 2.0]) @ L.tensor([1.0, 2.0, 3.0]),
        lambda: L.tensor([1.0, 2.0]) + L.tensor([1.0, 2.0, 3.0]),
        lambda: L.ones(2, 3) + L.ones(3, 2),
        lambda: bool(v),
        lambda: float(v),
        lambda: x ** "a",
        lambda: x + "a",
        lambda: "a" * x,
        lambda: x - None,
        lambda: len(x),
        lambda: list(x),
        lambda: v[5],
        lambda: v[0, 0],
        lambda: x[0],
        lambda: v.view(3),
        lambda: v.view(-1, -1),
        lambda: v.expand(3),
        lambda: v.sum(2),
        lambda: v.sum((0, 0)),
        lambda: v.unsqueeze(3),
        lambda: v.squeeze(3),
        lambda: v.transpose(0, 2),
        lambda: L.ones(2, 2, 2).t(),
        lambda: L.ones(2, 3).t().view(6),
        lambda: L.ones(2, 3) @ L.ones(2, 3),
        lambda: L.ones(2, 3) @ L.ones(2),
        lambda: L.ones(2, 2, 3) @ L.ones(2, 2, 3),
        lambda: L.ones(2, 2) @ x,
        lambda: L.tensor([1, 2]).mean(),
        lambda: L.tensor([1, 2]) @ L.tensor([1.0, 2.0]),
        lambda: v.item(),
    ):
        note.error(attempt)


@programs
def errors_leave_everything_as_it_was(L, note):
    def refuse(*_):
        raise ValueError("refused")

    x, y = leaf(L), leaf(L, 3.0)
    a = x * y
    b = a.exp() * x
    handle = a.register_hook(refuse)
    note.error(b.backward)
    note(x.grad, y.grad, L.is_grad_enabled())
    handle.remove()
    b = (x * y).exp() * x
    b.backward()
    note(x.grad, y.grad)
    with L.no_grad():
        c = None
        with L.enable_grad():
            c = x * 2
        c.register_hook(refuse)
        note.error(c.backward)
        note(L.is_grad_enabled())
    note(L.is_grad_enabled())


@programs
def grad_modes(L, note):
    x = leaf(L)
    with L.no_grad():
        y = x * 2
        made = L.tensor(1.0, requires_grad=True)
        note(y, made, L.is_grad_enabled())
        with L.enable_grad():
            note(x * 2, L.is_grad_enabled())
        with L.set_grad_enabled(False):
            note(L.is_grad_enabled())
    note(L.is_grad_enabled())

    @L.no_grad()
    def quiet(t):
        return t * 2

    @L.enable_grad()
    def loud(t):
        yield L.is_grad_enabled()
        yield t * 2

    note(quiet(x), L.is_grad_enabled())
    with L.no_grad():
        note([*loud(x)], L.is_grad_enabled())
    L.set_grad_enabled(False)
    note(x * 2)
    L.set_grad_enabled(True)
    note(x * 2)


@programs
def second_derivatives(L, note):
    x = leaf(L, 5.0)
    z = (x**3).log()
    (g,) = L.autograd.grad(z, x, create_graph=True)
    (h,) = L.autograd.grad(g, x, create_graph=True)
    (i,) = L.autograd.grad(h, x)
    note(g, h, i)
    z = (x**3).log()
    z.backward(create_graph=True)
    x.grad.backward()
    note(x.grad.detach())
    v = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    f = (v * v).sum() ** 2
    (g,) = L.autograd.grad(f, v, create_graph=True)
    note(g, [L.autograd.grad(g[k], v, retain_graph=True) for k in range(3)])


@programs
def missing_gradients(L, note):
    """A node runs when all its edges have reported, with a gradient or with None."""

    class Nothing(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return None

    class Seen(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 3

        @staticmethod
        def backward(ctx, g):
            note("seen", g)
            return g

    x = leaf(L)
    s = Seen.apply(x)
    s.grad_fn.register_hook(lambda a, b: note("hook of seen", a, b))
    t = s * 1
    t.grad_fn.register_hook(lambda a, b: note("hook of a product", a, b))
    x.register_hook(lambda g: note("leaf", g))
    Nothing.apply(t).backward()
    note(x.grad)


@pytest.mark.parametrize("program", programs, ids=programs.titles)
def test_as_in_pytorch(torch, program):
    assert_same_diary(program, torch)


def test_a_gradient_of_another_dtype_is_refused():
    v = minigrad.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="gradient with dtype 'Double' to a tensor with dtype 'Float'"):
        v.grad = v.double()


# ------------------------------------------------------------------------------------------- threads,
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


class Square(minigrad.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        out = a * a
        ctx.save_for_backward(a, out)
        return out

    @staticmethod
    def backward(ctx, g):
        a, _ = ctx.saved_tensors
        return 2 * a * g


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
