"""Every code that a fix shows is applied to its program, which stands in one, two or three cells: the same
error does not come again, a silent mistake has no symptom any more, and the result is right."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import pytest
from golden import TOPICS, ZOO, cells_of
from split_cells import Notebook, cured_cells, run_cells, split
from test_notebook_explained import NOTEBOOKS
from test_zoo import MISTAKES

# Situations of the zoo in which the code shown cures what is explained, and the program has yet another
# mistake or the code shown is one of several ways out.
OTHER_WAYS = {
    "the mean of whole numbers": "the next line takes the mean of whole numbers as well",
    "parameter that is None": "a default is skipped, or given",
    "rows and columns of data": "the input, or else the layer",
    "math imported by name": "the leaf that gets a gradient, or the function that cuts",
}
UNSEEN = {("a factor by math", 3): "the numbers left in another cell than the one that goes backward"}


class Situation(NamedTuple):
    """A program whose cells are cut by `# %%`, with a mistake: the key of its explanation ("" if nothing may
    be said), a text that must stand in `why`, and what is true of the variables of the cured program."""

    program: str
    key: str
    why: str
    check: str

    @property
    def cells(self) -> list[str]:
        return self.program.split("# %%\n")


SITUATIONS = {
    "a state that is None first": Situation(
        "w = torch.tensor(0.5, requires_grad=True)\nstate = None\n# %%\n"
        "for i in range(3):\n    state = w * 2 if state is None else state * w\n"
        "    loss = (state - 1) ** 2\n    loss.backward()\n",
        "second_backward", "state", "w.grad is not None and not state.requires_grad",
    ),
    "a state in a list": Situation(
        "w = torch.tensor(0.5, requires_grad=True)\nkept = [torch.tensor(1.0)]\n# %%\n"
        "for i in range(3):\n    kept.append(kept[-1] * w)\n    loss = (kept[-1] - 1) ** 2\n"
        "    loss.backward()\n",
        "second_backward", "kept", "w.grad is not None and len(kept) == 4",
    ),
    "the state of an LSTM": Situation(
        "torch.manual_seed(0)\nlstm = torch.nn.LSTM(2, 3)\nx = torch.randn(4, 1, 2)\n# %%\n"
        "hidden = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))\nfor i in range(3):\n"
        "    out, hidden = lstm(x, hidden)\n    out.sum().backward()\n",
        "second_backward", "hidden", "len(hidden) == 2",
    ),
    "a fast weight": Situation(
        "v = torch.tensor([0.5, -1.0], requires_grad=True)\n# %%\nfast = v.clone().requires_grad_()\n"
        "opt = torch.optim.SGD([fast], lr=0.1)\n",
        "optimizer_of_non_leaf", "fast", "fast.is_leaf",
    ),
    "a row from the row before": Situation(
        "w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nh = torch.zeros(4)\nh[0] = 1.0\n# %%\n"
        "for i in range(1, 4):\n    h[i] = h[i - 1] * w[i - 1]\nh.sum().backward()\n",
        "saved_modified", "h[i]", "w.grad.tolist() == [9.0, 4.0, 2.0]",
    ),
    "a GAN's step between": Situation(
        "torch.manual_seed(0)\nG, D = torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Linear(2, 3), "
        "torch.nn.Tanh(), torch.nn.Linear(3, 1))\nopt = torch.optim.SGD(D.parameters(), lr=0.1)\n# %%\n"
        "fake = G(torch.ones(4, 2))\nscore = D(fake)\nscore.mean().backward(retain_graph=True)\nopt.step()\n"
        "(-score.mean()).backward()\n",
        "saved_modified", "opt.step()", "True",
    ),
    "a ReLU in place": Situation(
        "torch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Sigmoid(), "
        "torch.nn.ReLU(inplace=True), torch.nn.Linear(3, 1))\n# %%\nloss = net(torch.ones(4, 2)).sum()\n"
        "loss.backward()\n",
        "saved_modified", "ReLU", "net[0].weight.grad is not None",
    ),
    "a Softmax layer before the loss": Situation(
        "torch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Softmax(dim=1))\n"
        "# %%\nloss = torch.nn.CrossEntropyLoss()(net(torch.ones(4, 2)), torch.tensor([0, 1, 2, 0]))\n"
        "loss.backward()\n",
        "scores_twice", "Softmax", "True",
    ),
    "one example for a batch norm": Situation(
        "torch.manual_seed(0)\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        return torch.nn.BatchNorm1d(3)(x)\n# %%\nnet = Net()\ny = net(torch.ones(1, 3))\n",
        "layer_input", "BatchNorm1d", "True",
    ),
    "exp of a large number": Situation(
        "a = torch.tensor([1.0, 200.0], requires_grad=True)\n# %%\ny = torch.exp(a).sum()\ny.backward()\n",
        "first_nan", "exp", "abs(a.grad[0].item() - 2.71828) < 1e-4 and y.item() < 1e39",
    ),
    "a whole number for a loss": Situation(
        "x = torch.tensor([1, 2])\n# %%\ny = x.float().mean() * 2\nx.requires_grad_()\n",
        "integer_requires_grad", "", "True",
    ),
    "no reset over cells": Situation(
        "v = torch.tensor(1.0, requires_grad=True)\n# %%\nloss = (v - 3) ** 2\nloss.backward()\n"
        "v.data -= 0.1 * v.grad\n# %%\nloss = (v - 3) ** 2\nloss.backward()\nv.data -= 0.1 * v.grad\n",
        "kept_gradient", "v", "True",
    ),
    "a NumPy round trip": Situation(
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\n# %%\na = (w * 2).detach().numpy()\n# %%\n"
        "z = torch.tensor(a).sum()\nz.backward()\n",
        "no_grad_fn", "", "True",
    ),
    "a write to each row": Situation(
        "w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\nk = w * 1\n# %%\n"
        "for row in k:\n    row -= row.min()\nk.sum().backward()\n",
        "view_of_several", "row", "k.tolist() == [[0.0, 1.0], [0.0, 1.0]] and w.grad is not None",
    ),
    "a write to a view of one of several views": Situation(
        "x = torch.arange(4.0).reshape(2, 2).requires_grad_()\nk = x.clone()\nv1 = k.unbind()\n# %%\n"
        "v2 = v1[0].narrow(0, 0, 1)\nv2.mul_(2)\n",
        "view_of_several", "v2", "v2.tolist() == [0.0] and k.tolist() == [[0.0, 1.0], [2.0, 3.0]]",
    ),
    "a write through a view of a view": Situation(
        "x = torch.ones(4, 4, requires_grad=True)\ny = x.exp()\nv = y[0]\nu = v[1:3]\nu += 1\n# %%\n"
        "y.sum().backward()\n",
        "saved_modified", "u += 1", "y[0].tolist()[1] > 3 and x.grad is not None",
    ),
    "a write through a view that is used alone": Situation(
        "x = torch.ones(4, 4, requires_grad=True)\ny = x.exp()\nv = y[0]\n# %%\nv += 1\n"
        "v.sum().backward()\n",
        "saved_modified", "v += 1", "v.tolist()[1] > 3 and x.grad is not None",
    ),
    "a state in an object": Situation(
        "w = torch.tensor(0.5, requires_grad=True)\nclass Cell:\n    h = torch.tensor(1.0)\n"
        "c = Cell()\n# %%\nfor i in range(3):\n    c.h = c.h * w\n"
        "    loss = (c.h - 1) ** 2\n    loss.backward()\n",
        "second_backward", "c.h", "not c.h.requires_grad",
    ),
    "a write in another cell": Situation(
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\ny = torch.exp(w)\n# %%\ny *= 2\n# %%\n"
        "y.sum().backward()\n",
        "saved_modified", "In [2], line 1", "w.grad is not None",
    ),
}  # fmt: skip


# The cells of golden files below which a fix with code stands, in English and alike for both libraries.
GOLDEN = {
    f"{topic}: {cell.title}": (cell.source, keys[-1])
    for topic in TOPICS
    if topic != ZOO  # whose programs are run otherwise
    for cell in cells_of(topic)
    for part in cell.parts[:1]
    if part.how == "" and re.search(r"^fix: .*`", part.text, re.M)
    if (keys := re.findall(r"^(\w+), line", part.text, re.M))
}


def problem(cells: list[str], library, key: str, why: str, check: str) -> str:
    """What is wrong with the explanation of some cells, or with its fix; "" if nothing is."""
    before = run_cells(cells, library)
    mine = [(number, each) for number, each in before.told if each.key == key and why in each.why]
    if not mine:
        return f"{before.error!r} is explained as {before.told}"
    number, each = mine[-1]
    cured = cured_cells(cells, number, each)
    if cured is None:
        return ""
    after = run_cells(cured, library)
    return f"{each.fix} gives {cured}: {fault}" if (fault := fault_of(before, after, key, check)) else ""


def fault_of(before: Notebook, after: Notebook, key: str, check: str) -> str:
    """What a fix did not cure."""
    if after.error and (after.error == before.error or check):
        return after.error
    if check and any(each.key == key for _, each in after.told):
        return "it is explained again"
    return f"not so: {check}" if check and not eval(check, after.names) else ""


@functools.cache
def problem_of(name: str, count: int, library) -> str:
    mistake = MISTAKES[name]
    check = "" if name in OTHER_WAYS else mistake.check
    return problem(split(mistake.broken, count), library, mistake.key, "", check)


@pytest.mark.sample(24)
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", MISTAKES)
def test_the_code_of_a_fix_cures_over_cells(library, name, count):
    found = problem_of(name, count, library)
    assert bool(found) == ((name, count) in UNSEEN), found


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_code_of_a_fix_cures(library, name):
    cells, *rest = SITUATIONS[name].cells, *SITUATIONS[name][1:]
    assert problem(cells, library, *rest) == ""
    assert problem(["".join(cells)], library, rest[0], rest[1].partition(",")[0] and "", rest[2]) == ""


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_code_of_a_fix_cures_a_notebook(library, name):
    assert problem(list(NOTEBOOKS[name].cells), library, NOTEBOOKS[name].key, "", "") == ""


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", GOLDEN)
def test_the_code_of_a_fix_cures_a_golden_cell(library, name):
    source, key = GOLDEN[name]
    assert problem([source], library, key, "", "") == ""


def test_a_code_that_cures_nothing_is_seen(library):
    cells = ["x = torch.tensor(3.0, requires_grad=True)\ny = x ** 2\n", "y.backward()\n", "y.backward()\n"]
    before = run_cells(cells, library)
    assert fault_of(before, run_cells([*cells], library), "second_backward", "True") == before.error != ""
