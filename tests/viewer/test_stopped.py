"""The picture of a cell that failed has a box for the operation at which it stopped."""

from __future__ import annotations

import pytest
from cells import traced

from minigrad_viz.model.schedule import STOPPED
from minigrad_viz.shell.report import Report

WRONG = "x = torch.ones(4, 2)\nw = torch.ones(3, 2, requires_grad=True)\nh = x @ w\n"
MODEL = (
    "x = torch.ones(5, 3)\nnet = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(5, 1))\n"
    "out = net(x)\n"
)
BACKWARD = "x = torch.ones(3, requires_grad=True)\n(x * 2).backward()\n"


@pytest.mark.parametrize("source, said", [(WRONG, "x @ w"), (MODEL, "net(x)")])
def test_a_box_stands_where_the_cell_stopped(source, said, library):
    report = Report(traced(source, library), lang="en")
    station, card = next((s, card) for s, card in report.graph.cards() if card.id == STOPPED)
    assert card.expr == said and station.deck is None
    names = {s.id: s.cards[0] for s in report.graph.stations}
    leading = [route for route in report.graph.routes if route.target == station.id]
    assert leading and all(names[route.source].id != STOPPED for route in leading)
    *before, last = report.frames
    assert last.failed and {f"{station.id}-c0", *(route.id for route in leading)} <= set(last.marks)
    assert not any(mark.startswith(f"{station.id}-") for frame in before for mark in frame.marks)
    assert "stopped here" in (report.picture.svg() or "")


def test_a_backward_call_that_failed_stops_at_its_own_nodes(library):
    report = Report(traced(BACKWARD, library), lang="en")
    assert report.diagnosed and not any(card.id == STOPPED for _, card in report.graph.cards())
