"""Pickles and archives that the version before `minigrad.core` wrote still load, with the same values.

`tests/record/pickles` holds them; the paths of classes in them are those of that version.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import minigrad as mg
from minigrad import nn

pytestmark = pytest.mark.quick

PICKLES = Path(__file__).resolve().parents[1] / "record" / "pickles"
EXPECTED = json.loads((PICKLES / "expected.json").read_text(encoding="utf-8"))


def load(name: str) -> Any:
    """What is in one of the pickles."""
    return pickle.loads((PICKLES / f"{name}.pickle").read_bytes())


@pytest.mark.parametrize("path", sorted(PICKLES.glob("*.pickle")), ids=lambda path: path.stem)
def test_a_pickle_loads_and_can_be_pickled_again(path):
    again = pickle.dumps(load(path.stem))
    assert b"nn.layers" not in again and b"minigrad.devices" not in again
    pickle.loads(again)


def test_a_tensor_and_its_gradient():
    x, grad = load("tensor_with_grad")
    assert x.tolist() == [1.0, 2.0, 3.5] and x.requires_grad and x.is_leaf and x.dtype is mg.float32
    assert grad.tolist() == [2.0, 4.0, 7.0]
    (x * 3).sum().backward()
    assert x.grad is not None


def test_tensors_of_other_dtypes():
    whole, truths, doubles, complexes = load("tensors")
    assert whole.tolist() == [[1, 2], [3, 4]] and whole.dtype is mg.int64
    assert truths.tolist() == [True, False] and doubles.dtype is mg.float64
    assert complexes.tolist() == [1 + 2j]


def test_a_parameter():
    parameter = load("parameter")
    assert type(parameter) is nn.Parameter and parameter.requires_grad
    assert parameter.tolist() == [[0.5, -0.5]]


def test_dtypes_and_devices_are_the_very_objects():
    found = load("dtypes")
    wanted = [mg.float32, mg.float64, mg.int64, mg.bool, mg.complex64, mg.uint8]
    assert all(a is b for a, b in zip(found, wanted, strict=True))
    size, device, layout = load("others")
    assert size == mg.Size([2, 3]) and device == mg.device("cpu") and layout is mg.strided


def test_a_model_computes_what_it_did():
    model = load("model")
    assert isinstance(model, nn.Sequential) and not model.training
    assert [type(m).__name__ for m in model] == [
        *("Conv2d", "BatchNorm2d", "ReLU", "MaxPool2d", "Flatten", "Dropout", "Linear", "Softmax"),
    ]
    result = model(mg.arange(32.0).reshape(2, 1, 4, 4) / 16)
    assert mg.allclose(result, mg.tensor(EXPECTED["model"]))
    result.sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_a_recurrent_model_computes_what_it_did():
    model = load("recurrent")
    result = model["norm"](model["lstm"](model["embedding"](mg.tensor([1, 2, 3])))[0])
    assert mg.allclose(result, mg.tensor(EXPECTED["recurrent"]), atol=1e-6)
    assert isinstance(model["loss"], nn.CrossEntropyLoss) and isinstance(model["parts"], nn.ModuleList)


def test_the_state_of_an_optimizer():
    model, state = load("optimizer")
    optimizer = mg.optim.Adam(model.parameters(), lr=0.5)
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["lr"] == 0.01
    moments = optimizer.state[model.weight]
    assert moments["exp_avg"].tolist() == EXPECTED["adam_exp_avg"] and float(moments["step"]) == 3
    model(mg.ones(1, 2)).sum().backward()
    optimizer.step()


def test_an_optimizer_and_a_scheduler_go_on():
    optimizer = load("optimizer_object")
    weight = optimizer.param_groups[0]["params"][0]
    before, weight.grad = weight.detach().clone(), mg.zeros_like(weight)
    optimizer.step()  # its momentum moves the parameter
    assert isinstance(optimizer, mg.optim.SGD) and not mg.equal(before, weight)
    scheduler = load("scheduler")
    for _ in range(2):
        scheduler.optimizer.step()
        scheduler.step()
    assert scheduler.get_last_lr() == [0.05]


def test_a_dataset():
    points, label = load("data")[1]
    assert points.tolist() == [2.0, 3.0] and label.item() == 1


def test_an_archive():
    found = mg.load(PICKLES / "archive.pt")
    assert found["epoch"] == 3 and found["x"].tolist() == [1.0, 2.0, 3.5]
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    model.load_state_dict(found["model"])
    assert mg.equal(model[0].weight, found["model"]["0.weight"])


def test_the_state_of_generators():
    state, numbers = load("generator")
    generator = mg.Generator()
    generator.set_state(state)
    assert mg.equal(mg.rand(4, generator=generator), numbers)
    state, numbers = load("rng_state")
    before = mg.get_rng_state()
    try:
        mg.set_rng_state(state)
        assert mg.equal(mg.randn(3), numbers)
    finally:
        mg.set_rng_state(before)
