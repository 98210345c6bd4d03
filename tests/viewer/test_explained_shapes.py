"""Errors of shapes: the sizes that do not fit are marked in the picture, and code that nobody watched is
explained as far as it goes."""

from __future__ import annotations

import pytest
from cells import run
from staged import build, explanations_of

from minigrad_viz.shell.explain import explain

pytestmark = pytest.mark.quick

PRODUCT = "x = torch.ones(4, 2, requires_grad=True)\nw = torch.ones(3, 2)\ny = x @ w\n"
LAYERS = (
    "model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(5, 1))\n"
    "y = model(torch.ones(2, 3))\n"
)
MARKS = {
    "product": (PRODUCT, {"x": "dim 1: 2", "w": "dim 0: 3"}),
    "layers": (LAYERS, {"1 tanh": "dim 1: 4"}),
    "sum": ("x = torch.ones(4, 2)\nb = torch.ones(3)\ny = x + b\n", {"x": "dim 1: 2", "b": "dim 0: 3"}),
    "dtypes": (
        "x = torch.ones(2, 2)\ni = torch.tensor([[1, 2], [3, 4]])\ny = i @ x\n",
        {"i": "int64", "x": "float32"},
    ),
    "index": (
        "x = torch.ones(2, 3)\ni = torch.tensor([0, 2])\ny = x[i]\n",
        {"x": "dim 0: 2", "i": "index 2"},
    ),
}


@pytest.mark.parametrize("name", MARKS)
def test_sizes_are_marked_where_the_inputs_are_drawn(library, name):
    cell, wanted = MARKS[name]
    trace = run(cell, library).trace
    graph = build(trace)
    cards = {f"{s.id}-c{i}": card.name or card.expr for s in graph.stations for i, card in enumerate(s.cards)}
    marks = {cards[mark.part]: mark.label for mark in explanations_of(trace, "en")[-1].marks}
    assert marks == wanted


def unwatched(torch):
    x = torch.ones(4, 2)
    w = torch.ones(3, 2)
    return x @ w


class Net:
    def __init__(self, torch):
        self.fc = torch.nn.Linear(5, 2)

    def __call__(self, x):
        return self.fc(x)


def test_code_that_nobody_watched(library):
    with pytest.raises(RuntimeError) as raised:
        unwatched(library)
    text = str(explain(raised.value))
    assert "x is 4×2 and w is 3×2; the inner sizes 2 and 3 must be equal" in text
    assert "`return x @ w.T`" in text


def test_a_layer_that_nobody_watched(library):
    with pytest.raises(RuntimeError) as raised:
        Net(library)(library.ones(3, 4))
    text = str(explain(raised.value))
    assert "self.fc (Linear 5→2): in_features is 5, but the last size of its input is 4" in text
    assert "write `torch.nn.Linear(4, 2)` instead of `torch.nn.Linear(5, 2)`" in text
