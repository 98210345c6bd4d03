"""The recorder: what it writes down of a cell, and that the cell does not notice."""

from __future__ import annotations

import json

import pytest
from cells import CELLS, CUBE, run, traced
from staged import build

import minigrad
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.recording.states import States
from minigrad_viz.trace.events import (
    Forward,
    TensorCreated,
    Trace,
)


def of(trace: Trace, kind: type) -> list:
    return [event for event in trace.events if isinstance(event, kind)]


def names(trace: Trace) -> list[str | None]:
    return [card.name for _, card in build(trace).cards()]


# ------------------------------------------------------------------------------- what is written down


@pytest.mark.quick
class TestEvents:
    def test_tensors_from_earlier_cells(self, library):
        first = run(CUBE, library, watched=False)
        trace = traced("w = z * 2\nw.backward()\n", library, first.names)
        assert names(trace) == ["x", "y", "z", "w"]
        assert [e.span is None for e in of(trace, TensorCreated)] == [True, True, True]
        assert [e.outputs[0].grad_fn.rstrip("0123456789") for e in of(trace, Forward)] == ["MulBackward"]

    def test_an_earlier_graph_whose_tensors_are_gone(self, library):
        first = run("z = torch.log(torch.tensor(5.0, requires_grad=True) ** 3)\n", library, watched=False)
        graph = build(traced("z.backward()\n", library, first.names))
        assert [s.deck.name.rstrip("0123456789") for s in graph.stations] == [
            "AccumulateGrad", "PowBackward", "LogBackward",
        ]  # fmt: skip
        assert [card.value is None for _, card in graph.cards()] == [False, False, False], (
            "y was saved by log"
        )


@pytest.mark.quick
class TestErrors:
    def test_a_fault_of_the_recorder_is_no_error_of_the_cell(self, monkeypatch):
        monkeypatch.setattr(States, "state_of", lambda *args: 1 / 0)
        space = {"torch": minigrad, "__name__": "__main__"}
        recorder = Recorder(CELLS[4], space)
        recorder.start()
        exec(CELLS[4].replace("print", "str"), space)
        assert space["x"].grad.item() == pytest.approx(0.6)
        with pytest.raises(ZeroDivisionError):
            recorder.stop()


def test_numbers_that_json_does_not_have():
    trace = traced("x = torch.tensor([0.0, 1.0], requires_grad=True)\nx.log().sum().backward()\n")
    data = json.loads(trace.to_json())
    log = next(e for e in data["events"] if e["event"] == "Forward")
    assert log["outputs"][0]["value"]["items"][0] == "-inf"
