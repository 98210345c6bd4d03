"""nan and inf: the note stands at the op where they first appeared, and what it proposes keeps all finite."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import pytest
from cells import run
from staged import explanations_of

from minigrad_viz.protocol import value_of
from minigrad_viz.shell.report import Report
from minigrad_viz.sources.minigrad import Minigrad
from minigrad_viz.sources.pytorch import PyTorch
from minigrad_viz.trace.events import BackwardStarted


class Odd(NamedTuple):
    """A cell, the line of the op, the first words of why, what else it must say, and the line that is
    replaced by what the fix proposes, with the text there that the code stands instead of."""

    cell: str
    line: int
    why: str
    values: str
    old: str


V = "x = torch.tensor([0.0, 4.0], requires_grad=True)\n"
ODD = {
    "sqrt in backward": Odd(
        V + "y = torch.sqrt(x) * torch.tensor([0.0, 1.0])\ny.sum().backward()\n", 2,
        "nan first appeared in backward: SqrtBackward", "x[0] = 0.", "torch.sqrt(x)",
    ),
    "sqrt alone": Odd(
        V + "y = x.sqrt()\ny.sum().backward()\n", 2,
        "inf first appeared in backward: SqrtBackward", "received 1. and passed inf", "x.sqrt()",
    ),
    "a norm by hand": Odd(
        "x = torch.zeros(2, requires_grad=True)\ny = (x ** 2).sum() ** 0.5\ny.backward()\n", 2,
        "inf first appeared in backward: PowBackward0 at y", "(x ** 2).sum() = 0.", "(x ** 2).sum() ** 0.5",
    ),
    "log": Odd(
        V + "y = x * torch.log(x)\ny.sum().backward()\n", 2,
        "-inf first appeared in log(x) (line 2): with x[0] = 0. the result is -inf.", "reached",
        "torch.log(x)",
    ),
    "a quotient": Odd(
        "x = torch.zeros(100, requires_grad=True)\ny = x / x.sum()\ny.sum().backward()\n", 2,
        "nan first appeared in x / x.sum() (line 2)", "x.sum() = 0.", "x / x.sum()",
    ),
    "half precision": Odd(
        "x = torch.tensor([300.0, 2.0], dtype=torch.float16, requires_grad=True)\ny = (x ** 2).sum()\n"
        "y.backward()\n", 2,
        "inf first appeared in x ** 2 (line 2): with x[0] = 300.",
        "larger than the largest float16 number, 65504", "x ** 2",
    ),
    "an epsilon in half precision": Odd(
        "x = torch.tensor([0.0, 2.0], dtype=torch.float16, requires_grad=True)\n"
        "y = torch.log(x + 1e-8).sum()\ny.backward()\n", 2,
        "-inf first appeared in log(x + 1e-8) (line 2)", "1e-8 is 0 in float16", "torch.log(x + 1e-8)",
    ),
    "an infinite slope times 0": Odd(
        "x = torch.tensor([0.0, 1.0], requires_grad=True)\ny = (x.sqrt() * 0).sum()\ny.backward()\n", 2,
        "nan first appeared in backward: SqrtBackward", "received 0. and passed nan", "x.sqrt()",
    ),
    "exp": Odd(
        "x = torch.tensor([1.0, 100.0], requires_grad=True)\ne = torch.exp(x)\ns = e / e.sum()\n"
        "s[0].backward()\n", 2,
        "inf first appeared in exp(x) (line 2): with x[1] = 100. the result", "x.grad", "torch.exp(x)",
    ),
}  # fmt: skip


def note(trace, lang="en"):
    (told,) = [each for each in explanations_of(trace, lang) if each.key == "first_nan"]
    return told


@pytest.mark.parametrize("case", ODD.values(), ids=ODD)
def test_where_it_began(library, case):
    told = note(run(case.cell, library).trace)
    assert told.error == "" and told.cause.line == case.line and told.marks
    assert told.why.startswith(case.why) and case.values in told.why


@pytest.mark.parametrize("case", ODD.values(), ids=ODD)
def test_what_is_proposed_keeps_it_finite(library, case):
    code = re.search(r"`([^`]*)`", note(run(case.cell, library).trace).fix)[1]
    assert case.cell.count(case.old) == 1
    cured = run(case.cell.replace(case.old, f"({code})"), library)
    assert cured.error is None
    assert not explanations_of(cured.trace, "en")
    assert all(map(math.isfinite, cured.names["x"].grad.tolist()))


@pytest.mark.parametrize("case", ODD.values(), ids=ODD)
def test_korean_says_the_same(case):
    trace = run(case.cell).trace
    english, korean = note(trace), note(trace, "ko")
    assert re.findall(r"`[^`]*`", korean.fix) == re.findall(r"`[^`]*`", english.fix)
    assert any("가" <= char <= "힣" for char in korean.why)


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
        (20, 4, "first_nan", "0.001"),
    ],
)
def test_a_better_rate_is_that_of_the_first_step(rounds, power, key, better, library):
    """Not of the last ones, which have exploded; before anything is infinite the note is there, too."""
    notes = explanations_of(run(BOWL.format(rounds=rounds, power=power), library).trace, "en")
    assert [each.key for each in notes] == ([key] if key else [])
    for each in notes:
        assert each.why.startswith("The updates diverge: in ") and each.fix.endswith(f" about {better}.")


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
    Report(run(ODD[case].cell, library).trace, lang="en")._repr_mimebundle_()


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


def test_data_that_hold_it(library):
    cell = "d = torch.tensor([1.0, float('nan')])\nw = torch.tensor(2.0, requires_grad=True)\n"
    told = note(run(cell + "y = (d * w).sum()\ny.backward()\n", library).trace)
    assert told.why == "d holds nan from the start. From there it reached y." and told.cause.line == 1


def test_a_variable_without_backward(library):
    told = note(run("a = torch.tensor(0.0)\nb = a / a\n", library).trace)
    assert told.cause.line == 2 and told.why.endswith("with a = 0. the result is nan.")


MASKED = """\
s = torch.zeros(2, 2, requires_grad=True)
m = torch.tensor([[{}, True], [False, True]])
a = torch.softmax(s.masked_fill(m, float('-inf')), dim=-1)
(a ** 2).sum().backward()
"""


def test_an_infinity_that_was_meant(library):
    assert not explanations_of(run(MASKED.format("False"), library).trace, "en")
    told = note(run(MASKED.format("True"), library).trace)
    assert told.cause.line == 3 and "[0, 0] = -inf the result is nan." in told.why


def test_infinite_values_alone_are_no_mistake(library):
    cell = "best = torch.tensor(float('inf'))\nx = torch.tensor(2.0, requires_grad=True)\n"
    cell += "(x ** 2).backward()\nbest = torch.minimum(best, x.detach())\nz = torch.log(torch.tensor(0.0))\n"
    assert not explanations_of(run(cell, library).trace, "en")


def test_large_values_tell_what_they_hold(library):
    many = library.zeros(100)
    assert (value_of(many).special, value_of(library.zeros(3)).special) == ("", "")
    many[7] = math.inf
    assert (value_of(many).special, value_of(many[:9]).special) == ("inf", "inf")
    many[8] = math.nan
    assert (value_of(many).special, value_of(many[:9]).special) == ("nan", "nan")
