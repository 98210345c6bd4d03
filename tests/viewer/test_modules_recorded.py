"""Calls of modules as they are recorded: by what path, with which parameters, and what ran inside."""

from __future__ import annotations

from cells import run, traced
from staged import build, scenes_of

from minigrad_viz.model.fold import opened_in
from minigrad_viz.recording.long_loops import KEPT_CALLS
from minigrad_viz.trace.events import ModuleCalled, ModuleReturned, Trace

MODEL = (
    "torch.manual_seed(0)\nnn = torch.nn\n"
    "model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))\nx = torch.ones(3, 2)\n"
)
NET = (
    "nn = torch.nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.body = nn.Sequential(nn.Linear(2, 4), nn.ReLU())\n        self.head = nn.Linear(4, 1)\n"
    "    def forward(self, x):\n        return self.head(self.body(x))\n"
)


def calls(trace: Trace) -> list[ModuleCalled]:
    return [event for event in trace.events if isinstance(event, ModuleCalled)]


def told(trace: Trace) -> list[tuple[str, str, str]]:
    return [(call.path, call.kind, call.about) for call in calls(trace)]


def test_parameters_inputs_and_outputs_are_those_of_the_graph(library):
    cell = run(MODEL + "y = model(x)\n", library)
    first, *_ = [call for call in calls(cell.trace) if call.kind == "Linear"]
    known = {id: card for _, card in build(cell.trace).cards() for id in [card.id]}
    for name, id in first.parameters:
        live = getattr(cell.names["model"][0], name)
        assert known[id].value.shape == tuple(live.shape)
        assert list(known[id].value.items) == live.detach().reshape(-1).tolist()
    names = dict(cell.trace.names)
    assert [names[id] for id in first.inputs] == ["x"]
    (outer,) = [call for call in calls(cell.trace) if call.path == "model"]
    (end,) = [e for e in cell.trace.events if isinstance(e, ModuleReturned) and e.number == outer.number]
    assert [names[id] for id in end.outputs] == ["y"]


def test_calls_of_rounds_that_are_not_kept_go(library):
    n = 2 * KEPT_CALLS + 5
    trace = traced(MODEL + f"for i in range({n}):\n    model(x).sum().backward()\n", library)
    numbers = [call.number for call in calls(trace)]
    ends = [e.number for e in trace.events if isinstance(e, ModuleReturned)]
    assert sorted(numbers) == sorted(ends)
    assert len(told(trace)) <= 4 * (KEPT_CALLS + 1)


def test_nothing_stays_behind(torch):
    from torch.nn.modules import module as hooks

    traced(MODEL + "y = model(x)\n", torch)
    traced(MODEL + "model(torch.ones(3))\n", torch)
    assert not hooks._global_forward_hooks
    assert not hooks._global_forward_pre_hooks
    assert not hooks._global_forward_hooks_always_called


def test_the_same_is_computed_unwatched(library):
    cell = NET + "torch.manual_seed(1)\nmodel = Net()\ny = model(torch.ones(3, 2))\nprint(y)\n"
    assert run(cell, library).told == run(cell, library, watched=False).told


def test_boxes_open_in_every_round(library):
    """Each round has what is inside its own boxes, with the values of that round."""
    source = MODEL + (
        "opt = torch.optim.SGD(model.parameters(), lr=0.1)\nseen = []\nfor step in range(3):\n"
        "    opt.zero_grad()\n    loss = model(x).sum()\n    loss.backward()\n"
        "    seen.append(model[2].weight.flatten().tolist())\n    opt.step()\n"
    )
    ran = run(source, library)
    views = scenes_of(ran.trace, lang="en")
    assert [view.call for view in views] == [1, 2, 3]
    for view, weight in zip(views, ran.names["seen"], strict=True):
        opened = {group.path: part for group, part in opened_in(view.graph, view.whole)}
        assert {"model.0", "model.2"} <= opened.keys()
        values = {card.value.items for _, card in opened["model.2"].cards() if card.role == "parameter"}
        assert tuple(weight) in values
