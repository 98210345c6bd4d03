"""Hooks, retained gradients and the order in which nodes run, against PyTorch."""

import pytest
from functions import leaf

pytestmark = pytest.mark.quick


def test_order_of_hooks(L, note):
    x = leaf(L, 2.0)
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


def test_hooks_that_change_gradients(L, note):
    x = leaf(L, 2.0)
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


def test_hooks_and_captures(L, note):
    x = leaf(L, 2.0)
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


def test_hooks_under_create_graph(L, note):
    x = leaf(L, 2.0)
    y = x**2
    y.register_hook(lambda g: note("y", g, L.is_grad_enabled()))
    x.register_hook(lambda g: g * x)
    (g,) = L.autograd.grad(y, x, create_graph=True)
    note(g)
    note(L.autograd.grad(g, x))
    (x**2).backward()
    note(x.grad, L.is_grad_enabled())


def test_order_of_execution(L, note):
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
