"""Indices and masks in pictures: where they come from, what is kept of them, and when it is freed."""

from __future__ import annotations

import pytest
from cells import traced

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
