"""A checkpoint in text and picture: what it did not keep, and what it computes again."""

from __future__ import annotations

import pytest
from cells import traced

from minigrad_viz.trace.events import NodeRan, Recomputation

pytestmark = pytest.mark.usefixtures("names_of_today")

BLOCK = (
    "x = torch.tensor(0.5, requires_grad=True)\ndef block(x):\n    a = torch.sin(x)\n"
    "    return a * torch.exp(a)\n"
    "y = torch.utils.checkpoint.checkpoint(block, x, use_reentrant={reentrant})\nz = y ** 2\nz.backward()\n"
)
KEPT, REENTRANT = BLOCK.format(reentrant=False), BLOCK.format(reentrant=True)
TWO = (
    "x = torch.tensor(0.5, requires_grad=True)\n"
    "ck = lambda f, x: torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)\n"
    "y = ck(lambda t: torch.sin(t) ** 2, ck(lambda t: torch.exp(t) ** 2, x))\ny.backward()\n"
)


def again(trace):
    """What was recomputed, in order."""
    return [e for e in trace.events if isinstance(e, Recomputation)]


def test_it_is_computed_again_just_before_it_is_needed(library):
    trace = traced(KEPT, library)
    (event,) = again(trace)
    assert [op.op for op in event.ops][:2] == ["sin", "exp"]
    assert [op.span.text for op in event.ops][:2] == ["torch.sin(x)", "torch.exp(a)"]
    at = trace.events.index(event)
    later = next(e for e in trace.events[at:] if isinstance(e, NodeRan))
    assert later.node == event.node and event.call == 1
    names = {node.id: node.name for e in trace.events for node in getattr(e, "nodes", ())}
    assert names[event.node] == "MulBackward0"


def test_two_checkpoints(library):
    trace = traced(TWO, library)
    assert [event.ops[0].op for event in again(trace)] == ["sin", "exp"]
    assert trace.error is None
