"""What the three shorter texts show: the introduction, the computational graph, backward."""

from __future__ import annotations

import numpy as np
import pytest
from documents.facts import FREED, calls, name, near, nodes
from functions import exponential

# ---------------------------------------------------------------------------------------- introduction


def test_three_ways_to_require_gradients(lib):
    at_birth = lib.tensor([[1, 2], [3, 4]], dtype=lib.float, requires_grad=True)
    by_attribute = lib.FloatTensor([1.0, 2.0])
    assert (by_attribute.requires_grad, by_attribute.dtype) == (False, lib.float32)
    by_attribute.requires_grad = True
    by_method = lib.FloatTensor([1.0, 2.0])
    assert by_method.requires_grad_() is by_method
    for t in (at_birth, by_attribute, by_method):
        assert (t.requires_grad, t.is_leaf, t.dtype, t.grad) == (True, True, lib.float32, None)


def test_int_must_become_float(lib):
    with pytest.raises(
        RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"
    ):
        lib.tensor([1, 2], requires_grad=True)
    whole = lib.tensor([1, 2])
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        whole.requires_grad = True
    t = whole.float().requires_grad_()
    (t**2).sum().backward()
    assert t.grad.tolist() == [2.0, 4.0]


def test_gradients_come_with_backward_and_not_before(lib):
    """x² → 8; x² + y² → 8, 4; the roots have the shape (1,)."""
    x = lib.tensor([4.0], requires_grad=True)
    y = lib.tensor([2.0], requires_grad=True)
    z = x**2 + y**2
    assert (tuple(z.shape), x.grad, y.grad) == ((1,), None, None)
    z.backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([8.0], [4.0])


def test_composite_function(lib):
    """(2x²)²: dz/dy = 2y = 64 and dy/dx = 4x = 16, together 1024."""
    x = lib.tensor([4.0], requires_grad=True)
    y = 2 * (x**2)
    z = y**2
    (dz_dy,) = lib.autograd.grad(z, y, retain_graph=True)
    (dy_dx,) = lib.autograd.grad(y, x, retain_graph=True)
    z.backward()
    assert (dz_dy.item(), dy_dx.item(), x.grad.item()) == (64.0, 16.0, 1024.0)


def test_why_gradients_at_all_five_steps_of_descent(lib):
    """A cost (w·2 − 6)² goes down with each step against its gradient 4·(w·2 − 6)."""
    w = lib.tensor(0.0, requires_grad=True)
    costs, by_hand = [], 0.0
    for _ in range(5):
        cost = (w * 2.0 - 6.0) ** 2
        costs.append(cost.item())
        cost.backward()
        slope = 4 * (by_hand * 2 - 6)
        assert w.grad.item() == pytest.approx(slope, abs=1e-5)
        with lib.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        by_hand -= 0.1 * slope
    assert costs == sorted(costs, reverse=True)
    assert (costs[0], w.is_leaf, w.requires_grad) == (36.0, True, True)
    assert w.item() == pytest.approx(by_hand, abs=1e-5) == pytest.approx(3.0, abs=0.01)


# --------------------------------------------------------------------------------- computational graph


def regression(lib):
    x = lib.tensor(2.0, requires_grad=True)
    w = lib.tensor(3.0, requires_grad=True)
    b = lib.tensor(1.0, requires_grad=True)
    z = w * x
    y = z + b
    return x, w, b, z, y, y**2


def test_leaves_and_intermediates(lib):
    *leaves, z, y, loss = regression(lib)
    assert all(t.is_leaf and t.grad_fn is None for t in leaves)
    assert [t.is_leaf for t in (z, y, loss)] == [False, False, False]
    assert [t.grad_fn.name() for t in (z, y, loss)] == ["MulBackward0", "AddBackward0", "PowBackward0"]


def test_linear_regression_step_by_step(lib):
    """6, 7, 49; then 14, 14, 14, 28, 42: dloss/dy, dloss/dz, dloss/db, dloss/dw, dloss/dx."""
    x, w, b, z, y, loss = regression(lib)
    assert [t.item() for t in (z, y, loss)] == [6, 7, 49]
    for t in (y, z):
        t.retain_grad()
    loss.backward()
    assert [t.grad.item() for t in (y, z, b, w, x)] == [14, 14, 14, 28, 42]


def test_retained_graph_and_a_fresh_one(lib):
    x = lib.tensor(2.0, requires_grad=True)
    y = x**3
    y.backward()
    assert x.grad.item() == 12.0
    with pytest.raises(RuntimeError, match=FREED):
        y.backward()
    x.grad = None
    y = x**3
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 24.0


def test_exercise(lib):
    """loss = (2x + 3)² at x = 1: by hand 2·(2x + 3)·2 = 20."""
    x = lib.tensor(1.0, requires_grad=True)
    y = x * 2
    z = y + 3
    loss = z**2
    loss.backward()
    assert (loss.item(), x.grad.item()) == (25.0, 20.0)
    assert (y.grad, z.grad) == (None, None)


def test_a_parameter_is_a_leaf(lib):
    weight = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
    assert (weight.is_leaf, weight.requires_grad, weight.grad_fn) == (True, True, None)
    assert isinstance(weight, lib.Tensor)
    assert str(weight) == "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    out = (weight * 3).sum()
    assert type(weight * 3) is lib.Tensor
    out.backward()
    assert weight.grad.tolist() == [3.0, 3.0]


# -------------------------------------------------------------------------------------------- backward


def test_exp_saves_its_output(lib):
    i = lib.tensor([0.0, 1.0], requires_grad=True)
    output = exponential(lib).apply(i)
    assert output.grad_fn.name() == "ExpBackward"
    (saved,) = output.grad_fn.saved_tensors
    assert (saved.tolist(), saved.grad_fn is output.grad_fn) == (output.tolist(), True)
    output.sum().backward()
    assert i.grad.tolist() == output.tolist() == [1.0, near(np.e)]


def q_of_a_and_b(lib):
    a = lib.tensor([2.0, 3.0], requires_grad=True)
    b = lib.tensor([6.0, 4.0], requires_grad=True)
    return a, b, 3 * a**3 - b**2


def test_external_gradient(lib):
    """Q = 3a³ − b² has two elements: 9a² and −2b, weighted by the gradient that is given."""
    a, b, Q = q_of_a_and_b(lib)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        Q.backward()
    Q.backward(gradient=lib.tensor([1.0, 10.0]))
    assert (a.grad.tolist(), b.grad.tolist()) == ([36.0, 810.0], [-12.0, -80.0])


def test_figure_of_q(lib):
    """Forward-pass arrows run against these edges: two leaves at the ends, grey functions in between."""
    a, b, Q = q_of_a_and_b(lib)
    found = nodes(Q.grad_fn)
    assert [name(n) for n in found] == [
        "SubBackward",
        "MulBackward",
        "PowBackward",
        "AccumulateGrad",
        "PowBackward",
        "AccumulateGrad",
    ]
    assert [n.variable is t for n, t in zip((found[3], found[5]), (a, b), strict=True)] == [True, True]


def test_one_forward_step_makes_value_and_node_together(lib):
    x = lib.tensor(2.0, requires_grad=True)
    steps = []
    for step in (lambda t: t**3, lib.log, lambda t: t * 2):
        result = step(steps[-1] if steps else x)
        assert result.grad_fn is not None
        if steps:
            assert result.grad_fn.next_functions[0] == (steps[-1].grad_fn, 0)
        steps.append(result)


def test_backward_inputs(lib):
    a, b, Q = q_of_a_and_b(lib)
    v = lib.tensor([1.0, 1.0])
    Q.backward(gradient=v, inputs=[a], retain_graph=True)
    assert (a.grad.tolist(), b.grad) == ([36.0, 81.0], None)
    Q.backward(gradient=v, inputs=b)
    assert (a.grad.tolist(), b.grad.tolist()) == ([36.0, 81.0], [-12.0, -8.0])


def test_grad_twice(lib):
    x = lib.tensor(2.0, requires_grad=True)
    (first,) = lib.autograd.grad(x**3, x, create_graph=True)
    (second,) = lib.autograd.grad(first, x, create_graph=True)
    (third,) = lib.autograd.grad(second, x)
    assert [t.item() for t in (first, second, third)] == [12.0, 12.0, 6.0]
    assert [t.requires_grad for t in (first, second, third)] == [True, True, False]
    assert x.grad is None


def test_defaults(lib):
    """create_graph is off, and the graph is not retained; every node runs once."""
    x = lib.tensor(2.0, requires_grad=True)
    y = x**3
    runs = calls(y.grad_fn)
    y.backward()
    assert (x.grad.requires_grad, len(runs)) == (False, 1)
    with pytest.raises(RuntimeError, match=FREED):
        y.backward()
