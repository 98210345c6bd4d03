"""Small matters of what is shown: no warnings of ours, names and numbers as the reader wrote them, and fixes
that are code."""

from __future__ import annotations

import sys
from typing import NamedTuple

import pytest
from shells import Shell

from minigrad_viz.drawing import card_parts
from minigrad_viz.drawing.card_parts import CardPart
from minigrad_viz.drawing.cards import card_rows
from minigrad_viz.drawing.look import Look
from minigrad_viz.protocol import Value
from minigrad_viz.shell.explain import last
from minigrad_viz.trace.graph import Card


class Matter(NamedTuple):
    """A cell; what must be shown or said of it, and what must not."""

    cell: str
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()


MATTERS = {
    "inf times 0": Matter(
        "x = torch.tensor([0.0, 1.0], requires_grad=True)\n"
        'y = (x * torch.tensor([float("inf"), 1.0])).sum()\ny.backward()\n',
        ("0 · inf is nan",),
    ),
    "the gradient of a result": Matter(
        "x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\n(y ** 2).backward()\n", ("12., not kept",)
    ),
    "negative dims": Matter(
        "m = torch.ones(2, 3, requires_grad=True)\n"
        "m.sum(-1).unsqueeze(-1).transpose(-1, -2).sum().backward()\n",
        ("dim0 -1   dim1 -2",), ("1844674407370955",),
    ),
    "the transpose of a weight": Matter(
        "lin = torch.nn.Linear(2, 3)\nout = torch.ones(1, 2) @ lin.weight.T\nout.sum().backward()\n",
        ("lin.weight.T", "PermuteBackward0"), ("Linear",),
    ),
    "a hook before a write": Matter(
        "p = torch.tensor([1.0, 2.0], requires_grad=True)\nq = p * 2\nq.register_hook(lambda g: g * 10)\n"
        "q.mul_(3)\nq.sum().backward()\n",
        ("hook: [3. 3.] → [30. 30.]", "[60. 60.]"),
    ),
    "a leaf that an object holds": Matter(
        "class Holder:\n    pass\nk = Holder()\nk.t = torch.ones(2).requires_grad_()\nr = torch.exp(k.t)\n"
        "r.sum().backward()\nr.sum().backward()\n",
        ("Compute r again",), ("unknown line",),
    ),
    "a clone that nobody wrote": Matter(
        "x = torch.tensor([3.0, 4.0], requires_grad=True)\nx /= x.norm()\n", ("leaf",), ("CloneBackward0",)
    ),
    "parameters that are computed": Matter(
        "a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)\n"
        "opt = torch.optim.Adam([a * 2, b], lr=0.01)\n",
        ("a * 2 is a computed result",), ("[…]", "`Adam("),
    ),
    "an overflow in float16": Matter(
        "h = torch.tensor([300.0], dtype=torch.float16, requires_grad=True)\n"
        "(h.clamp(min=1e-12) ** 2).sum().backward()\n",
        ("65504", "h.clamp(min=1e-12).float() ** 2"), ("clamp(min=1e-12).clamp",),
    ),
    "an epsilon in float16": Matter(
        "h = torch.tensor([0.0], dtype=torch.float16, requires_grad=True)\n"
        "(1 / (h + 1e-8)).sum().backward()\n",
        ("1e-8 is 0 in float16",), ("`1 / (h + 1e-8",),
    ),
    "nan of the data": Matter(
        'X = torch.tensor([[1.0], [float("nan")]])\nw = torch.tensor([[0.5]], requires_grad=True)\n'
        "opt = torch.optim.SGD([w], lr=0.1)\nfor i in range(30):\n    opt.zero_grad()\n"
        "    loss = ((X @ w) ** 2).mean()\n    loss.backward()\n    opt.step()\n",
        ("X holds nan from the start", "nan_to_num(X)"), ("learning rate", "1e-3"),
    ),
    "one class": Matter(
        "torch.nn.functional.cross_entropy(torch.ones(2, 1), torch.tensor([0, 1]))\n",
        ("there is one class, 0",), ("0 to 0", "1 classes"),
    ),
    "either way": Matter(
        "v = torch.ones(2, requires_grad=True)\nv[0] = 3.0\n",
        ("To update v", "To compute with the new values"), ("Or:",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MATTERS)
def test_a_small_matter(library, tmp_path, name):
    cell, shows, hides = MATTERS[name]
    with Shell(tmp_path) as shell, pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "torch", library)
        ran = shell.run(f"%%autograd\n{cell}", {"torch": library}, library)
        shown = "\n".join(each["data"].get("text/plain", "") for each in ran.displayed)
        shown += "".join(f"\n{each.why} {each.fix}" for each in last().explained)
    assert not [part for part in shows if part not in shown], shown
    assert not [part for part in hides if part in shown.split("before backward")[0]], shown
    assert "Warning" not in ran.complained


def test_an_unknown_error_is_no_explanation(library, tmp_path):
    with Shell(tmp_path) as shell:
        shell.run("%%autograd\nraise KeyError('nothing is known of this')\n", {"torch": library}, library)
        assert last().explained == ()


def test_a_part_that_comes_and_goes_is_named():
    """A part whose row depends on numbers is an error that says which part, not one of `zip`."""

    class Positive(CardPart):
        name = "positive"

        def measure(self, shown):
            value = shown.card.value
            return self.row(("yes",), "en") if value is not None and value.items[0] > 0 else None

    now, then = (Value((), "float32", (number,)) for number in (2.0, -2.0))
    card = Card("t0", name="x", value=now, stood=((then, None),))
    assert [row.name for row in card_rows(card, None, Look())] == ["value"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(card_parts, "PARTS", (*card_parts.PARTS, Positive()))
        with pytest.raises(ValueError, match="the part 'positive' of a card has a row at some moments"):
            card_rows(card, None, Look())
