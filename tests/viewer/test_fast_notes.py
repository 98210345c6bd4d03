"""What is noted in a hurry says the same as what is asked for slowly; and nothing that lives is noted."""

from __future__ import annotations

import gc
import re
import weakref

import numpy as np
import pytest
from cells import CELLS, run, traced
from test_unnoticed import program

import minigrad
from minigrad.observing import Op
from minigrad_viz.protocol import NAN, Value, value_from
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.recording.states import States
from minigrad_viz.sources import minigrad as source
from minigrad_viz.sources.minigrad_engine import as_tensor
from minigrad_viz.trace import notes
from minigrad_viz.trace.events import (
    BackwardStarted,
    Forward,
    GradAccumulated,
    InPlaceWrite,
    NodeRan,
    NodeState,
    Snapshot,
    Trace,
)

MORE = {
    "a loop with weights": (
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "for i in range(3):\n    loss = ((w * 2 - 1) ** 2).sum()\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 0.1 * w.grad\n        w.grad = None\n"
    ),
    "several outputs": (
        "a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\nb, c = a.unbind(0)\n"
        "d = b * c\nd.sum().backward()\n"
    ),
    "numbers beside tensors": (
        "x = torch.tensor(2.0, requires_grad=True)\ny = 1 - x * 3\nz = 2 / y + x ** 2 - True\nz.backward()\n"
    ),
    "mixed dtypes": (
        "x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)\n"
        "y = x * torch.tensor([1, 2]) + torch.tensor(0.5)\ny.sum().backward()\n"
    ),
    "not finite": (
        "x = torch.tensor([0.0, 1.0, -1.0], requires_grad=True)\ny = x.log()\n(y * x).sum().backward()\n"
    ),
    "large": (
        "x = torch.ones((70, 70), requires_grad=True)\ny = (x @ x).exp().tanh()\nz = (y * y + x).mean()\n"
        "z.backward()\n"
    ),
    "written to before backward": (
        "x = torch.ones(3, requires_grad=True)\ny = x * 2\nz = y * y\ny.add_(1)\nz.sum().backward()\n"
    ),
    "a scalar that became an array": (
        "x = torch.tensor(2.0, requires_grad=True)\ny = x * 2\nd = y.detach()\nz = y * y\nz.backward()\n"
    ),
    "a saved result written to": (
        "x = torch.tensor(2.0, requires_grad=True)\ny = x.exp()\ny += 1\ny.backward()\n"
    ),
    "new data": (
        "x = torch.ones(2, requires_grad=True)\ny = x * x\nx.data = torch.zeros(2)\ny.sum().backward()\n"
    ),
    "functions": (
        "def f(a):\n    b = a * 2\n    return b + a\nx = torch.tensor(2.0, requires_grad=True)\n"
        "y = sum(f(x) * i for i in range(3))\ny.backward()\n"
    ),
    "under no_grad": (
        "x = torch.tensor(2.0, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\n    z = y + 1\n"
        "with torch.enable_grad():\n    w = z * x\nw.backward()\n"
    ),
    "ops without a graph": (
        "x = torch.ones(3, requires_grad=True)\nc = torch.ones(3)\nwith torch.no_grad():\n    a = x * c\n"
        "    i = torch.tensor([1, 2]) * 2\n    k, s = a @ c, a.sum()\n    a += 1\n    a.mul_(c)\n    c *= x\n"
        "(a * x).sum().backward()\nwith torch.no_grad():\n    x[1] += 1\n"
        "    x.sub_(0.5 * x.grad)\n    u = x[0] * 2\n"
    ),
    "parameters": (
        "p, q = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.tensor(2.0))\n"
        "for i in range(3):\n"
        "    y = (p * q).sum() + q * 2\n    y.backward()\n    with torch.no_grad():\n        p -= p.grad\n"
        "        q -= 0.5 * q.grad\n        r = p * q\n    q.grad = None\n"
    ),
    "numbers written by NumPy": (
        "w = torch.ones(100, 100, requires_grad=True)\nx = torch.ones(100, 100)\nn = x.numpy()\n"
        "l = (x * w).mean()\nn[0, 0] = 50\nm = (x * w).mean()\nl.backward()\nn[0, 1] = -3\nm.backward()\n"
        "n[0, 2] = -4\n"
    ),
    "a variable for a gradient": (
        "x = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()\ng = x.grad\nh = g * 2\n"
        "(x * x).sum().backward()\nwith torch.no_grad():\n    g -= h\n    g.mul_(3)\ng = g * 2\n"
        "(x * 3).sum().backward()\nx.grad = None\nm = g + 1\n"
    ),
    "a result that becomes a leaf": (
        "c = torch.ones(2)\nwith torch.no_grad():\n    y = c * 2\ny.requires_grad_()\n"
        "(y * y).sum().backward()\ny.grad.zero_()\n"
    ),
}
EVERY = [*CELLS.values(), *MORE.values(), *(program(seed) for seed in range(60))]


def renumbered(trace: Trace) -> str:
    """A trace as text, with nodes numbered as they turn up."""
    seen: dict[str, str] = {}
    text = trace.to_json()
    return re.sub(r'"n\d+"', lambda match: seen.setdefault(match[0], f'"#{len(seen)}"'), text)


@pytest.fixture
def slow(monkeypatch):
    """Everything is asked of the tensors and nodes themselves."""

    def node_ran_of(recorder, engine):
        def node_ran(node, received, sent):
            if recorder.tape.depth != 1:
                return
            if node.name().endswith("AccumulateGrad"):
                engine.deposited(node, received)
            else:
                got = received if isinstance(received, list) else [received]
                recorder.backward.node_ran(node, [as_tensor(g) for g in got], [as_tensor(g) for g in sent])

        return node_ran

    monkeypatch.setattr(States, "result", lambda self, t: self.state_of(t, self.ids.claim(t)))
    monkeypatch.setattr(source.Minigrad, "forward", source.Minigrad.ran)
    monkeypatch.setattr(source, "node_ran_of", node_ran_of)
    monkeypatch.setattr(source, "freeze_of", lambda recorder, engine: recorder.states.freeze_all)
    monkeypatch.setattr(notes, "ROOM", 0)


@pytest.mark.sample(12)
@pytest.mark.parametrize("cell", EVERY)
def test_both_ways_lead_to_the_same_events(cell, request):
    fast = renumbered(traced(cell))
    request.getfixturevalue("slow")
    assert fast == renumbered(traced(cell))


def test_the_fast_way_is_taken():
    """Or the test above would compare the slow way with itself."""
    space = {"torch": minigrad, "__name__": "__main__"}
    cell = "x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\nz = y.exp()\nz.backward()\n"
    recorder = Recorder(cell, space)
    recorder.start()
    exec(compile(cell, "<cell>", "exec"), space)
    recorder.stop()
    kinds = [note.__class__ for note in recorder.tape.notes]
    assert [kinds.count(kind) for kind in (notes.OpNote, notes.NodeNote)] == [2, 3]
    assert sum(isinstance(note, GradAccumulated) for note in recorder.tape.notes) == 1
    nodes = next(note.nodes for note in recorder.tape.notes if isinstance(note, notes.BackwardStartNote))
    made = [part.name for row in nodes for part in row if isinstance(part, NodeState)]
    assert made == ["AccumulateGrad"], "no state was made of an op's node"


def test_nothing_alive_is_noted():
    """Notes hold text and numbers, and functions of the library, also before anybody reads them."""
    cell = MORE["a loop with weights"] + CELLS[11] + CELLS[18].replace("x", "v")
    space = {"torch": minigrad, "__name__": "__main__"}
    recorder = Recorder(cell, space)
    recorder.start()
    exec(compile(cell, "<cell>", "exec"), space)
    trace = recorder.stop()
    stack, seen = [recorder.tape.notes, trace], set()
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, type):
            continue
        seen.add(id(item))
        assert not isinstance(item, minigrad.Tensor | minigrad.autograd.graph.Node)
        library = getattr(item, "__module__", "").startswith(("minigrad.", "_operator", "builtins"))
        assert not callable(item) or isinstance(item, type | Op) or library, item
        if isinstance(item, list | tuple | dict):
            stack += [*item, *(item.values() if isinstance(item, dict) else ())]


@pytest.mark.parametrize("how", ["unread", "read"])
def test_a_trace_keeps_nothing_alive(how):
    gc.collect()
    gc.disable()
    try:
        cell = run(MORE["a loop with weights"] + CELLS[9])
        alive = [weakref.ref(t) for t in cell.names.values() if isinstance(t, minigrad.Tensor)]
        nodes = [weakref.ref(n) for t in alive for n, _ in getattr(t().grad_fn, "next_functions", ())
                 if n is not None and hasattr(n, "variable")]  # fmt: skip
        if how == "read":
            assert len(cell.trace.events) > 20
        trace = cell.trace
        cell.names.clear()
        assert [ref() for ref in (*alive, *nodes)] == [None] * (len(alive) + len(nodes))
        assert len(trace.events) > 20
    finally:
        gc.enable()


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_was_written_later_does_not_show():
    cell = (
        "x = torch.ones((8, 9), requires_grad=True)\ny = x * 2\nz = y + 0\nz.sum().backward()\n"
        "with torch.no_grad():\n    y.fill_(7.0)\n    x.grad.fill_(9.0)\n"
    )
    events = traced(cell).events
    made = [e for e in events if isinstance(e, Forward)]
    assert [(e.outputs[0].value.low, e.outputs[0].value.high) for e in made] == [(2.0, 2.0)] * 2 + [
        (144.0, 144.0)
    ]
    assert [e.tensor.value.high for e in events if isinstance(e, InPlaceWrite)] == [7.0]
    after = next(e for e in events if isinstance(e, Snapshot) and e.when == "after")
    assert dict(after.rows)["x"].grad.high == 2.0


def test_a_hook_that_writes_into_its_gradient():
    cell = (
        "x = torch.ones((70, 70), requires_grad=True)\ny = x * 2\nz = y * y\n"
        "y.register_hook(lambda g: [g.mul_(5), None][1])\nz.sum().backward()\n"
    )
    trace = traced(cell)
    assert trace.error is None
    names = {n.id: n.saved[0].name for e in trace.events if isinstance(e, BackwardStarted) for n in e.nodes
             if n.name == "MulBackward0"}  # fmt: skip
    received = {
        names[e.node]: e.received[0] for e in trace.events if isinstance(e, NodeRan) and e.node in names
    }
    leaf = next(e for e in trace.events if isinstance(e, NodeRan) and e.sent == ()).received[0]
    assert (received["other"].high, leaf.high) == (20.0, 40.0)


@pytest.mark.parametrize(
    "data, low, high, items",
    [
        ([1.0, -2.0], -2.0, 1.0, (1.0, -2.0)),
        ([np.nan, 1.0, np.inf], 1.0, 1.0, (NAN, 1.0, np.inf)),
        ([np.nan, np.inf], None, None, (NAN, np.inf)),
        ([1, 2], 1, 2, (1, 2)),
        ([True, False], False, True, (True, False)),
        ([1 + 2j], None, None, (1 + 2j,)),
        ([], None, None, ()),
        (3.0, 3.0, 3.0, (3.0,)),
        (np.nan, None, None, (NAN,)),
    ],
)
def test_extremes_are_those_of_the_finite_numbers(data, low, high, items):
    array = np.array(data)
    value = value_from(array, str(array.dtype))
    assert value == Value(array.shape, str(array.dtype), items, low, high)
    assert [type(i) for i in value.items] == [type(i) for i in items]


def test_large_arrays_are_not_copied(monkeypatch):
    numbers = notes.Numbers()
    small, large = np.ones(notes.SMALL // 8), np.ones(notes.SMALL // 8 + 1)
    assert numbers.take(small) is not small and numbers.take(small).__class__ is np.ndarray
    value = numbers.take(large)
    assert value._replace(summary=None) == Value(large.shape, "float64", None, 1.0, 1.0)
    assert value.summary.rms == 1.0 and len(value.summary.sample) < len(large)
    numbers.room = 0
    assert numbers.take(small).__class__ is Value, "copies take no more memory than there is room for"
