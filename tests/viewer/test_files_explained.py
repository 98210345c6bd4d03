"""A program in several files is explained like the same one in a single cell, and places in its files are
named as `model.py:11`."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import NamedTuple

import pytest
from shells import Shell

from minigrad_viz.shell.explain import last
from minigrad_viz.shell.run import trace_file

LAYERS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.second(h)
"""
ENGINE = """\
import torch

def make_optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)

def step(model, optimizer, x, y, loss_function):
    optimizer.zero_grad()
    loss = loss_function(model(x), y)
    loss.backward()
    optimizer.step()
    return loss
"""
SCRIPT = """\
import torch
from engine import make_optimizer, step
from model import Net

torch.manual_seed(0)
x = torch.linspace(-1, 1, 12).reshape(4, 3)
y = torch.tensor([0, 1, 0, 1])
net = Net()
optimizer = make_optimizer(net)
losses = []
for i in range(3):
    losses.append(step(net, optimizer, x, y, torch.nn.functional.cross_entropy).item())
"""
FILES = {"model.py": LAYERS, "engine.py": ENGINE, "train.py": SCRIPT}


class Fault(NamedTuple):
    """A mistake in one of the files: what it replaces there by what; the key of the explanation, the place
    that must be named, and what the fix must say. The fix is applied by `cure`: a text of the file, and what
    stands there instead."""

    file: str
    right: str
    wrong: str
    key: str
    place: str
    fix: str
    cure: tuple[str, str]


FAULTS = {
    "layers in a list": Fault(
        "model.py", "        self.first = nn.Linear(3, 4)\n        self.second = nn.Linear(4, 2)\n",
        "        self.layers = [nn.Linear(3, 4), nn.Linear(4, 2)]\n\n"
        "    first = property(lambda self: self.layers[0])\n"
        "    second = property(lambda self: self.layers[1])\n",
        "module_definition", "model.py:7", "ModuleList",
        ("[nn.Linear(3, 4), nn.Linear(4, 2)]", "nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 2)])"),
    ),
    "no super().__init__()": Fault(
        "model.py", "        super().__init__()\n", "        pass\n", "module_definition", "model.py:7",
        "super().__init__()", ("        pass\n", "        super().__init__()\n"),
    ),
    "a misspelled forward": Fault(
        "model.py", "def forward(", "def foward(", "module_definition", "model.py:10",
        "def forward(self, x):", ("def foward(", "def forward("),
    ),
    "no return": Fault(
        "model.py", "return self.second(h)", "self.second(h)", "none_value", "model.py:12",
        "return self.second(h)", ("        self.second(h)", "        return self.second(h)"),
    ),
    "wrong sizes": Fault(
        "model.py", "nn.Linear(4, 2)", "nn.Linear(5, 2)", "layer_input", "model.py:8", "nn.Linear(4, 2)",
        ("nn.Linear(5, 2)", "nn.Linear(4, 2)"),
    ),
    "softmax in the model": Fault(
        "model.py", "return self.second(h)", "return torch.softmax(self.second(h), dim=1)", "scores_twice",
        "model.py:12", "self.second(h)", ("torch.softmax(self.second(h), dim=1)", "self.second(h)"),
    ),
    "a write between": Fault(
        "engine.py", "    loss.backward()\n",
        "    with torch.no_grad():\n        model.second.weight.mul_(0.5)\n    loss.backward()\n",
        "saved_modified", "engine.py:10", "", ("", ""),
    ),
    "a second backward": Fault(
        "engine.py", "    loss.backward()\n", "    loss.backward()\n    loss.backward()\n", "second_backward",
        "engine.py:9", "retain_graph=True",
        ("    loss.backward()\n    loss", "    loss.backward(retain_graph=True)\n    loss"),
    ),
    "a stale optimizer": Fault(
        "train.py", "losses = []\n", "net = Net()\nlosses = []\n", "stale_optimizer", "line",
        "Create optimizer after net.", ("", ""),
    ),
    "no reset": Fault(
        "engine.py", "    optimizer.zero_grad()\n", "", "kept_gradient", "engine.py:8", "zero_grad()",
        ("    loss = loss_function", "    optimizer.zero_grad()\n    loss = loss_function"),
    ),
}  # fmt: skip


@contextlib.contextmanager
def project(files, library, folder):
    """The files of a project in a folder, from which they can be imported."""
    for name, text in files.items():
        (folder / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "torch", library)
        patch.setitem(sys.modules, "torch.nn", library.nn)
        patch.syspath_prepend(str(folder))
        for name in ("model", "engine"):
            patch.delitem(sys.modules, name, raising=False)
        try:
            yield
        finally:
            for name in ("model", "engine"):
                sys.modules.pop(name, None)


def told_of_script(files, library, folder):
    """What is explained of `train.py`, run as a program, and its error."""
    with project(files, library, folder):
        report, error = trace_file(folder / "train.py", lang="en")
    assert not report.problem, report.problem
    return report.explained, str(error or "")


def told_in_notebook(files, library, folder):
    """The same of a notebook of two cells that imports the modules."""
    at = files["train.py"].index("torch.manual_seed")
    with project(files, library, folder), Shell(folder) as shell:
        for cell in (files["train.py"][:at], files["train.py"][at:]):
            done = shell.run(f"%%autograd\n{cell}", {"torch": library}, library)
        return last().explained, done.failed


@pytest.mark.sample(12)
@pytest.mark.parametrize("told_of", [told_of_script, told_in_notebook])
@pytest.mark.parametrize("name", FAULTS)
def test_the_file_is_named_and_the_fix_cures(library, tmp_path, name, told_of):
    fault = FAULTS[name]
    assert FILES[fault.file].count(fault.right) == 1
    files = {**FILES, fault.file: FILES[fault.file].replace(fault.right, fault.wrong)}
    told, failed = told_of(files, library, tmp_path)
    mine = [each for each in told if each.key == fault.key]
    assert len(mine) == 1, (failed, told)
    assert re.search(rf"{re.escape(fault.place)}\b", mine[0].why + mine[0].fix), mine[0]
    assert fault.fix in mine[0].fix, mine[0]
    if any(fault.cure):
        assert files[fault.file].count(fault.cure[0]) == 1
        cured = {**files, fault.file: files[fault.file].replace(*fault.cure)}
        (tmp_path / "cured").mkdir()
        assert told_of(cured, library, tmp_path / "cured") == ((), "")


@pytest.mark.parametrize("told_of", [told_of_script, told_in_notebook])
def test_nothing_is_said_of_the_right_project(library, tmp_path, told_of):
    assert told_of(FILES, library, tmp_path) == ((), "")
