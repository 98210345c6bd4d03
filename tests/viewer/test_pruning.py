"""Cells with many backward calls: the newest are kept in full, the others counted; memory stays bounded."""

from __future__ import annotations

import pytest
from cells import run, traced
from staged import build

import minigrad
from minigrad_viz.recording.long_loops import KEPT_CALLS
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.trace.events import (
    BackwardEnded,
    BackwardStarted,
    Forward,
    NodeRan,
    Snapshot,
    Statement,
    TensorCreated,
    Trace,
)

LOOP = (
    "w = torch.tensor([1.0, 2.0], requires_grad=True)\nx = torch.tensor([3.0, 4.0])\n"
    "for i in range({n}):\n    loss = ((w * x) ** 2).sum()\n    loss.backward()\n"
    "    with torch.no_grad():\n        w -= 0.001 * w.grad\n        w.grad = None\n"
)


def of(trace: Trace, kind: type) -> list:
    return [event for event in trace.events if isinstance(event, kind)]


def mentioned(trace: Trace) -> set[str]:
    """All tensors that events refer to."""
    found = {id for e in of(trace, Forward) for id in e.inputs if id is not None}
    found |= {id for e in of(trace, BackwardStarted) for id in e.roots}
    found |= {n.variable for e in of(trace, BackwardStarted) for n in e.nodes if n.variable is not None}
    return (
        found | {state.id for e in of(trace, Snapshot) for _, state in e.rows} | {id for id, _ in trace.names}
    )


def known(trace: Trace) -> set[str]:
    """All tensors that events bring in."""
    found = {state.id for e in of(trace, Forward) for state in e.outputs}
    return found | {
        e.tensor.id for e in trace.events if hasattr(e, "tensor") and not isinstance(e.tensor, str)
    }


@pytest.mark.quick
@pytest.mark.parametrize("n", [1, KEPT_CALLS, KEPT_CALLS + 1, 2 * KEPT_CALLS + 5, 100])
def test_the_newest_calls_are_kept(library, n):
    cell = run(LOOP.format(n=n), library)
    trace = cell.trace
    kept = min(n, KEPT_CALLS)
    assert trace.skipped == n - kept
    assert [e.call for e in of(trace, BackwardStarted)] == list(range(n - kept + 1, n + 1))
    assert [e.call for e in of(trace, BackwardEnded)] == list(range(n - kept + 1, n + 1))
    assert {e.call for e in of(trace, NodeRan)} == set(range(n - kept + 1, n + 1))
    assert mentioned(trace) <= known(trace)
    assert {name for _, name in trace.names} == {"w", "x", "loss"}
    assert of(trace, Snapshot)[-1].rows[0][1].value.items == tuple(cell.names["w"].tolist())


def test_what_is_kept_is_as_it_would_be_alone():
    """The last calls of a long loop and of a short one from the same numbers have the same events."""
    long = run(LOOP.format(n=60))
    short = run(LOOP.format(n=40))
    rest = "for i in range(20):" + LOOP.format(n=20).partition("for i in range(20):")[2]
    names = {key: short.names[key] for key in ("w", "x")}
    alone = traced(rest, names=names)

    def numbers(trace: Trace) -> list:
        return [[v and v.items for v in e.received] for e in of(trace, NodeRan)]

    assert numbers(long.trace) == numbers(alone)
    kept = [e for e in of(long.trace, Forward) if e.grad_enabled]
    assert len(kept) == 3 * KEPT_CALLS, "the ops of the calls that are left out are left out as well"


def test_the_picture_of_a_long_loop(library):
    graph = build(traced(LOOP.format(n=50), library))
    assert {"w", "x"} <= {card.name for _, card in graph.cards()}
    assert graph.tracked


def test_what_later_calls_use_is_kept(library):
    cell = (
        "a = torch.tensor(2.0, requires_grad=True)\nb = a * 3\nfirst = b * 1\nh = b\n"
        "for i in range(50):\n    old = h * 1\n    h = b * i\n    loss = h * 2\n"
        "    loss.backward(retain_graph=True)\n    if i == 4:\n        fifth = loss\n"
    )
    trace = traced(cell, library)
    assert trace.skipped == 30
    names = {name: id for id, name in trace.names}
    assert {"a", "b", "first", "fifth", "loss"} <= set(names)
    assert mentioned(trace) <= known(trace)
    made = {e.outputs[0].id: e for e in of(trace, Forward)}
    assert made[names["fifth"]].inputs[0] in made, "and what it was made of"
    last = of(trace, BackwardStarted)[-1]
    assert len(last.nodes) == 4 and {n.id for n in trace.nodes} >= {made[names["fifth"]].outputs[0].node}


def test_a_state_that_is_carried_on(library):
    """A recurrent net: the last call goes through all that came before."""
    cell = (
        "w = torch.tensor(0.9, requires_grad=True)\nh = torch.tensor(1.0)\n"
        "for i in range(45):\n    h = h * w\n    h.backward(retain_graph=True)\n"
    )
    trace = traced(cell, library)
    last = of(trace, BackwardStarted)[-1]
    assert (trace.skipped, len(last.nodes)) == (25, 46)
    assert len([e for e in of(trace, Forward) if e.op == "mul"]) == 45
    assert len(of(trace, Statement)) >= 3 + 2 * 45 - 25


def test_second_order_calls(library):
    cell = (
        "x = torch.tensor(2.0, requires_grad=True)\nfor i in range(30):\n    y = x ** 3\n"
        "    g, = torch.autograd.grad(y, x, create_graph=True)\n    torch.autograd.grad(g, x)\n"
    )
    trace = traced(cell, library)
    assert trace.skipped == 40 and mentioned(trace) <= known(trace)
    assert [e.captured[0][1].items[0] for e in of(trace, BackwardEnded)] == [12.0] * KEPT_CALLS


def size(recorder: Recorder) -> int:
    """How many notes and ids a recorder holds."""
    ids = recorder.tape.ids
    return (
        len(recorder.tape.notes)
        + len(ids.outputs)
        + len(ids.objects)
        + len(ids._numbers)
        + len(recorder.states.frozen)
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("n", [200, 600])
def test_memory_is_bounded(library, n):
    """After any number of rounds there is as much as after two times as many as are kept."""
    space = {"torch": library, "__name__": "__main__", "sizes": []}
    cell = LOOP.format(n=n) + "    sizes.append(size())\n"
    recorder = Recorder(cell, space)
    space["size"] = lambda: size(recorder)
    recorder.start()
    exec(compile(cell, "<cell>", "exec"), space)
    recorder.stop()
    sizes = space["sizes"]
    assert max(sizes[100:]) <= 1.3 * max(sizes[: 2 * KEPT_CALLS])


def test_copies_make_room_again():
    space = {"torch": minigrad, "__name__": "__main__"}
    cell = LOOP.replace("[1.0, 2.0]", "[1.0] * 100").replace("[3.0, 4.0]", "[1.0] * 100").format(n=100)
    recorder = Recorder(cell, space)
    recorder.start()
    exec(compile(cell, "<cell>", "exec"), space)
    assert recorder.tape.numbers.room > 2**25 - 2**20
    assert recorder.stop().skipped == 80


def test_a_tensor_that_comes_back_after_it_was_left_out():
    """It is taken in again, as one that nobody saw being made."""
    cell = (
        "kept = []\nw = torch.tensor(2.0, requires_grad=True)\nfor i in range(100):\n    y = w * i\n"
        "    kept.append(y)\n    (y * 2).backward(retain_graph=True)\nz = kept[0] * kept[99]\nz.backward()\n"
    )
    trace = traced(cell)
    assert trace.error is None and mentioned(trace) <= known(trace)
    again = [e for e in of(trace, TensorCreated) if e.span is None]
    assert len(again) == 1 and again[0].tensor.grad_fn == "MulBackward0"
    assert len(of(trace, BackwardStarted)[-1].nodes) == 4
