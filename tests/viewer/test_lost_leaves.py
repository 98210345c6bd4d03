"""A leaf that was lost by an assignment, and gradients that are None: the cause, and a fix that is code."""

from __future__ import annotations

import re

import pytest
from cells import run
from staged import explanations_of

X = "x = torch.tensor(3.0, requires_grad=True)\n"
LOOP = X + "for i in range(3):\n    y = (x - 1) ** 2\n    y.backward()\n"
TWICE = X + "y = (x - 1) ** 2\ny.backward()\n{}\ny = (x - 1) ** 2\ny.backward()\nprint(x.grad)\n"

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


MODEL = "a = torch.nn.Linear(2, 1)\nb = torch.nn.Linear(2, 1)\na(torch.ones(1, 2)).sum().backward()\n"


def test_a_parameter_is_not_replaced(library):
    cell = MODEL + "a.weight = a.weight - 0.1 * a.weight.grad\n"
    ran = run(cell, library)
    told = explanations_of(ran.trace, "en")[-1]
    update = "with torch.no_grad(): a.weight -= 0.1 * a.weight.grad"
    assert (told.key, told.fix) == (
        "assigned_parameter",
        f"Keep the leaf and update it in place: `{update}`.",
    )
    assert run(MODEL + update + "\n", library).error is None
    told = explanations_of(run(MODEL + "a.weight = a.weight * 2\n", library).trace, "en")[-1]
    assert told.fix.startswith("Copy the new values into the parameter")


WRITES = {
    "h.zero_()": "h = torch.zeros_like(h)",
    "h += 1": "h = h + 1",
    "h.mul_(2)": "h = h.mul(2)",
    "h.fill_(3.0)": "h = torch.full_like(h, 3.0)",
    "h[0] = 5.": "h = h.clone(); h[0] = 5.",
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
    assert told.fix == f"Create a new tensor instead of modifying h in place: `{WRITES[write]}`."
    assert run(before + WRITES[write] + "\n" + after, library).error is None


def test_a_write_through_a_view_gets_a_copy_before_it(library):
    before = "x = torch.tensor([1., 2.], requires_grad=True)\nh = torch.exp(x)\n"
    after = "y = h * h\nh[0] *= 5\n(y.sum() + h.sum()).backward()\n"
    told = explanations_of(run(before + after, library).trace, "en")[-1]
    assert told.fix.endswith("of h, which the graph did not save: before line 4, add `h = h.clone()`.")
    assert run((before + after).replace("h[0] *=", "h = h.clone()\nh[0] *="), library).error is None
