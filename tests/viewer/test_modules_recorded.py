"""Calls of modules as they are recorded: by what path, with which parameters, and what ran inside."""

from __future__ import annotations

import pytest
from cells import run, traced
from staged import build, scenes_of

from minigrad_viz.model.fold import opened_in
from minigrad_viz.recording.long_loops import KEPT_CALLS
from minigrad_viz.trace.events import Forward, ModuleCalled, ModuleReturned, Trace

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


def test_paths_kinds_and_sizes(library):
    assert told(traced(NET + "model = Net()\ny = model(torch.ones(3, 2))\n", library)) == [
        ("model", "Net", ""),
        ("model.body", "Sequential", ""),
        ("model.body.0", "Linear", "2→4"),
        ("model.body.1", "ReLU", ""),
        ("model.head", "Linear", "4→1"),
    ]


@pytest.mark.parametrize(
    ("cell", "path"),
    [
        ("m = torch.nn.Tanh()\nm(x)\n", "m"),
        ("layers = [torch.nn.Tanh(), torch.nn.ReLU()]\nlayers[1](x)\n", "layers[1]"),
        ("layers = [torch.nn.Tanh()]\nfor f in layers:\n    f(x)\n", "layers[0]"),
        ("def go(x):\n    act = torch.nn.Tanh()\n    return act(x)\ngo(x)\n", "act"),
        ("parts = {'act': torch.nn.Tanh()}\nparts['act'](x)\n", "parts['act']"),
        ("class A:\n    def __init__(self):\n        self.f = torch.nn.Tanh()\na = A()\na.f(x)\n", "a.f"),
        ("m = torch.nn.Sequential(torch.nn.Tanh())\nm[0](x)\n", "m.0"),
        ("torch.nn.Tanh()(x)\n", ""),
    ],
)
def test_how_a_module_is_found(library, cell, path):
    (call,) = calls(traced("x = torch.ones(2)\n" + cell, library))
    assert call.path == path


def test_sizes_of_layers(library):
    cell = "torch.nn.Conv2d(3, 8, 3)(torch.ones(1, 3, 5, 5))\ntorch.nn.Embedding(27, 10)(torch.tensor([1]))\n"
    assert [call.about for call in calls(traced(cell, library))] == ["3→8, 3×3", "27→10"]


def test_a_lazy_module_has_the_sizes_that_it_got(library):
    (call,) = calls(traced("m = torch.nn.LazyLinear(3)\ny = m(torch.ones(1, 2))\n", library))
    assert (call.kind, call.about) == ("Linear", "2→3")


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


def test_what_ran_inside_stands_between(library):
    stack: list[ModuleCalled] = []
    inside = []
    for event in traced(MODEL + "y = model(x)\nz = y.sum()\n", library).events:
        if isinstance(event, ModuleCalled):
            stack.append(event)
        elif isinstance(event, ModuleReturned):
            assert stack.pop().number == event.number
        elif isinstance(event, Forward):
            inside.append((event.op, stack[-1].path if stack else ""))
    assert ("tanh", "model.1") in inside
    assert inside[-1][1] == ""
    assert {path for _, path in inside} == {"model.0", "model.1", "model.2", ""}


def test_a_module_that_fails_returns_nothing(library):
    cell = MODEL + "try:\n    model(torch.ones(3))\nexcept RuntimeError:\n    pass\ny = model(x)\n"
    events = [e for e in traced(cell, library).events if isinstance(e, ModuleCalled | ModuleReturned)]
    stack, outputs = [], []
    for event in events:
        if isinstance(event, ModuleCalled):
            stack.append(event.number)
        else:
            assert stack.pop() == event.number
            outputs.append(event.outputs)
    assert not stack
    assert outputs[:2] == [(), ()]
    assert all(outputs[2:])


def test_what_a_checkpoint_runs_again_is_no_call(library):
    cell = (
        MODEL + "from {}.utils.checkpoint import checkpoint\nx.requires_grad_()\n"
        "y = checkpoint(model, x, use_reentrant=False)\ny.sum().backward()\n"
    ).format("torch" if library.__name__ == "torch" else "minigrad")
    assert [path for path, _, _ in told(traced(cell, library))] == ["model", "model.0", "model.1", "model.2"]


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
