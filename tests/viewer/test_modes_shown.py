"""Modes, multi-grad hooks, Functions that write into an input and views of parts, as they are shown."""

from __future__ import annotations

import pytest
from cells import traced
from staged import build

from minigrad_viz.trace.events import ModeChanged

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAF = "x = torch.tensor(2.0, requires_grad=True)\n"


def switches(trace):
    """The modes that were switched."""
    return [(e.mode, e.enabled) for e in trace.events if isinstance(e, ModeChanged)]


# ── modes ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_mode_that_was_on_before(library):
    with library.inference_mode():
        trace = traced("x = torch.tensor(2.0)\ny = x * 3\n", library)
    assert switches(trace) == [("inference", True)]
    with library.no_grad():
        trace = traced(LEAF + "y = x * 3\n", library)
    assert switches(trace) == [("grad", False)]
    assert build(trace).note == ("no_graph_no_grad", {"names": "y"})
