"""Steps of optimisers on plain numbers: bit by bit, and change by change, what ops on tensors do."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from test_optim import TRIED

import minigrad as mg
from minigrad.optim import optimizer, quick

SHAPES = ((3, 5), (7,), (1, 1))
STRANGE = [np.nan, np.inf, -np.inf, -0.0, 1e-40, 1e30]


def numbers(seed, shape, dtype):
    """Random numbers with strange ones among them."""
    drawn = np.random.default_rng(seed)
    array = drawn.standard_normal(shape)
    return mg.tensor(np.where(drawn.random(shape) < 0.3, drawn.choice(STRANGE, shape), array).astype(dtype))


def parameters(dtype):
    return [mg.nn.Parameter(numbers(i, shape, dtype)) for i, shape in enumerate(SHAPES)]


def steps(name, settings, params, count=4):
    """What there is after some steps: the bits of parameters and state, and how often they were changed."""
    chosen = getattr(mg.optim, name)(params, **settings)
    for step in range(count):
        for i, param in enumerate(params):
            param.grad = numbers(10 * step + i, param.shape, param.detach().numpy().dtype)
        chosen.step()
    kept = [t for param in params for t in (param, *chosen.state[param].values())]
    return [(t.detach().numpy().tobytes(), t.dtype, t._version) for t in kept if isinstance(t, mg.Tensor)]


@pytest.fixture
def opened(monkeypatch):
    """Of each parameter and step, whether it was quick."""
    told = []

    def open_and_tell(*args):
        found = quick.opened(*args)
        told.append(found is not None)
        return found

    monkeypatch.setattr(optimizer, "opened", open_and_tell)
    return told


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "settings"), TRIED, ids=[f"{n}-{i}" for i, (n, _) in enumerate(TRIED)])
def test_the_same_bits_as_with_ops(monkeypatch, opened, name, settings, dtype):
    quickly = steps(name, settings, parameters(dtype))
    assert all(opened) and (opened or name == "Rprop")
    monkeypatch.setattr(optimizer, "are_plain", lambda group: False)
    assert steps(name, settings, parameters(dtype)) == quickly


def made(kind):
    """A parameter that is not plain."""
    if kind == "0-dim":
        return mg.nn.Parameter(mg.tensor(2.0))
    if kind == "transposed":
        return mg.nn.Parameter(mg.ones(2, 3).T)
    if kind == "its own gradient":
        param = mg.nn.Parameter(mg.ones(3))
        param.grad = param.detach()
        return param
    return mg.nn.Parameter(mg.ones(3, dtype=getattr(mg, kind)))


@pytest.mark.parametrize("kind", ["0-dim", "transposed", "its own gradient", "float16", "complex64"])
def test_what_is_not_plain_takes_ops(opened, kind):
    param = made(kind)
    if param.grad is None:
        param.grad = mg.ones_like(param)
    mg.optim.SGD([param], lr=0.5).step()
    assert opened == [False]
    assert param._version == 1
    expected = {"0-dim": 1.5}.get(kind, 0.5)
    assert (param.detach().numpy() == expected).all()


def test_settings_that_are_no_numbers_take_ops(opened):
    param = mg.nn.Parameter(mg.ones(3))
    param.grad = mg.ones(3)
    mg.optim.SGD([param], lr=np.float64(0.5)).step()
    assert opened == [] and (param == 0.5).all()


def test_an_update_of_a_users_own_gets_tensors():
    class Mine(mg.optim.SGD):
        def update(self, param, grad, state, group):
            assert isinstance(param, mg.Tensor) and isinstance(grad, mg.Tensor)
            super().update(param, grad.sign(), state, group)

    param = mg.nn.Parameter(mg.ones(3))
    param.grad = mg.full((3,), 7.0)
    Mine([param], lr=0.5).step()
    assert (param == 0.5).all()


def test_observers_see_every_change(opened):
    seen = []

    class Observer:
        def mutated(self, op, values, version, history):
            seen.append(op.name)

        def __getattr__(self, name):
            return lambda *args: None

    observer, param = Observer(), mg.nn.Parameter(mg.ones(3))
    param.grad = mg.ones(3)
    mg.modes.add_observer(observer)
    try:
        mg.optim.SGD([param], lr=0.5).step()
    finally:
        mg.modes.remove_observer(observer)
    assert seen == ["add_scaled"] and opened == []


def test_aliases_and_graphs_notice(opened):
    param = mg.nn.Parameter(mg.ones(3))
    before, alias = (param * param).sum(), param.detach()
    param.grad = mg.ones(3)
    mg.optim.SGD([param], lr=0.5).step()
    assert opened == [True] and (alias == 0.5).all() and alias._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        before.backward()


def test_a_loaded_state_is_quick_at_once(opened):
    param = mg.nn.Parameter(mg.ones(3))
    chosen = mg.optim.Adam([param])
    for _ in range(3):
        param.grad = mg.ones(3)
        chosen.step()
        chosen.load_state_dict(copy.deepcopy(chosen.state_dict()))
    assert opened == [True, True]
    assert chosen.state[param]["step"].item() == 3
