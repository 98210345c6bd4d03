"""What a trace tells of the inside of a backward call: hooks, frees, custom Functions, calls inside calls."""

from __future__ import annotations

import pytest
from cells import CELLS, CUBE, traced

from minigrad_viz.model.trace_index import TraceIndex
from minigrad_viz.trace.events import (
    BackwardEnded,
    BackwardStarted,
    Forward,
    GradAccumulated,
    HookRan,
    InPlaceWrite,
    Inside,
    ModeChanged,
    NodeRan,
    Trace,
)

pytestmark = pytest.mark.quick


def of(trace: Trace, kind: type) -> list:
    return [event for event in trace.events if isinstance(event, kind)]


def items(values) -> list:
    return [None if v is None else pytest.approx(v.items[0], rel=1e-5) for v in values]


def test_a_hook_that_changes_a_gradient(library):
    trace = traced(
        CUBE + "def double(g):\n    return g * 2\ny.register_hook(double)\nz.backward()\n", library
    )
    hook = of(trace, HookRan)[0]
    power = next(n.id for n in of(trace, BackwardStarted)[0].nodes if n.name.startswith("Pow"))
    assert hook[:5] == (1, power, "tensor", "double", 0)
    assert (items(hook.before), items(hook.after)) == ([0.008], [0.016])
    order = [e.node for e in trace.events if isinstance(e, NodeRan | HookRan)]
    assert order[1:3] == [power, power], "the hook comes before its node"


def test_a_hook_that_only_looks(library):
    trace = traced(CUBE + "x.register_hook(print)\nz.backward()\n", library)
    (hook,) = of(trace, HookRan)
    assert (hook.kind, hook.name, hook.before) == ("tensor", "print", hook.after)
    assert items(hook.after) == [0.6]


def test_sums_are_no_hooks(library):
    """A gradient that arrives in parts is not what was sent; nor is one that was rounded."""
    cell = (
        "x = torch.tensor([0.1, 0.7], requires_grad=True)\ny = x * 3\nz = (y * y + y / 7 + y.exp()).sum()\n"
        "z.backward()\n"
    )
    assert not of(traced(cell, library), HookRan)


def test_all_kinds_of_hooks():
    cell = (
        CUBE + "def pre(gs):\n    return (gs[0] * 10,)\ndef post(ins, outs):\n    return (ins[0] * 10,)\n"
        "def late(leaf):\n    leaf.grad = leaf.grad * 10\n"
        "class Watch:\n    def __call__(self, g):\n        pass\n"
        "y.register_hook(Watch())\ny.grad_fn.register_prehook(pre)\ny.grad_fn.register_hook(post)\n"
        "x.register_post_accumulate_grad_hook(late)\nz.backward()\n"
    )
    hooks = of(traced(cell), HookRan)
    assert [(h.kind, h.name) for h in hooks] == [
        ("tensor", "Watch"), ("pre", "pre"), ("post", "post"), ("post_accumulate", "late"),
    ]  # fmt: skip
    assert [items((*h.before, *h.after)) for h in hooks] == [
        [0.008, 0.008], [0.008, 0.08], [6.0, 60.0], [60.0, 600.0],
    ]  # fmt: skip


def test_a_hook_after_the_deposit_in_pytorch(torch):
    cell = CUBE + "def late(leaf):\n    leaf.grad = leaf.grad * 10\n"
    trace = traced(cell + "x.register_post_accumulate_grad_hook(late)\nz.backward()\n", torch)
    (hook,), (deposit,) = of(trace, HookRan), of(trace, GradAccumulated)
    assert (hook.kind, hook.name, items(hook.before), items(hook.after)) == (
        "post_accumulate",
        "late",
        [0.6],
        [6.0],
    )
    assert items([deposit.after]) == [0.6]


def test_a_hook_that_writes_into_its_gradient():
    cell = "x = torch.ones(2, requires_grad=True)\ny = x * 2\nz = (y * y).sum()\n"
    cell += "y.register_hook(lambda g: [g.mul_(5), None][1])\nz.backward()\n"
    (hook,) = of(traced(cell), HookRan)
    assert (hook.name, items(hook.before), items(hook.after)) == ("<lambda>", [4.0], [20.0])


def test_a_failing_hook_has_not_ran(library):
    trace = traced(CUBE + "y.register_hook(lambda g: 1 / 0)\nz.backward()\n", library)
    assert not of(trace, HookRan) and len(of(trace, NodeRan)) == 1


def freed(trace):
    """What nodes let go of, by call."""
    calls = TraceIndex(trace).calls.values()
    return [(call.number, call.started.nodes, call.freed) for call in calls]


def test_freed(library):
    first, (call, nodes, gone) = freed(
        traced(CUBE + "z.backward(retain_graph=True)\nz.backward()\n", library)
    )
    names = {n.id: n.name.rstrip("0123456789") for n in nodes}
    told = [(names[id], saved) for id, saved in gone.items()]
    assert first[2] == {} and call == 2
    assert told == [("LogBackward", ["self"]), ("PowBackward", ["self"])]


def test_freed_up_to_an_error(library):
    ((_, _, gone),) = freed(traced(CUBE + "y.register_hook(lambda g: 1 / 0)\nz.backward()\n", library))
    assert len(gone) == 1
    again = freed(traced(CELLS[6], library))
    assert [bool(gone) for _, _, gone in again] == [True, False], "what is gone is not freed again"


def test_inside_a_custom_function(library):
    trace = traced(CELLS[11], library)
    started = of(trace, BackwardStarted)[0]
    node = next(n for n in started.nodes if n.name == "MyPowBackward")
    inside = of(trace, Inside)
    assert {e.node for e in inside} == {node.id} and {e.call for e in inside} == {1}
    assert [e.op.partition("_")[0] for e in inside] == [
        "mul",
        "sub",
        "pow",
        "mul",
        "pow",
        "mul",
        "log",
        "mul",
    ]
    texts = [e.span.text for e in inside]
    assert texts[:4] == [
        "g * exponent",
        "exponent - 1",
        "base ** (exponent - 1)",
        "g * exponent * base ** (exponent - 1)",
    ]
    assert items([inside[0].output]) == [0.024] and inside[1].inputs[1] == "1"
    assert node.code.text.startswith("def backward(ctx, g):") and node.code.line == 9
    order = [e for e in trace.events if isinstance(e, Inside | NodeRan)]
    assert [type(e).__name__ for e in order].index("Inside") == 1, (
        "before the node has run, after that of log"
    )


def test_other_nodes_have_no_inside(library):
    assert not of(traced(CELLS[18], library), Inside)
    assert not of(traced(CUBE + "y.register_hook(lambda g: g * 2 + 1)\nz.backward()\n", library), Inside)


def test_nested_calls_are_no_calls_of_their_own(library):
    cell = CUBE + (
        "def hook(g):\n    with torch.enable_grad():\n        a = torch.tensor(2.0, requires_grad=True)\n"
        "        (a * a).backward()\n        a.grad = None\n        torch.autograd.grad(a * 3, a)\n"
        "y.register_hook(hook)\nz.backward(retain_graph=True)\nz.backward()\n"
    )
    trace = traced(cell, library)
    assert [e.call for e in of(trace, BackwardEnded)] == [1, 2]
    assert [e.call for e in of(trace, NodeRan)] == [1, 1, 1, 2, 2, 2]
    assert not of(trace, ModeChanged)


def test_a_nested_call_that_fails(library):
    cell = CUBE + (
        "def hook(g):\n    try:\n        torch.tensor(1.0).backward()\n"
        "    except RuntimeError:\n        pass\n"
        "y.register_hook(hook)\nz.backward(retain_graph=True)\nz.backward()\nw = x * 2\n"
    )
    trace = traced(cell, library)
    assert [(e.error, e.call) for e in of(trace, BackwardEnded)] == [(None, 1), (None, 2)]
    assert len(of(trace, NodeRan)) == 6 and of(trace, Forward)[-1].name == "w"


def test_versions_of_a_tensor_that_is_written_to(library):
    cell = "x = torch.zeros(2)\nx.add_(1)\nx.mul_(3)\ny = torch.ones(2, requires_grad=True) * 2\ny.add_(1)\n"
    told = [(e.version, e.tensor.version) for e in of(traced(cell, library), InPlaceWrite)]
    assert told == [(0, 1), (1, 2), (0, 1)]


def test_ages_of_nodes(library):
    started = of(traced(CELLS[9], library), BackwardStarted)[0]
    ranks = {n.name.rstrip("0123456789"): n.sequence for n in started.nodes}
    assert ranks["AccumulateGrad"] == max(ranks.values())
    assert ranks["AddBackward"] > ranks["SqrtBackward"] > ranks["LogBackward"]
    assert sorted(n.sequence for n in started.nodes) == list(range(len(started.nodes)))
