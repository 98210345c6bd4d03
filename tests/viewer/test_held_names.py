"""Leaves that no variable names: they are called by where the variables hold them."""

from __future__ import annotations

import pytest
from cells import run

from minigrad_viz.recording.modules import held_tensors, loop_variables
from minigrad_viz.trace.source_positions import Locator

CELLS = {
    "a list": (
        "ws = [torch.tensor(2., requires_grad=True) for _ in range(2)]\ny = ws[0] * ws[1]",
        ["ws[0]", "ws[1]"],
    ),
    "an object": (
        "class Neuron:\n    def __init__(self):\n        self.w = [torch.tensor(2., requires_grad=True)]\n"
        "        self.b = torch.tensor(1., requires_grad=True)\n"
        "    def parameters(self):\n        return self.w + [self.b]\n"
        "n = Neuron()\nparams = n.parameters()\ny = n.w[0] + n.b\ny.backward()\n"
        "for p in n.parameters():\n    p.data -= 0.1 * p.grad",
        ["n.b", "n.w[0]"],
    ),
    "a dictionary": ("ws = {'a': torch.tensor(2., requires_grad=True)}\ny = ws['a'] * 3", ["ws['a']"]),
    "a variable of its own": (
        "w = torch.tensor(2., requires_grad=True)\nws = [w]\ny = ws[0] * 3\nfor p in ws:\n    pass",
        ["w"],
    ),
}


@pytest.mark.parametrize("name", CELLS)
def test_leaves_are_called_by_what_holds_them(name, library):
    source, expected = CELLS[name]
    ran = run(source, library)
    first: dict[str, str] = {}
    for id, each in ran.trace.names:
        first.setdefault(id, each)
    assert set(expected) <= set(first.values()) and "p" not in first.values()


def test_what_holds_itself_ends(library):
    inside: list = []
    inside += [inside, {"x": inside}, library.ones(2, requires_grad=True)]
    assert [way for way, _ in held_tensors({"a": inside})] == ["a[2]"]


def test_loop_variables():
    cell = "%%autograd\nfor i, (p, q) in z:\n    for k in i: pass\n[m for m in q]"
    assert loop_variables(Locator(cell, {}).tree()) == {"i", "p", "q", "k"}
    assert loop_variables(Locator("for", {}).tree()) == set()
