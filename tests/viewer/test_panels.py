"""Boxes that a reader can open: what is inside them, and what the steps mark there."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from cells import CELLS, traced

from minigrad_viz.model.fold import PANELS, READABLE, opened_in
from minigrad_viz.player.score import content, line_to_json, score_of
from minigrad_viz.shell.report import Report

MODEL = """
torch.manual_seed(0)
nn = torch.nn
x = torch.ones(3, 2)
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss = nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 0]))
loss.backward()
opt.step()
"""
DEEP = """
torch.manual_seed(0)
nn = torch.nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
    def forward(self, x):
        return x + self.second(torch.tanh(self.first(x)))
net = nn.Sequential(*[Block() for _ in range(4)])
net(torch.ones(1, 2)).sum().backward()
"""


@pytest.fixture
def model(library):
    return Report(traced(MODEL, library), lang="en")


def test_every_closed_box_of_a_model_can_be_opened(model):
    panels = {panel.title: panel for panel in model.act(-1).panels}
    assert {"model › 0 Linear", "model › 1 Tanh", "model › 2 Linear", "loss"} <= set(panels)
    inside = [card.name or card.expr for _, card in panels["model › 0 Linear"].picture.graph.cards()]
    assert {"model.0.weight", "model.0.bias", "x"} <= set(inside)


def test_a_panel_has_a_frame_for_every_frame_of_the_whole(model):
    act = model.act(-1)
    (panel,) = (panel for panel in act.panels if panel.title == "model › 2 Linear")
    begins = (0, *panel.ends)
    assert [panel.frames[i].phase for i in begins[:-1]] == [frame.phase for frame in act.frames]
    assert any(b - a > 1 for a, b in pairwise(begins)), "the node and what stores its gradients"
    for a, b in pairwise(begins):
        assert b == a + 1 or all(frame.text for frame in panel.frames[a:b])
    graph = panel.picture.graph
    decks = {s.deck.name.rstrip("0"): f"{s.id}-d" for s in graph.stations if s.deck}
    active = [i for i, frame in enumerate(panel.frames) if decks["AddmmBackward"] in frame.marks]
    assert len(active) == 1 and act.frames[active[0]].text.startswith("2 Linear 4→2 receives")
    assert "TBackward" not in decks, "a view is no station"
    assert decks.keys() >= {"AccumulateGrad", "AddmmBackward"}


def test_what_changes_is_true_inside_as_well(model):
    act = model.act(-1)
    (panel,) = (panel for panel in act.panels if panel.title == "model › 0 Linear")
    shows = [part for frame in panel.frames for part, _ in frame.shows]
    assert len(shows) == 6, "each parameter: no gradient, its gradient, its new value"
    assert panel.frames[-1].phase == "update" and len(panel.frames[-1].shows) == 2


def test_a_box_says_what_goes_in_and_what_comes_out(model):
    said = [frame.text for frame in model.frames if frame.phase == "backward"]
    assert said[1].startswith("2 Linear 4→2 receives ") and said[1].endswith(" to 1 Tanh")
    assert said[-1].endswith(" and stores the gradients of its parameters: weight, bias")
    lines = [line.label for frame in model.frames if frame.phase == "backward" for line in frame.lines]
    assert {"model.0.weight.grad", "model.2.bias.grad"} <= set(lines)
    forward = [frame.text for frame in model.frames if frame.phase == "forward"]
    assert any(text.startswith("0 Linear 2→4 computes 3×4") for text in forward)


def test_boxes_inside_boxes_open_too(library):
    act = Report(traced(DEEP, library), lang="en").act(-1)
    boxes = {panel.box for panel in act.panels}
    inside = {fold.station for panel in act.panels for fold in panel.picture.graph.folds}
    assert inside and inside <= boxes
    assert len(act.panels) <= PANELS and all(len(p.picture.graph.stations) <= READABLE for p in act.panels)


def test_boxes_open_in_every_round_that_is_soon_drawn(library, monkeypatch):
    loop = "w = torch.ones(2, requires_grad=True)\nfor i in range(3):\n    ((w * 2) ** 2).sum().backward()\n"
    acts = Report(traced(loop, library), lang="en").acts
    assert all(act.panels for act in acts)
    monkeypatch.setattr("minigrad_viz.player.acts.OPENED", 7)
    acts = Report(traced(loop, library), lang="en").acts
    assert all(act.panels for act in acts), "boxes of one structure count once"
    acts = Report(traced(loop.replace("2) ** 2", "2) ** (2 if i else w)"), library), lang="en").acts
    assert [bool(act.panels) for act in acts] == [False, True, True], "the newest"


def test_what_stands_aside_opens_too(library):
    source = (
        "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "((w * 2) ** 2).sum().backward()\nopt.step()\nguess = w.detach() * 3\n"
    )
    act = Report(traced(source, library), lang="en").act(-1)
    (aside,) = [panel for panel in act.panels if panel.box == "aside"]
    assert "guess" in {card.name for _, card in aside.picture.graph.cards()}
    svg = str(act.picture.svg())
    assert f'id="{act.picture.prefix}aside"' in svg


def test_a_small_cell_has_none(library):
    report = Report(traced(CELLS[9], library), lang="en")
    assert report.act(-1).panels == () and opened_in(report.graph, report.views[-1].whole) == []
    assert content(report.act(-1))["panels"] == {}


def test_the_score_has_them(model):
    score = json.loads(json.dumps(score_of(model.acts, lang="en")))
    panels = score["acts"][-1]["panels"]
    parts = "title svg prefix width routes frames stood outline widths ends"
    assert set(parts.split()) == set(next(iter(panels.values())))
    assert all(box in score["acts"][-1]["svg"] for box in panels)


def test_parameters_stand_in_the_order_of_their_module(model):
    inside = [[name for name, _ in fold.parameters] for fold in model.graph.folds]
    assert inside.count(["weight", "bias"]) == 2


def test_an_open_module_with_one_result_has_its_own_name(library):
    """What failed was given the result of Flatten, so that box stands open."""
    source = (
        "nn = torch.nn\nnet = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(10, 2))\n"
        "out = net(torch.ones(2, 1, 6, 6))\n"
    )
    report = Report(traced(source, library), lang="en")
    marked = {mark.part for mark in report.graph.marks}
    (flat,) = (s for s in report.graph.stations if s.deck is not None and s.deck.name.startswith("View"))
    assert f"{flat.id}-c0" in marked and flat.id.startswith("s"), "not a closed box"
    assert flat.cards[0].expr == "2 Flatten" and "2 Flatten   float32" in report.text()


def test_before_a_later_round_a_box_says_what_it_holds(library):
    opening, body = MODEL.split("loss = ")
    loop = "".join(f"    {line}\n" for line in f"loss = {body}".splitlines())
    report = Report(traced(f"{opening}for i in range(2):\n{loop}", library), lang="en")
    told = [frame.text for frame in report.act(-1).frames]
    holds = report.act(-1).frames[told.index("0 Linear 2→4 holds model.0.weight, model.0.bias")]
    assert not [mark for mark in holds.marks if mark.startswith("r")], "nothing has come to it yet"
    assert not [text for text in told if "computes model." in text]


def test_of_two_models_each_module_has_its_whole_name(library):
    source = """
nn = torch.nn
G = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
D = nn.Sequential(nn.Linear(1, 3), nn.ReLU(), nn.Linear(3, 1))
loss = D(G(torch.ones(4, 2))).mean()
loss.backward()
"""
    told = [frame.text for frame in Report(traced(source, library), lang="en").act(-1).frames]
    for box in ("G.0 Linear 2→3", "D.2 Linear 3→1"):
        assert [text.startswith(f"{box} ") for text in told].count(True) == 2


def test_indices_and_weights_that_no_code_asks_for_are_not_listed(library):
    source = (
        "nn = torch.nn\n"
        "pool, loss_fn = nn.MaxPool2d(2), nn.NLLLoss()\n"
        "x = torch.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()\n"
        "y = pool(x)\n"
        "loss = loss_fn(y.reshape(2, 2), torch.tensor([0, 1]))\n"
        "loss.backward()\n"
    )
    act = Report(traced(source, library), lang="en").act(-1)
    said = [frame.text for frame in act.frames]
    assert any(text.startswith("pool … reshape computes a = [[5. 7.] [13. 15.]]") for text in said), said
    assert all("None" not in text and "with_indices" not in text for text in said)
    assert all(len(station.cards) == 1 for station in act.picture.graph.stations)
    asked = source.replace("MaxPool2d(2)", "MaxPool2d(2, return_indices=True)").replace("y =", "y, where =")
    assert [len(e.outputs) for e in traced(asked, library).events if "pool" in getattr(e, "op", "")] == [2]


def test_what_a_parameter_was_made_of_is_not_drawn_beside_it(library):
    source = (
        "w = torch.nn.Parameter(torch.tensor(3.0))\n"
        "b = torch.nn.Parameter(torch.zeros(2) + 1)\n"
        "((w * torch.ones(2) + b) ** 2).sum().backward()\n"
    )
    stations = Report(traced(source, library), lang="en").graph.stations
    loose = [s for s in stations if s.cards[0].expr in ("tensor(3.0)", "zeros(2)", "zeros(2) + 1")]
    assert len(stations) == 7 and not loose


def test_a_box_says_that_recording_is_off(library):
    source = (
        "w = torch.tensor(2.0, requires_grad=True)\n"
        "net = torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))\n"
        "with torch.no_grad():\n    aim = net(torch.ones(1))\n"
        "loss = ((w - aim) ** 2).sum()\nloss.backward()\n"
    )
    said = [frame.text for frame in Report(traced(source, library), lang="en").frames]
    (told,) = [text for text in said if text.startswith("net Sequential computes aim = ")]
    assert told.endswith("; recording is off, so no node is created")


def test_the_size_of_a_gradient_is_no_number():
    source = "x = torch.arange(16.0).requires_grad_()\nfor i in range(2):\n    (x * 2).sum().backward()\n"
    formulas = [
        line_to_json(line)[1]
        for frame in Report(traced(source), lang="en").frames
        for line in frame.lines
        if line.formula
    ]
    shown = [json.dumps(formula) for formula in formulas]
    assert any('"(", "16", ",", ")"' in formula for formula in shown), formulas
    assert not any(re.search(r'"(=| [+] )", (\["(in|out)", )?\["word", "16"', formula) for formula in shown)
