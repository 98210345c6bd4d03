"""The backward pass against PyTorch: roots, inputs, keeping and freeing, accumulation, edges.

One program per topic, run in both libraries; what it notes must be equal.
"""

from __future__ import annotations

import numpy as np
import pytest
from twins import Programs, assert_same_diary

import minigrad
from minigrad.core import modes as observers

programs = Programs()


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
def a_number_of_ones_own(L, note):
    """A node that says it is newer than those that use its output runs after them all the same."""
    x = L.tensor([0.5, 1.0], requires_grad=True)
    a = x * 2
    b = a.exp()
    a.grad_fn._set_sequence_nr(10**9)
    (b + a).sum().backward()
    note(x.grad)


@pytest.mark.parametrize("program", programs, ids=programs.titles)
def test_as_in_pytorch(torch, program):
    assert_same_diary(program, torch)


def test_programs_have_names_of_their_own():
    assert len(set(programs.titles)) == len(programs)


@pytest.mark.parametrize("size", [(), (3,)], ids=["numbers", "arrays"])
@pytest.mark.parametrize("keep", [False, True])
def test_both_orders_give_the_same_bits(size, keep):
    """The plain loop, and the other one, which an observer asks for: see Note [Order] in `engine`."""

    def gradients():
        numbers = np.random.default_rng(0)
        leaves = [minigrad.tensor(numbers.normal(size=size), requires_grad=True) for _ in range(4)]
        known = list(leaves)
        for _ in range(200):
            a, b = (known[k] for k in numbers.integers(0, len(known), 2))
            known.append([a * b, a - b, a + b.tanh(), a.sin()][numbers.integers(4)].tanh())
        out = sum(t.sum() for t in known[-50:])
        some = minigrad.autograd.grad(out, leaves[1:3], retain_graph=True)
        out.backward(retain_graph=keep)
        return [g.numpy().tobytes() for g in (*some, *(t.grad for t in leaves))]

    plain = gradients()
    observer = observers.Observer()
    observers.add_observer(observer)
    try:
        assert gradients() == plain
    finally:
        observers.remove_observer(observer)


def diary_of(L, watched):
    """What is visible in a pass that the plain loop begins and the other one finishes."""
    a, b, c = (leaf(L, v) for v in (2.0, 3.0, 5.0))
    notes = []
    inner = a * b

    def grads():
        return [t.grad and t.grad.item() for t in (b, c)]

    inner.register_hook(lambda g: notes.append((g.item(), *grads())))
    a.register_hook(lambda g: notes.append(("a", g.item(), *grads())))
    z = (inner * b).exp().log() * c + c * b
    if watched:
        observers.add_observer(observer := observers.Observer())
    try:
        got = L.autograd.grad(z, (inner, c), retain_graph=True)
        z.backward()
    finally:
        if watched:
            observers.remove_observer(observer)
    return notes, [g.item() for g in (*got, a.grad, b.grad, c.grad)]


def test_hooks_see_the_same_where_the_plain_loop_stops(torch):
    assert diary_of(minigrad, False) == diary_of(minigrad, True) == diary_of(torch, False)


def left_by_an_error(L):
    """The gradients of leaves after an error in the middle of a pass."""
    early, middle, late = (leaf(L, v) for v in (2.0, 3.0, 5.0))
    broken = middle.exp()
    z = (broken * late).tanh() * early
    broken.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    return [t.grad is not None for t in (early, middle, late)]


def test_leaves_that_were_ready_before_an_error_have_gradients(torch):
    assert left_by_an_error(minigrad) == left_by_an_error(torch) == [True, False, False]


def test_what_does_not_lead_there_is_not_freed():
    """Where nodes run by age, too."""
    x, y = leaf(minigrad), leaf(minigrad, 3.0)
    a, b = x.exp(), y.exp()
    minigrad.autograd.grad(a * b, x)
    assert b.grad_fn._saved_result.item() == b.item()
    with pytest.raises(RuntimeError, match="freed"):
        a.grad_fn._saved_result  # noqa: B018
