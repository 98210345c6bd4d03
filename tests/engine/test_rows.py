"""Rows of a Jacobian: a pass with many gradients gives what a pass for each gives, and functions run once."""

import numpy as np
import pytest
from op_case import results_of
from op_table import CASES
from trees import values
from twins import numbers

import minigrad
from minigrad.core import engine
from minigrad.core.tensor_state import edge

NAMES = [case.name for case in CASES]


def assert_rows_agree(root, inputs):
    """Whether a pass with three rows gives what three passes give; False where there is no such pass."""
    start = edge(root), root._nr
    slots = [(edge(x), x._nr) for x in inputs]
    gradients = np.random.default_rng(1).uniform(-1, 1, (3, *root.shape)).astype(root._data.dtype)
    together = engine.run_rows(start, gradients, slots)
    if together is None:
        return False
    for k, gradient in enumerate(gradients):
        alone = engine.run([start], [gradient], True, False, slots)
        for rows, row in zip(together, alone, strict=True):
            assert (rows is None) == (row is None)
            if row is not None:
                assert rows.dtype == row.dtype and rows[k].shape == row.shape
                np.testing.assert_allclose(rows[k], row, rtol=1e-12, atol=1e-14)
    return True


@pytest.mark.sample(200)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_rows_of_an_op(case, dtype):
    """Of its gradients, and of the gradients of these."""
    if case.numbers == ("real" if dtype == "complex128" else "complex"):
        pytest.skip(f"{case.name} is not for {dtype}")
    inputs = [minigrad.tensor(a).requires_grad_() for a in case.arrays(dtype)]
    for out in results_of(case.function(minigrad, *inputs)):
        if not (isinstance(out, minigrad.Tensor) and out.requires_grad):
            continue
        if out.grad_fn is not None:
            assert assert_rows_agree(out, inputs)
        if not case.twice:
            continue
        found = minigrad.autograd.grad(out, inputs, out.detach(), create_graph=True, allow_unused=True)
        for gradient in found:
            if gradient is not None and gradient.grad_fn is not None:
                assert_rows_agree(gradient, inputs)


def net(L):
    """A network of two layers with tanh, from 4 numbers to 1."""
    w1 = L.linspace(-1, 1, 24, dtype=L.float64).reshape(4, 6)
    w2 = L.linspace(-1, 1, 6, dtype=L.float64).reshape(6, 1)
    return lambda x: L.tanh(L.tanh(x @ w1 + 0.1) @ w2).sum()


def counted(f):
    """`f`, and a list that gets longer with each call."""
    calls = []

    def g(*args):
        calls.append(args)
        return f(*args)

    return g, calls


@pytest.mark.parametrize("transform", ["jacrev", "jacfwd", "hessian"])
@pytest.mark.parametrize("learn", [False, True])
def test_a_function_runs_once(transform, learn):
    f, calls = counted(lambda x: minigrad.tanh(x * x))
    x = minigrad.linspace(0.1, 1, 6).detach().requires_grad_(learn)
    getattr(minigrad.func, transform)(f)(x)
    assert len(calls) == 1


def test_a_function_of_examples_runs_once():
    f, calls = counted(net(minigrad))
    minigrad.vmap(minigrad.func.hessian(f))(minigrad.ones(5, 4, dtype=minigrad.float64))
    assert len(calls) == 1


@pytest.fixture
def passes(monkeypatch):
    """A list that gets longer with each backward pass over a graph without hooks."""
    made = []
    sweep = engine.sweep
    monkeypatch.setattr(engine, "sweep", lambda *args: (made.append(args[0]), sweep(*args))[1])
    return made


@pytest.mark.parametrize(("chunk_size", "count"), [(None, 1), (50, 1), (10, 5), (7, 8)])
def test_all_rows_take_one_pass(passes, chunk_size, count):
    w = minigrad.linspace(-1, 1, 2500).reshape(50, 50)
    found = minigrad.func.jacrev(lambda x: minigrad.tanh(w @ x), chunk_size=chunk_size)(minigrad.ones(50))
    assert len(passes) == count and found.shape == (50, 50)


def test_a_hessian_takes_two_passes(passes):
    minigrad.func.hessian(net(minigrad))(minigrad.ones(4, dtype=minigrad.float64))
    assert len(passes) == 2


def test_a_jacobian_takes_one_pass(passes):
    minigrad.autograd.functional.jacobian(lambda x: x.sin() * x, minigrad.ones(50))
    assert len(passes) == 1


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.filterwarnings("ignore:.torch.jit")
def test_hessians_of_examples(torch, learn):
    """Values, and what flows back to the examples."""

    def found(L):
        x = L.linspace(-1, 1, 12, dtype=L.float64).reshape(3, 4).detach().requires_grad_(learn)
        result = L.vmap(L.func.hessian(net(L)))(x)
        back = L.autograd.grad((result**2).sum(), x)[0] if learn else x
        assert result.requires_grad == learn
        return numbers(result.detach()), numbers(back.detach())

    for ours, theirs in zip(found(minigrad), found(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-14)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_gradients_of_what_lies_between():
    """A pass to tensors that are not leaves takes the plain loop, unless one of them leads to another."""
    x = minigrad.ones(3, requires_grad=True)
    h = x * 2
    y = h.sin()
    z = (y * h).sum()
    for wanted in ((h,), (y,), (y, h), (x, y), (h, x)):
        plain = minigrad.autograd.grad(z, wanted, retain_graph=True)
        with minigrad.autograd.detect_anomaly():
            watched = minigrad.autograd.grad(z, wanted, retain_graph=True)
        assert [values(a) for a in plain] == [values(b) for b in watched]
