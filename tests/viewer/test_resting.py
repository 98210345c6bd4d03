"""Of thousands of ops without gradients the first are recorded and the others counted."""

from __future__ import annotations

import pytest
from cells import run, traced

from minigrad_viz.drawing.outline import outline
from minigrad_viz.recording.long_loops import PLAIN
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import Forward, InPlaceWrite, Trace

COUNT = "N = torch.zeros(5, 5)\nfor k in range(3000):\n    N[k % 5, k % 3] += 1\n"


@pytest.mark.full
def test_counting_writes_cost_little_and_change_nothing(library):
    ran = run(COUNT, library)
    told = sum(isinstance(event, Forward | InPlaceWrite) for event in ran.trace.events)
    assert PLAIN <= told < PLAIN + 10 and ran.trace.counted >= 2000
    assert "that were only counted" in outline(Report(ran.trace, lang="en").graph, "en")
    (n,) = (state for event in ran.trace.events[-1:] for name, state in event.rows if name == "N")
    assert sum(n.value.items) == 3000, "the numbers are those of the end"


def test_the_graph_is_whole_after_a_rest(library):
    source = COUNT + "w = torch.ones(5, requires_grad=True)\nloss = (w * N[0]).sum()\nloss.backward()\n"
    report = Report(traced(source, library), lang="en")
    cards = {card.name: card for _, card in report.graph.cards() if card.name}
    assert cards["w"].grad.items == (200.0, 200.0, 200.0, 0.0, 0.0)
    assert {"w", "loss"} <= cards.keys() and cards["loss"].role == "root"
    assert [frame.phase for frame in report.frames].count("backward") >= 3


@pytest.mark.full
def test_a_backward_call_ends_the_rest(library):
    after = "w = torch.ones(5, requires_grad=True)\n(w * 2).sum().backward()\nseen = N + 1\n"
    trace = traced(COUNT + after, library)
    assert any(isinstance(event, Forward) and event.name == "seen" for event in trace.events)


@pytest.mark.full
def test_ops_with_gradients_are_never_skipped(library):
    source = COUNT + "w = torch.ones(5, requires_grad=True)\ny = w\nfor k in range(30):\n    y = y * 2\n"
    trace = traced(source, library)
    assert sum(isinstance(e, Forward) and e.outputs[0].requires_grad for e in trace.events) == 30


@pytest.mark.full
def test_a_stored_trace_keeps_the_count(library):
    trace = traced(COUNT, library)
    assert Trace.from_json(trace.to_json()).counted == trace.counted > 0
    assert traced("x = torch.ones(2)\n", library).counted == 0
