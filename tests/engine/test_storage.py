"""Shared memory, versions, views and in-place ops against PyTorch, on 0-d and 1-d tensors."""

import numpy as np
import pytest
from calls import assert_same_ends
from functions import leaf

import minigrad

pytestmark = pytest.mark.quick

SHAPES = {"0-d": 2.0, "1-d": [2.0, 3.0], "one element": [2.0]}


@pytest.fixture(params=SHAPES.values(), ids=SHAPES.keys())
def value(request):
    return request.param


def test_a_leaf_written_under_no_grad(L, note, value):
    x = leaf(L, value)
    y, z = x.log(), x + 1
    with L.no_grad():
        x += 1
        x.mul_(2)
    note(x, x._version, x.is_leaf)
    note.error(lambda: y.sum().backward())
    z.sum().backward()
    x.log().sum().backward()
    note(x.grad)


def test_data_writes_unseen(L, note, value):
    x = leaf(L, value)
    y = x * 3
    z = y.log()
    w = x.log()
    y.data.fill_(100.0)
    x.data.add_(1)
    note(x, y, x._version, y._version, x.data._version)
    z.sum().backward(retain_graph=True)
    w.sum().backward()
    note(x.grad, x.data.requires_grad, x.data.is_leaf)
    x.data = L.tensor(value) * 5
    note(x, x._version)
    v = x.log()
    x.data = L.tensor(value) * 10
    note(L.autograd.grad(v.sum(), x))


def test_the_numpy_array_of_a_gradient_follows(L, note, value):
    x = leaf(L, value)
    (x**2).sum().backward()
    array = x.grad.numpy()
    (x**2).sum().backward()
    note(array.tolist(), x.grad, x.grad._version)
    array[...] = 7.0
    note(x.grad, x.grad._version)
    x.grad.zero_()
    note(array.tolist(), x.grad._version)


def test_gradients_zeroed_and_scaled(L, note, value):
    x = leaf(L, value)
    (x * 2).sum().backward()
    g = x.grad
    g.zero_()
    note(x.grad, g._version)
    (x * 3).sum().backward()
    x.grad *= 2
    note(x.grad, x.grad is g, g._version)
    x.grad.data.zero_()
    note(x.grad, g._version)
    del x.grad
    note(x.grad, g)


def test_in_place_on_leaves(L, note, value):
    x = leaf(L, value)
    for attempt in (
        lambda: x.add_(1),
        lambda: x.zero_(),
        lambda: x.view(-1).mul_(2),
        lambda: x.view(-1)[0].fill_(2),
        lambda: x.copy_(L.tensor(value)),
        lambda: x.detach().add_(1) * 0,
        lambda: x.__iadd__(1),
    ):
        note.error(attempt)
        note(x, x._version)
    y = L.tensor(value)
    y += x
    note(y, y._version, y.is_leaf)
    y.sum().backward()
    note(x.grad)


def test_in_place_on_results(L, note, value):
    x = leaf(L, value)
    for op in (
        lambda t: t.add_(1),
        lambda t: t.add_(x),
        lambda t: t.add_(x, alpha=2),
        lambda t: t.sub_(x),
        lambda t: t.sub_(1, alpha=3),
        lambda t: t.mul_(2),
        lambda t: t.mul_(x),
        lambda t: t.div_(x),
        lambda t: t.div_(4),
        lambda t: t.pow_(2),
        lambda t: t.pow_(x),
        lambda t: t.neg_(),
        lambda t: t.exp_(),
        lambda t: t.log_(),
        lambda t: t.sqrt_(),
        lambda t: t.tanh_(),
        lambda t: t.sigmoid_(),
        lambda t: t.relu_(),
        lambda t: t.zero_(),
        lambda t: t.fill_(3.0),
        lambda t: t.copy_(x),
        lambda t: t.copy_(L.tensor(value)),
    ):
        x.grad = None
        y = x * 3
        same = op(y)
        note(same is y, y, y._version, y.grad_fn.next_functions)
        note.error(lambda y=y: y.sum().backward())
        note(x.grad)


def test_operators_in_place(L, note, value):
    x = leaf(L, value)
    y = x * 2
    before = y
    y += 1
    y *= x
    y -= x
    y /= 2
    y **= 2
    note(y is before, y, y._version, y.grad_fn)
    y.sum().backward()
    note(x.grad)
    z = L.tensor(value)
    z = z * 2
    z += x.detach()
    note(z, z._version, z.requires_grad)


def test_hooks_and_retained_gradients_across_in_place(L, note, value):
    x = leaf(L, value)
    y = x * 2
    y.register_hook(lambda g: note("before", g))
    y.retain_grad()
    y.mul_(3)
    y.register_hook(lambda g: note("after", g))
    (y * 1).sum().backward()
    note(y.grad, y.retains_grad, x.grad)


def test_second_derivative_through_in_place(L, note, value):
    x = leaf(L, value)
    y = x * x
    y.mul_(x)
    y.pow_(2)
    (g,) = L.autograd.grad(y.sum(), x, create_graph=True)
    note(g, L.autograd.grad(g.sum(), x))


def test_detach_in_place(L, note, value):
    x = leaf(L, value)
    y = x * 2
    z = y * 3
    y.detach_()
    note(y, y.is_leaf, z.requires_grad)
    z.sum().backward()
    note(x.grad)
    note.error(lambda: (x * 2).view(-1).detach_())
    note(leaf(L, value).detach_())


MISFITS = """
t.add_(L.ones(3, 2, 2)) | L.tensor([1, 2]).add_(1.5) | L.tensor([1, 2]).div_(2) | L.tensor([1, 2]).log_()
L.tensor([True]).add_(1) | L.tensor([1, 2]).mul_(2) | L.tensor([1, 2]).copy_(L.tensor([1.7, -2.7]))
L.tensor([1, 2]).fill_(2.9) | L.tensor([1.0, 2.0]).copy_(L.ones(3)) | t.double().add_(L.tensor(value))
t.add_(L.tensor(value).double()) | t.add_('a')
"""


def test_in_place_that_does_not_fit(torch, value):
    assert_same_ends(torch, MISFITS, lambda L: {"t": L.tensor(value), "value": value})


def test_zero_dim_numbers_turn_into_an_array_only_when_shared():
    t = minigrad.tensor(2.0) * 3
    assert isinstance(t._data, np.float32)
    d = t.detach()
    assert isinstance(t._data, np.ndarray) and np.shares_memory(t._data, d._data)
    d.add_(1)
    assert (t.item(), t._version) == (7.0, 1)


@pytest.mark.parametrize("value", [2.0, [2.0, 3.0]])
def test_results_share_no_memory_with_their_inputs(value):
    x = minigrad.tensor(value, requires_grad=True)
    for y in (
        x + 0,
        x * 1,
        x**1,
        x.clone(),
        abs(x),
        x.relu(),
        x.double().float(),
        minigrad.where(x > 0, x, x),
    ):
        with minigrad.no_grad():
            y.zero_()
        assert x.tolist() == value
