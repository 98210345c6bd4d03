"""What is refused, in PyTorch's words, what an error leaves behind, and the grad modes."""

from __future__ import annotations

import pytest
from twins import Programs, assert_same_diary

import minigrad

programs = Programs()


def leaf(L, value=2.0):
    return L.tensor(value, requires_grad=True)


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


@pytest.mark.parametrize("program", programs, ids=programs.titles)
def test_as_in_pytorch(torch, program):
    assert_same_diary(program, torch)


def test_a_gradient_of_another_dtype_is_refused():
    v = minigrad.tensor([1.0, 2.0])
    with pytest.raises(
        RuntimeError, match="gradient with dtype 'double' to a tensor with grad_dtype 'Float'"
    ):
        v.grad = v.double()
