"""Warnings of PyTorch are the same while a cell is watched: which there are, and the lines that they name."""

from __future__ import annotations

import warnings

import pytest
from cells import traced

from minigrad_viz.recording.recorder import Recorder

torch = pytest.importorskip("torch")

CELLS = {
    "reading an attribute": "x = torch.tensor(2.0, requires_grad=True)\ny = x * x\ny.backward()\ny.grad\n",
    "a function in C++": "x = torch.ones(2)\ny = torch.tensor(x)\n",
    "a function in Python": "\nq = torch.nn.functional.mse_loss(torch.ones(3), torch.ones(1, 3))\n",
    "a function that counts several levels": "q = torch.nn.functional.softmax(torch.ones(2, 3))\n",
    "the same inside a module": "m = torch.nn.Softmax()\nq = m(torch.ones(2, 3))\n",
    "a line of a function": "def f(t):\n    return torch.tensor(t)\n\n\nf(torch.ones(2))\n",
    "two lines": "x = torch.ones(2)\na = torch.tensor(x)\nb = torch.tensor(x)\n",
    "a line that runs twice": "x = torch.ones(2)\nfor i in range(2):\n    a = torch.tensor(x)\n",
}
STORAGES = {
    "given to a method": "y = torch.ones(3).new(s)\n",
    "in a dictionary": "import copy\nx = torch.ones(3)\nx.foo = s\ny = copy.deepcopy(x)\n",
}


def told(cell: str, action: str, watched: bool, names: dict | None = None) -> list[tuple]:
    """Kind, file, line and text of each warning that a cell shows."""
    space = {"torch": torch, "__name__": "__main__", **(names or {})}
    code = compile(cell, "<cell>", "exec")
    recorder = Recorder(cell, space)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter(action)
        if watched:
            recorder.start()
        try:
            exec(code, space)
        finally:
            if watched:
                recorder.stop()
    return [(w.category, w.filename, w.lineno, str(w.message)) for w in shown]


@pytest.mark.parametrize("action", ["always", "default", "module", "once"])
@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_warnings_name_the_same_lines(cell, action):
    before = warnings._showwarnmsg
    expected = told(cell, action, watched=False)
    assert expected
    assert told(cell, action, watched=True) == expected
    assert warnings._showwarnmsg is before


@pytest.mark.parametrize("first", [0, 1])
def test_two_recorders_stop_in_any_order(first):
    cell = CELLS["a function in C++"]
    expected = told(cell, "always", watched=False)
    before = warnings._showwarnmsg
    two = [Recorder("", {}), Recorder("", {})]
    try:
        for recorder in two:
            recorder.start()
        two[first].stop()
        assert told(cell, "always", watched=False) == expected
    finally:
        two[1 - first].stop()
    assert told(cell, "always", watched=False) == expected
    assert warnings._showwarnmsg is before
    assert type(torch.autograd.Variable._execution_engine).__name__ == "_EngineBase"


def test_a_warning_that_is_an_error_stops_the_cell():
    with pytest.raises(UserWarning, match="copy construct"):
        told(CELLS["a function in C++"], "error", watched=True)


@pytest.mark.parametrize("cell", STORAGES.values(), ids=STORAGES)
def test_reading_arguments_warns_of_nothing(cell):
    before = torch.storage._get_always_warn_typed_storage_removal()
    torch.storage._set_always_warn_typed_storage_removal(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            names = {"s": torch.ones(3).storage()}
        assert told(cell, "always", True, names) == told(cell, "always", False, names)
    finally:
        torch.storage._set_always_warn_typed_storage_removal(before)


def test_setting_the_gradient_of_a_result_warns_of_nothing():
    cell = "x = torch.tensor(2.0, requires_grad=True)\ny = x * 2\ny.grad = None\ny.backward()\n"
    assert told(cell, "always", watched=True) == told(cell, "always", watched=False) == []


def test_negative_numbers_of_nodes_are_shown_as_such():
    cell = (
        "x = torch.ones((2, 3), requires_grad=True)\n"
        "loss = torch.nn.functional.cross_entropy(x, torch.tensor([0, 1]))\nx.softmax(-1)\nloss.backward()\n"
    )
    events = traced(cell, torch).events
    nodes = next(e.nodes for e in events if type(e).__name__ == "BackwardStarted")
    saved = {s.name: s.value for node in nodes for s in node.saved}
    assert saved["ignore_index"] == "-100"
    cell = "x = torch.ones((2, 3), requires_grad=True)\nx.sum((-1, 0)).backward()\n"
    nodes = next(e.nodes for e in traced(cell, torch).events if type(e).__name__ == "BackwardStarted")
    assert {s.name: s.value for node in nodes for s in node.saved}["dim"] == "(-1, 0)"
