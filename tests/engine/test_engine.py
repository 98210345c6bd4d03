"""The backward pass against PyTorch: roots, inputs, keeping and freeing, accumulation, edges.

One program per topic, run in both libraries; what it notes must be equal.
"""

import pytest
from functions import leaf

pytestmark = pytest.mark.quick


def test_several_roots(L, note):
    x, y = leaf(L, 2.0), leaf(L, 3.0)
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


def test_roots_that_are_leaves(L, note):
    x = leaf(L, 2.0)
    x.backward()
    note(x.grad)
    x.backward(L.tensor(3.0))
    note(x.grad, L.autograd.grad(x, x))
    note.error(lambda: L.autograd.grad(x, leaf(L, 2.0)))


def test_gradients_without_accumulation(L, note):
    x, y = leaf(L, 2.0), leaf(L, 3.0)
    a = x * y
    b = a.exp() + a
    note(L.autograd.grad(b, [x, y, a], retain_graph=True))
    note(x.grad, y.grad, a.grad)
    note(L.autograd.grad([a, b], x, [L.tensor(1.0), L.tensor(0.5)], retain_graph=True))
    note(L.autograd.grad(b, b, retain_graph=True))
    note(L.autograd.grad(b, (a, a)))
    z = leaf(L, 2.0)
    note(L.autograd.grad(x * 2, [x, z], allow_unused=True))
    note(L.autograd.grad(x * 2, [x, z], materialize_grads=True))
    note(L.autograd.grad(x * 2, x, [None, None]))


def test_keeping_the_graph(L, note):
    x = leaf(L, 2.0)
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


def test_what_survives_two_passes(L, note):
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


def test_what_is_not_needed_is_not_freed(L, note):
    x, y = leaf(L, 2.0), leaf(L, 3.0)
    a, b = x.exp(), y.exp()
    z = a * b
    L.autograd.grad(z, x)
    note.error(a.backward)
    note.error(b.backward)
    note(x.grad, y.grad)


def test_the_given_gradient_stays_its_own(L, note):
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


def test_a_number_of_ones_own(L, note):
    """A node that says it is newer than those that use its output runs after them all the same."""
    x = L.tensor([0.5, 1.0], requires_grad=True)
    a = x * 2
    b = a.exp()
    a.grad_fn._set_sequence_nr(10**9)
    (b + a).sum().backward()
    note(x.grad)
