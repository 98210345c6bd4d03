"""A checkpoint in text and picture: what it did not keep, and what it computes again."""

from __future__ import annotations

import re

import pytest
from cells import traced
from staged import build, frames_of

from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.saved_values import RECOMPUTED
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


def test_nodes_keep_nothing(library):
    graph = build(traced(KEPT, library))
    decks = {s.deck.name: s.deck for s in graph.stations if s.deck is not None}
    for name in ("SinBackward0", "ExpBackward0", "MulBackward0"):
        assert {saved.packed for saved in decks[name].saved} == {RECOMPUTED}
    assert {saved.packed for saved in decks["PowBackward0"].saved} == {""}, "outside the checkpoint"
    assert "SinBackward0   self → recomputed (freed)" in outline(graph, "en")
    svg = Picture(graph, lang="en").svg()
    assert "not kept, recomputed" in svg and "packed by a hook" not in svg


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


def test_the_step(library):
    trace = traced(KEPT, library)
    graph = build(trace)
    frames = frames_of(trace, graph, lang="en")
    (step,) = [f for f in frames if "computed again:" in f.text]
    assert step.phase == "backward" and step.text.startswith(
        "MulBackward0 at y needs values that were not kept"
    )
    assert [line.text for line in step.lines][:2] == ["sin(x) = 0.47943", "exp(a) = 1.6151"]
    cards = {card.expr: f"{station.id}-c0" for station, card in graph.cards()}
    assert {cards["sin(x)"], cards["exp(a)"]} <= set(step.marks), "the stations that are computed once more"
    texts = [line.text for frame in frames for line in frame.lines]
    assert "∂z/∂x = ∂z/∂a · ∂a/∂x = 3.7006 · cos x = 3.7006 · 0.87758 = 3.2476" in texts


def test_what_runs_again_is_no_op_of_the_cell(library):
    graph = build(traced(KEPT, library))
    exprs = [card.expr for _, card in graph.cards() if card.expr]
    assert sorted(exprs) == sorted(set(exprs))


def test_the_reentrant_one_is_one_station(library):
    trace = traced(REENTRANT, library)
    graph = build(trace)
    assert [s.deck.name for s in graph.stations if s.deck is not None] == [
        "AccumulateGrad", "CheckpointFunctionBackward", "PowBackward0",
    ]  # fmt: skip
    (event,) = again(trace)
    assert [op.op for op in event.ops] == ["sin", "exp", "mul"]
    frames = frames_of(trace, graph, lang="en")
    (step,) = [f for f in frames if "computed again: 3" in f.text]
    assert step.text.startswith("CheckpointFunctionBackward at y")
    assert not any(line.kind == "own" for frame in frames for line in frame.lines), "it is the library's own"
    assert "stores 3.2476 in x.grad" in frames[-1].text


def test_no_address_is_shown(library):
    trace = traced(REENTRANT, library)
    shown = outline(build(trace), "en") + repr(trace.events)
    assert not re.search(r"0x[0-9a-f]{6}", shown)


def test_two_checkpoints(library):
    trace = traced(TWO, library)
    assert [event.ops[0].op for event in again(trace)] == ["sin", "exp"]
    assert trace.error is None


def test_the_words_in_korean(library):
    trace = traced(KEPT, library)
    assert "self → 다시 계산 (해제됨)" in outline(build(trace), "ko")
    frames = frames_of(trace, build(trace), lang="ko")
    assert any("다시 계산한 연산" in frame.text for frame in frames)
