"""A leaf that was lost by an assignment, and gradients that are None: the cause, and a fix that is code."""

from __future__ import annotations

import re

import pytest
from cells import run
from staged import explanations_of

X = "x = torch.tensor(3.0, requires_grad=True)\n"
LOOP = X + "for i in range(3):\n    y = (x - 1) ** 2\n    y.backward()\n"
TWICE = X + "y = (x - 1) ** 2\ny.backward()\n{}\ny = (x - 1) ** 2\ny.backward()\nprint(x.grad)\n"
RESET = "    x.grad = None\n"

# Per cell: the key, the line of the cause, and what is to stand instead of that line.
LOST = {
    "in a loop": (LOOP + "    x = x - 0.1 * x.grad\n", "none_grad", 5),
    "reset": (LOOP + "    x = x - 0.1 * x.grad\n    x.grad.zero_()\n", "none_grad", 5),
    "under no_grad": (LOOP + "    with torch.no_grad():\n        x = x - 0.1 * x.grad\n", "no_grad_fn", 6),
    "data": (LOOP + "    x = x.data - 0.1 * x.grad\n", "no_grad_fn", 5),
    "detach": (LOOP + "    x = (x - 0.1 * x.grad).detach()\n", "no_grad_fn", 5),
    "read": (TWICE.format("x = x - 0.1 * x.grad"), "non_leaf_grad", 4),
}


@pytest.mark.parametrize("case", LOST.values(), ids=LOST)
def test_the_leaf_is_kept_by_what_is_proposed(library, case):
    cell, key, line = case
    ran = run(cell, library)
    told = explanations_of(ran.trace, "en")[-1]
    assert (told.key, told.cause.line) == (key, line)
    assert "retain_grad" not in told.fix and "The leaf " in told.why
    codes = re.findall(r"`([^`]*)`", told.fix)
    assert codes[0].endswith("x -= 0.1 * x.grad")
    lines = cell.splitlines()
    old = lines[line - 1]
    indent = old[: len(old) - len(old.lstrip())]
    lines[line - 1 : line] = [indent + code for code in codes]
    cured = run("\n".join(lines) + "\n", library)
    assert cured.error is None and not explanations_of(cured.trace, "en")
    x = cured.names["x"]
    assert x.is_leaf and x.requires_grad and 1 < x.item() < 3


@pytest.mark.parametrize("case", LOST.values(), ids=LOST)
def test_korean_says_the_same(library, case):
    trace = run(case[0], library).trace
    english, korean = explanations_of(trace, "en")[-1], explanations_of(trace, "ko")[-1]
    assert (korean.key, korean.cause, korean.marks) == (english.key, english.cause, korean.marks)
    assert re.findall(r"`[^`]*`", korean.fix) == re.findall(r"`[^`]*`", english.fix)
    assert any("가" <= char <= "힣" for char in korean.why) and any(
        "가" <= char <= "힣" for char in korean.fix
    )


def test_several_at_once(library):
    cell = X + "b = torch.tensor(1.0, requires_grad=True)\nfor i in range(2):\n    (x * b).backward()\n"
    told = explanations_of(
        run(cell + "    x, b = x - 0.1 * x.grad, b - 0.1 * b.grad\n", library).trace, "en"
    )[-1]
    assert told.why.startswith(
        "`x, b = x - 0.1 * x.grad, b - 0.1 * b.grad` (line 5) made x a computed result."
    )
    assert told.fix.startswith(
        "Keep the leaf and update it in place: `with torch.no_grad(): x -= 0.1 * x.grad`."
    )


def test_a_name_for_something_else(library):
    """Only what was a leaf is lost: the state of a recurrence is computed in every round anyway."""
    cell = "w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\nh = torch.tanh(w * h)\n"
    (told,) = explanations_of(run(cell + "h.backward()\nprint(h.grad)\n", library).trace, "en")
    assert told.fix == "Call h.retain_grad() before backward()."
    cell = X + "x = x * 2\n(x ** 2).backward()\nprint(x.grad)\n"
    (told,) = explanations_of(run(cell, library).trace, "en")
    assert told.cause.line == 2 and told.fix.startswith(
        "Give the result another name, so that x stays the leaf."
    )


MODEL = "a = torch.nn.Linear(2, 1)\nb = torch.nn.Linear(2, 1)\na(torch.ones(1, 2)).sum().backward()\n"
NONE = {
    "too early": (X + "x.grad.zero_()\n", "because no backward() has run yet", "if x.grad is not None"),
    "no flag": (
        X + "w = torch.ones(2)\n(w * x).sum().backward()\nw -= 0.1 * w.grad\n",
        "ones(2) (line 2) created w without requires_grad=True",
        "`w = torch.ones(2, requires_grad=True)`",
    ),
    "returned": (
        X + "torch.autograd.grad(x * 2, x)\nx.data -= 0.1 * x.grad\n",
        "autograd.grad(x * 2, x) (line 2) returns gradients",
        "Use the gradient that grad() returns",
    ),
    "reset": (
        X + "(x * 2).backward()\nx.grad = None\nx.data -= 0.1 * x.grad\n",
        "it was reset in line 3 after (x * 2).backward() (line 2) had stored 2. there",
        "Use x.grad first",
    ),
    "cut": (
        X + "v = torch.ones(1, requires_grad=True)\nh = (x * 2).detach()\n(h * v).backward()\n"
        "x.data -= 0.1 * x.grad\n",
        "(x * 2).detach() (line 3) cut the path from x to h * v",
        "Remove the detach() that breaks the path",
    ),
    "of another model": (
        MODEL + "for p in b.parameters():\n    p.data -= 0.1 * p.grad\n",
        "p is not in the graph",
        "if p.grad is not None",
    ),
}


@pytest.mark.parametrize("case", NONE.values(), ids=NONE)
def test_a_gradient_that_is_none(library, case):
    cell, why, fix = case
    ran = run(cell, library)
    told = explanations_of(ran.trace, "en")[-1]
    assert told.key == "none_grad" and told.error == ran.trace.error
    assert why in told.why and fix in told.fix


def test_a_none_that_is_no_gradient_is_not_called_one(library):
    told = explanations_of(run(X + "a = None\n2 * a\n", library).trace, "en")[-1]
    assert told.key == "none_value" and "grad" not in told.why


def test_a_parameter_is_not_replaced(library):
    cell = MODEL + "a.weight = a.weight - 0.1 * a.weight.grad\n"
    ran = run(cell, library)
    told = explanations_of(ran.trace, "en")[-1]
    update = "with torch.no_grad(): a.weight -= 0.1 * a.weight.grad"
    assert told.key == "assigned_parameter" and f"`{update}`" in told.fix
    assert run(MODEL + update + "\n", library).error is None
    told = explanations_of(run(MODEL + "a.weight = a.weight * 2\n", library).trace, "en")[-1]
    assert told.fix.startswith("Copy the new values into the parameter")


WRITES = {
    "h.zero_()": "h = torch.zeros_like(h)",
    "h += 1": "h = h + 1",
    "h.mul_(2)": "h = h.mul(2)",
    "h.fill_(3.0)": "h = torch.full_like(h, 3.0)",
    "h[0] = 5.": "h = h.clone(); h[0] = 5.",
    "h[0] *= 5": "h = h.clone(); h[0] *= 5",
    "torch.relu_(h)": "h = h.relu()",
    "h.copy_(x * 0)": "h = (x * 0).clone()",
    "h.index_fill_(0, torch.tensor([1]), 2.0)": "h = h.index_fill(0, torch.tensor([1]), 2.0)",
}


@pytest.mark.parametrize("write", WRITES)
def test_the_write_to_a_saved_value_is_rewritten(library, write):
    before = "x = torch.tensor([1., 2.], requires_grad=True)\nh = torch.exp(x)\ny = h * h\n"
    after = "(y.sum() + h.sum()).backward()\n"
    told = explanations_of(run(before + write + "\n" + after, library).trace, "en")[-1]
    assert told.key == "saved_modified" and told.cause.line == 4
    written = "h[0]" if "*=" in write else "h"
    assert told.fix == f"Create a new tensor instead of modifying {written} in place: `{WRITES[write]}`."
    assert run(before + WRITES[write] + "\n" + after, library).error is None
