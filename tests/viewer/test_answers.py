"""The answer is in the picture: what a call was given, and what it returned."""

from __future__ import annotations

import re

import pytest
from cells import CELLS, traced

from minigrad_viz.drawing.outline import outline
from minigrad_viz.player.score import all_marks
from minigrad_viz.shell.report import Report

X = "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x ** 2\n"


def report(source, library):
    return Report(traced(source, library), lang="en")


def card(report, name):
    return next(card for _, card in report.graph.cards() if card.name == name)


@pytest.mark.parametrize(
    "call",
    [
        "y.backward(gradient=torch.tensor([1.0, 0.1]))",
        "v = torch.tensor([1.0, 0.1])\ny.backward(v)",
        "torch.autograd.backward(y, torch.tensor([1.0, 0.1]))",
        "g, = torch.autograd.grad(y, x, torch.tensor([1.0, 0.1]))",
    ],
)
def test_a_given_vector_hangs_at_the_root(call, library):
    shown = report(X + call + "\n", library)
    assert card(shown, "y").seed.items == pytest.approx((1.0, 0.1))
    assert {c.name for _, c in shown.graph.cards()} == {"x", "y"}, "not as a constant as well"
    svg = str(shown.picture.svg())
    (given,) = re.findall(r'<g class="edge grad" id="[^"]*-c0-seed">.*?</g></g>', svg)
    assert "[1. 0.1]" in given and "that was passed to the call" in given
    marks = all_marks(shown.frames, shown.graph)
    first = next(i for i, frame in enumerate(shown.frames) if frame.phase == "backward")
    assert [i for i, each in enumerate(marks) if any(m.endswith("-seed") for m in each)] == [first]


def test_the_usual_one_is_not_drawn(library):
    assert "-seed" not in str(report(CELLS[4], library).picture.svg())


def test_a_vector_that_is_used_otherwise_stays(library):
    source = X + "v = torch.tensor([1.0, 0.1])\nw = v * 2\ny.backward(v)\n"
    assert {"v", "w"} <= {c.name for _, c in report(source, library).graph.cards()}


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_it_is_inside_the_picture_in_every_direction(direction, library):
    shown = Report(traced(X + "y.backward(torch.ones(2) * 7)\n", library), lang="en", direction=direction)
    svg = str(shown.picture.svg())
    left, top, width, height = map(float, re.search(r'viewBox="([^"]*)"', svg)[1].split())
    drawn = re.search(r'-seed">.*?<g class="pill"><rect ([^>]*)/?>', svg)[1]
    sides = ("x", "y", "width", "height")
    x, y, w, h = (float(re.search(rf'\b{side}="([^"]*)"', drawn)[1]) for side in sides)
    assert left <= x and top <= y and x + w <= left + width and y + h <= top + height


def test_a_returned_gradient_stands_at_its_tensor(library):
    source = "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\ng, = torch.autograd.grad(y, x)\n"
    shown = report(source, library)
    x = card(shown, "x")
    assert x.returned.items == (12.0,) and x.grad is None and not x.grad_kept
    assert "x   2.   leaf   requested   grad None   grad() returned 12." in outline(shown.graph, "en")
    assert re.search(r'-returned">.*?returned.*?12\.', str(shown.picture.svg()))


def test_a_second_derivative_stands_at_its_tensor(library):
    """Code 18 prints −0.12; what `.grad` holds from before stays beside it."""
    x = card(report(CELLS[18], library), "x")
    assert x.returned.items == pytest.approx((-0.12,)) and x.grad.items == pytest.approx((0.6,))
