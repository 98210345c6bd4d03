"""Updates of parameters: one lane below the graph, with the numbers of the run, on both libraries."""

from __future__ import annotations

import re

import pytest
from cells import traced
from staged import frames_of, scenes_of

from minigrad_viz.drawing.look import MONO
from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.words import columns

HEAD = "w = torch.tensor([2.0, -1.0], requires_grad=True)\nx = torch.tensor([3.0, 5.0])\n"
BACK = "loss = (w * x).sum() ** 2\nloss.backward()\n"


@pytest.fixture(params=["minigrad", "PyTorch"])
def library(request):
    import minigrad

    return minigrad if request.param == "minigrad" else request.getfixturevalue("torch")


def last(source, library):
    trace = traced(source, library)
    view = scenes_of(trace, lang="en")[-1]
    return view.graph, [f for f in frames_of(trace, view.graph, view.call, "en") if f.phase == "update"]


def test_it_is_drawn_and_told(library):
    graph, _ = last(f"{HEAD}opt = torch.optim.SGD([w], lr=0.1)\n{BACK}opt.step()\nw.grad = None\n", library)
    told = outline(graph, "en").splitlines()
    assert told[-4:] == [
        "→ opt.step()   SGD lr=0.1", "  w: [2. -1.] → [1.4 -2.]",
        "→ w.grad = None", "  w.grad: [6. 10.] → None",
    ]  # fmt: skip
    svg = Picture(graph, lang="en").svg()
    for id in ("u0", "u0-c0", "u0-c0-before", "u0-c0-after", "u1"):
        assert re.search(f'id="g[0-9a-f]+-{id}"', svg), id


def test_in_a_narrow_lane_the_line_of_code_is_cut(library):
    step = "w.data = w.data - 0.125 * w.grad.clamp(-1000.0, 1000.0) / (1.0 + w.grad.norm() / 1000.0)\n"
    graph, _ = last(f"{HEAD}{BACK}{step}", library)
    lane = Picture(graph, lang="en").measured().lane
    slim = lane.fitting(180)
    assert max(columns(head.source) for head in lane.heads) * MONO > 180
    assert all(columns(head.source) * MONO <= 180 for head in slim.heads) and slim.width < lane.width
    assert all(head.source.endswith("…") for head in slim.heads if head.source.startswith("w.data"))


def test_no_name_is_cut_in_the_line_of_zero_grad(library):
    """One name keeps its beginning and its end; of several that have no room it is said how many they are."""
    head = "nn = torch.nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    told = []
    for bias in (False, True):
        layer = f"        self.projection = nn.Linear(2, 1, bias={bias})\nnet = Net()\n"
        train = "opt = torch.optim.SGD(net.parameters(), 0.1)\nloss = net.projection(torch.ones(2)).sum()\n"
        graph, _ = last(head + layer + train + "loss.backward()\nopt.zero_grad()\n", library)
        lane = Picture(graph, lang="en").measured().lane
        told.append([each.heads[-1].lines[0].cells[2] for each in (lane, lane.fitting(lane.width - 1))])
    assert told == [["net.pr…weight.grad", "…eight.grad"], ["2 grads", "2 grads"]]


def test_what_has_no_part_stands_aside(library):
    data = "".join(f"d{i} = torch.ones(2) * {i}\n" for i in range(10))
    after = "with torch.no_grad():\n    prediction = w * x\n    error = prediction - 1\n"
    source = HEAD + data + BACK + after + "other = w * 2\n" + "pad = [torch.zeros(1) for _ in range(3)]\n"
    graph, _ = last(source, library)
    assert {card.name for _, card in graph.cards()} == {"w", "x", "loss", None}
    assert dict(graph.aside)["aside_graph"] == 1 and dict(graph.aside)["aside_result"] >= 2
    assert outline(graph, "en").splitlines()[-1].startswith("Not shown: data preparation ")
    (view,) = scenes_of(traced(source, library), lang="en")
    drawn = {station.id for station in graph.stations}
    apart = [station for station in view.aside.stations if station.id not in drawn]
    assert {"other", "prediction", "error", "d9"} <= {card.name for s in apart for card in s.cards}
    assert len(apart) == sum(count for _, count in graph.aside)
    beside = [station for station in view.aside.stations if station.id in drawn]
    assert {card.name for s in beside for card in s.cards} == {"w", "x"}, "what they were computed from"
    assert all(station.deck is None for station in beside)
    (view,) = scenes_of(traced(source, library), lang="en", fold=False)
    assert "other" in {card.name for _, card in view.graph.cards()} and not view.aside.stations


def test_what_stands_aside_is_drawn_like_any_graph(library):
    """So a picture of it opens on request."""
    source = f"{HEAD}{BACK}apart = (w * 2).sum()\nw.data -= w.grad\n"
    (view,) = scenes_of(traced(source, library), lang="en")
    assert "apart = (w * 2).sum()" in outline(view.aside, "en") and "apart" not in outline(view.graph, "en")
    assert "<svg" in Picture(view.aside, lang="en").svg()


def test_of_the_data_of_a_training_only_what_goes_in_is_shown(library):
    """However small the cell is; a look at a detached copy stays where nothing is updated."""
    source = (
        "X = torch.linspace(-1, 1, 4)\nY = 3 * X - 1\nw = torch.ones(1, requires_grad=True)\n"
        "loss = ((w * X - Y) ** 2).mean()\nloss.backward()\n"
    )
    graph, _ = last(source, library)
    assert "3 * X" in {card.expr for _, card in graph.cards()} and not graph.aside
    graph, _ = last(source + "with torch.no_grad():\n    w -= 0.1 * w.grad\n", library)
    shown = {card.expr for _, card in graph.cards()}
    assert "3 * X" not in shown and {"X", "Y", "w", "loss"} <= {card.name for _, card in graph.cards()}
    assert dict(graph.aside) == {"aside_data": 1}
