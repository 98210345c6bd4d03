"""Hooks, retained gradients and the order in which nodes run, against PyTorch."""

from __future__ import annotations

import pytest
from functions import made
from twins import Programs, assert_same_diary

programs = Programs()


def leaf(L, value=2.0):
    return L.tensor(value, requires_grad=True)


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
def missing_gradients(L, note):
    """A node runs when all its edges have reported, with a gradient or with None."""

    Nothing = made(L, lambda ctx, a: a * 2, lambda ctx, g: None)

    def backward(ctx, g):
        note("seen", g)
        return g

    Seen = made(L, lambda ctx, a: a * 3, backward)
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
