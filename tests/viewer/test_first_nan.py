"""nan and inf: the note stands at the op where they first appeared, and what it proposes keeps all finite."""

from __future__ import annotations

import math
import re

import pytest
from cells import run
from golden import cells_of
from staged import explanations_of

from minigrad_viz.protocol import value_of
from minigrad_viz.shell.report import Report
from minigrad_viz.sources.minigrad import Minigrad
from minigrad_viz.sources.pytorch import PyTorch
from minigrad_viz.trace.events import BackwardStarted

# What the code that a fix proposes stands instead of, in these cells of `golden/nan.txt`.
ODD = {
    "sqrt in backward": "torch.sqrt(x)", "sqrt alone": "x.sqrt()", "a norm by hand": "(x ** 2).sum() ** 0.5",
    "log": "torch.log(x)", "a quotient": "x / x.sum()", "half precision": "x ** 2",
    "an epsilon in half precision": "torch.log(x + 1e-8)", "an infinite slope times 0": "x.sqrt()",
    "exp": "torch.exp(x)",
}  # fmt: skip
CELLS = {cell.title: cell.source for cell in cells_of("nan")}


def note(trace, lang="en"):
    (told,) = [each for each in explanations_of(trace, lang) if each.key == "first_nan"]
    return told


@pytest.mark.parametrize("name", ODD)
def test_what_is_proposed_keeps_it_finite(library, name):
    ran = run(CELLS[name], library)
    told = note(ran.trace)
    assert told.error == "" and told.marks and CELLS[name].count(ODD[name]) == 1
    code = re.search(r"`([^`]*)`", told.fix)[1]
    cured = run(CELLS[name].replace(ODD[name], f"({code})"), library)
    assert cured.error is None
    assert not explanations_of(cured.trace, "en")
    assert all(map(math.isfinite, cured.names["x"].grad.tolist()))


DESCENT = """\
x = torch.tensor([3.0, -2.0], requires_grad=True)
for i in range(15):
    loss = ((x - 1) ** 2).sum()
    loss.backward()
    with torch.no_grad():
        x -= 500.0 * x.grad
    x.grad.zero_()
"""
OPTIMIZER = """\
x = torch.tensor([3.0, -2.0], requires_grad=True)
opt = torch.optim.SGD([x], lr=500.0)
for i in range(15):
    opt.zero_grad()
    loss = ((x - 1) ** 2).sum()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("cell", [DESCENT, OPTIMIZER], ids=["by hand", "optimizer"])
def test_a_learning_rate_that_is_too_large(library, cell):
    told = note(run(cell, library).trace)
    assert told.why.startswith("The updates diverge: in ") and "grew from 3. to " in told.why
    rate = re.fullmatch(
        r"Use a smaller learning rate than 500\.0\. The gradients of this cell suggest about (.*)\.", told.fix
    )
    cured = run(cell.replace("500.0", rate[1]), library)
    assert not explanations_of(cured.trace, "en")
    assert cured.names["x"].tolist() == pytest.approx([1, 1])


BOWL = """\
w = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
for _ in range({rounds}):
    opt.zero_grad()
    loss = (w * 3 - 1) ** {power}
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    "rounds, power, key, better",
    [
        (3, 2, None, ""),
        (12, 2, "lr_large", "0.05"),
        (40, 2, "first_nan", "0.05"),
        (20, 4, "first_nan", ""),
    ],
)
def test_a_better_rate_is_that_of_the_first_step(rounds, power, key, better, library):
    """Not of the last ones, which have exploded; before anything is infinite the note is there, too."""
    notes = explanations_of(run(BOWL.format(rounds=rounds, power=power), library).trace, "en")
    assert [each.key for each in notes] == ([key] if key else [])
    for each in notes:
        assert each.why.startswith("The updates diverge: in ") and each.fix.endswith(
            f" about {better}." if better else " than 1.0."
        )


def test_a_tensor_may_grow_while_its_gradient_shrinks(library):
    cell = BOWL.format(rounds=12, power=2).replace("w * 3 - 1", "w - 1e6").replace("1.0)\nfor", "0.4)\nfor")
    assert not explanations_of(run(cell, library).trace, "en")


def test_a_round_that_was_only_counted(library, monkeypatch):
    monkeypatch.setattr(Minigrad, "budget", 1_000)
    monkeypatch.setattr(PyTorch, "budget", 1_000)
    told = note(run(LATE["sqrt"][0].format(n=400).replace("30.0", "150.0"), library).trace)
    assert re.match(r"y has been nan since one of the first \d+ backward calls", told.why)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", ODD)
def test_what_is_shown_of_it_warns_of_nothing(library, case):
    Report(run(CELLS[case], library).trace, lang="en")._repr_mimebundle_()


LATE = {
    "log": (
        "w = torch.tensor([2.0, 3.0], requires_grad=True)\nfor i in range({n}):\n"
        "    loss = torch.log(w).sum()\n"
        "    w.grad = None\n    loss.backward()\n    with torch.no_grad():\n        w -= w.grad\n",
        "nan first appeared in log(w) (line 3): with w[0] = -0.36667",
    ),
    "sqrt": (
        "w = torch.tensor(30.0, requires_grad=True)\nfor i in range({n}):\n"
        "    y = torch.sqrt(w)\n    y.backward()\n"
        "    with torch.no_grad():\n        w -= 1.0\n        w.grad = None\n",
        "inf first appeared in backward: SqrtBackward",
    ),
    "divergence": (
        "w = torch.tensor(1.0, requires_grad=True)\nfor i in range({n}):\n"
        "    loss = (w * 3 - 1) ** 2\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 0.5 * w.grad\n        w.grad = None\n",
        "grew from 1. to 6.15e+18. inf first appeared in (w * 3 - 1) ** 2 (line 3)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("n", [45, 90, 200])
@pytest.mark.parametrize("case", LATE)
def test_the_first_round_that_is_not_finite_is_kept(library, case, n):
    program, why = LATE[case]
    trace = run(program.format(n=n), library).trace
    assert why in note(trace).why
    calls = [event.call for event in trace.of(BackwardStarted)]
    assert calls[1] == calls[0] + 1 and calls[2:] == list(range(calls[2], n + 1))
    assert len(calls) + trace.skipped == n


def test_large_values_tell_what_they_hold(library):
    many = library.zeros(100)
    assert (value_of(many).special, value_of(library.zeros(3)).special) == ("", "")
    many[7] = math.inf
    assert (value_of(many).special, value_of(many[:9]).special) == ("inf", "inf")
    many[8] = math.nan
    assert (value_of(many).special, value_of(many[:9]).special) == ("nan", "nan")
