"""Indices and masks in pictures: where they come from, what is kept of them, and when it is freed."""

from __future__ import annotations

import pytest
from cells import traced
from staged import build
from stepping import frames, said

from minigrad_viz.drawing.outline import outline
from minigrad_viz.trace.events import Forward, InPlaceWrite, TensorCreated

pytestmark = pytest.mark.usefixtures("names_of_today")

CELL = """\
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
i = torch.tensor([2, 0])
a = x[x > 1.5]
c = x[i]
y = x * 2
y[i] = c
y[0] = 5.0
z = a.sum() + y.sum() + x.gather(0, i).sum()
z.backward()
"""


def test_what_is_kept(library):
    shown = outline(build(traced(CELL, library)), "en")
    for line in (
        "IndexBackward0   indices [False True True] (freed)",
        "IndexBackward0   indices [2 0] (freed)",
        "IndexPutBackward0   accumulate False   indices [2 0] (freed)",
    ):
        assert line in shown


def test_where_indices_come_from(library):
    events = traced(CELL, library).events
    created = {e.name: e.tensor.id for e in events if isinstance(e, TensorCreated)}
    forward = [e for e in events if isinstance(e, Forward)]
    named = {e.name: e for e in forward if e.name}
    mask = next(e.outputs[0].id for e in forward if e.outputs[0].value.dtype == "bool")
    written = next(e for e in events if isinstance(e, InPlaceWrite))
    assert mask in named["a"].inputs
    assert created["i"] in named["c"].inputs
    assert {created["i"], named["c"].outputs[0].id} <= set(written.inputs)


def test_steps(library):
    steps = said(frames(CELL, library))
    text = "\n".join(steps)
    assert "x[x > 1.5] computes a = [2. 3.]" in text
    assert "y[i] = c changes y₁ in place: y₂ = [1. 4. 3.]" in text
    assert "y[0] = 5.0 changes y₂ in place: y₃ = [5. 4. 3.]" in text
    assert "IndexBackward0 at a receives [1. 1.] and passes [0. 1. 1.] to x" in text
