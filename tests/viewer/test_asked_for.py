"""What a backward call was asked for: `inputs`, several roots, GradientEdges, batched gradients; told and
drawn alike for minigrad and PyTorch."""

from __future__ import annotations

import pytest
from cells import traced
from staged import build

from minigrad_viz.drawing.picture import Picture

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAVES = "x = torch.tensor(2.0, requires_grad=True)\nw = torch.tensor(3.0, requires_grad=True)\n"
INPUTS = LEAVES + "a = x * w\nb = torch.exp(x)\nz = a + b\nz.backward(inputs=[w])\n"


def test_the_picture_marks_what_was_asked_for_and_what_was_left_out(library):
    svg = Picture(build(traced(INPUTS, library)), lang="en").svg()
    assert svg.count('<g class="asked" transform=') == 2, "w and the legend"
    assert svg.count('<g class="deck skipped" id=') == 2, "x and b"
    assert "skipped: its gradient was not requested" in svg and "gradient requested here" in svg
