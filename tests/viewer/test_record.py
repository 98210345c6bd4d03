"""The recorder: what it writes down of a cell, and that the cell does not notice."""

from __future__ import annotations

import json

import pytest
from cells import CELLS, CUBE, MY_POW, run, traced
from staged import build, scene_of

import minigrad
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.recording.states import States
from minigrad_viz.trace.events import (
    BackwardEnded,
    BackwardStarted,
    Forward,
    GradAccumulated,
    InPlaceWrite,
    NodeRan,
    Snapshot,
    Statement,
    TensorCreated,
    TensorDetached,
    Trace,
    tag_of,
)


def of(trace: Trace, kind: type) -> list:
    return [event for event in trace.events if isinstance(event, kind)]


def steps(trace: Trace) -> list:
    """All events but the statements."""
    return [event for event in trace.events if not isinstance(event, Statement)]


def names(trace: Trace) -> list[str | None]:
    return [card.name for _, card in build(trace).cards()]


def numbers(values) -> list[float | None]:
    return [None if v is None else pytest.approx(v.items[0], rel=1e-5) for v in values]


def grad(trace: Trace, name: str):
    return next(s.grad for n, s in of(trace, Snapshot)[-1].rows if n == name)


# ------------------------------------------------------------------------------- what is written down


@pytest.mark.quick
class TestEvents:
    def test_forward(self, library):
        created, power, log = steps(traced(CUBE, library))[:3]
        assert isinstance(created, TensorCreated) and created.name == "x"
        assert created.span.text == "torch.tensor(5.0, requires_grad=True)"
        assert (power.name, power.span.text, power.span.line) == ("y", "x ** 3", 2)
        assert (power.inputs, power.arguments) == ((created.tensor.id, None), (None, "3"))
        assert power.outputs[0].value.items == (125.0,)
        assert (log.name, log.inputs) == ("z", (power.outputs[0].id,))

    def test_backward(self, library):
        trace = traced(CELLS[4], library)
        started, ended = of(trace, BackwardStarted)[0], of(trace, BackwardEnded)[0]
        plain = [(n.name.rstrip("0123456789"), n.variable) for n in started.nodes]
        x = of(trace, TensorCreated)[0].tensor.id
        assert plain == [("LogBackward", None), ("PowBackward", None), ("AccumulateGrad", x)]
        ran = of(trace, NodeRan)
        assert [e.node for e in ran] == [n.id for n in started.nodes]
        assert [numbers(e.received) for e in ran] == [[1.0], [0.008], [0.6]]
        assert [numbers(e.sent) for e in ran] == [[0.008], [0.6], []]
        assert ended.freed == tuple(n.id for n in started.nodes[:2]) and ended.error is None

    def test_deposits_before_and_after(self, library):
        deposits = of(traced(CELLS[7], library), GradAccumulated)
        assert [numbers((e.before, e.added, e.after)) for e in deposits] == [
            [None, 0.6, 0.6],
            [0.6, 0.6, 1.2],
        ]

    def test_a_leaf_without_a_name(self, library):
        trace = traced("_ws = [torch.ones((), requires_grad=True)]\n(_ws[0] * 3).backward()\n", library)
        card = next(card for _, card in build(trace).cards())
        assert (card.name, card.grad.items, card.grad_kept) == (None, (3.0,), True)

    def test_a_deposit_after_zeroing(self, library):
        deposits = of(traced(CELLS[8], library), GradAccumulated)
        assert numbers((deposits[1].before, deposits[1].after)) == [0.0, 0.6]

    def test_several_calls_are_numbered(self, library):
        trace = traced(CELLS[7], library)
        assert [e.call for e in of(trace, BackwardStarted)] == [1, 2]
        assert [e.freed == () for e in of(trace, BackwardEnded)] == [True, False]
        assert {e.call for e in of(trace, NodeRan)} == {1, 2}

    def test_what_grad_returns_is_captured(self, library):
        trace = traced(CUBE + "gx, gy = torch.autograd.grad(z, (x, y))\n", library)
        started, ended = of(trace, BackwardStarted)[0], of(trace, BackwardEnded)[0]
        assert started.kind == "grad"
        assert [name for name, _ in ended.captured] == [
            of(trace, TensorCreated)[0].tensor.id,
            steps(trace)[1].outputs[0].id,
        ]
        assert numbers(v for _, v in ended.captured) == [0.6, 0.008]
        assert not of(trace, GradAccumulated)

    def test_snapshots_are_frozen(self, library):
        cell = "x = torch.ones(3, requires_grad=True)\ny = x * 2\ny.sum().backward()\n"
        trace = traced(cell + "with torch.no_grad():\n    x.fill_(7.0)\n    x.grad.fill_(9.0)\n", library)
        assert of(trace, TensorCreated)[0].tensor.value.items == (1.0, 1.0, 1.0)
        assert of(trace, GradAccumulated)[0].after.items == (2.0, 2.0, 2.0)
        after, end = of(trace, Snapshot)[-2:]
        assert (after.when, after.rows[0][1].value.items) == ("after", (1.0, 1.0, 1.0))
        assert (end.when, end.rows[0][1].value.items) == ("end", (7.0, 7.0, 7.0))
        x = next(card for _, card in build(trace).cards() if card.name == "x")
        assert x.value.items == (1.0, 1.0, 1.0), "the picture is that of the backward call"

    def test_hooks_that_change_gradients(self, library):
        trace = traced(CELLS[19], library)
        log, power, leaf = of(trace, NodeRan)
        assert numbers([log.sent[0], power.received[0], leaf.received[0]]) == [0.008, 0.016, 1.2]
        hooks = {n.name.rstrip("0123456789"): n.hooks for n in of(trace, BackwardStarted)[0].nodes}
        assert hooks == {"LogBackward": 0, "PowBackward": 1, "AccumulateGrad": 0}

    def test_hooks_of_a_leaf(self, library):
        trace = traced(CUBE + "x.register_hook(print)\nx.register_hook(print)\nz.backward()\n", library)
        assert [n.hooks for n in of(trace, BackwardStarted)[0].nodes] == [0, 0, 2]

    def test_hooks_of_a_node(self):
        cell = (
            CUBE + "z.grad_fn.register_hook(lambda *a: None)\nz.grad_fn.register_prehook(lambda *a: None)\n"
        )
        assert of(traced(cell + "z.backward()\n"), BackwardStarted)[0].nodes[0].hooks == 2

    def test_a_custom_function(self, library):
        trace = traced(CELLS[11], library)
        node = next(n for n in of(trace, BackwardStarted)[0].nodes if n.name == "MyPowBackward")
        assert [(s.name, s.value.items[0]) for s in node.saved] == [("saved[0]", 5.0), ("saved[1]", 3.0)]
        assert names(trace) == ["q", "x", "y", "z"], "neither ops in forward nor those in backward are steps"
        ran = next(e for e in of(trace, NodeRan) if e.node == node.id)
        assert numbers(ran.sent) == [0.6, 1.6094379]

    def test_detach(self, library):
        trace = traced(CELLS[14], library)
        event = of(trace, TensorDetached)[0]
        assert (event.name, event.span.text) == ("w", "y.detach()")
        assert event.source == steps(trace)[2].outputs[0].id
        assert not event.tensor.requires_grad

    def test_no_grad(self, library):
        trace = traced(CELLS[12], library)
        assert [e.grad_enabled for e in of(trace, Forward)] == [False, False]
        assert build(trace).note == ("no_graph_no_grad", {"names": "y, z"})

    def test_in_place(self, library):
        trace = traced("x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.add_(1)\nz = y.sum()\n", library)
        event = of(trace, InPlaceWrite)[0]
        assert event.before == of(trace, Forward)[0].outputs[0].id != event.tensor.id
        assert (event.tensor.value.items, event.tensor.version) == ((3.0, 3.0), 1)
        assert names(trace) == ["x", "y₁", "y₂", "z"]

    def test_writing_through_a_view(self, library):
        cell = (
            "x = torch.ones(2, requires_grad=True)\nb = x * 2\n"
            "v = b[0]\nv.mul_(3.0)\nz = b.sum()\nz.backward()\n"
        )
        trace = traced(cell, library)
        made = scene_of(trace)
        assert made.at[of(trace, Forward)[-1].inputs[0]][0].states[0].grad_fn == "CopySlices"
        assert grad(trace, "x").items == (6.0, 2.0)

    def test_a_loop(self, library):
        cell = "x = torch.tensor(1.0, requires_grad=True)\nfor _ in range(3):\n    x = x * 2\nx.backward()\n"
        assert names(traced(cell, library)) == ["x₀", "x₁", "x₂", "x₃"]

    def test_a_helper_function(self, library):
        cell = (
            "def f(a):\n    b = a * 2\n    return b + 1\n"
            "x = torch.ones((), requires_grad=True)\ny = f(x)\nw = y\n"
        )
        cards = [(card.name, card.expr) for _, card in build(traced(cell, library)).cards()]
        assert cards[1:] == [("b", "a * 2"), ("y", "b + 1")]

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

    def test_a_nested_backward_in_a_hook(self, library):
        cell = CUBE + (
            "def hook(g):\n    with torch.enable_grad():\n        a = torch.tensor(2.0, requires_grad=True)\n"
            "        (a * a).backward()\n    print(a.grad)\n"
            "y.register_hook(hook)\nz.backward()\n"
        )
        trace = traced(cell, library)
        assert len(of(trace, BackwardStarted)) == len(of(trace, BackwardEnded)) == 1
        assert names(trace) == ["x", "y", "z"] and len(of(trace, NodeRan)) == 3

    def test_gradcheck_is_no_list_of_steps(self, library):
        trace = traced(CELLS[20], library)
        assert [type(e) for e in steps(trace) if not isinstance(e, Forward)] == [TensorCreated, Snapshot]
        assert len(of(trace, Forward)) <= 2, "at most the one call that finds out what comes out"


class TestSecondOrder:
    def test_stations_and_numbers_in_minigrad(self):
        graph = build(traced(CELLS[18]))
        second = {s.cards[0].name or s.cards[0].expr: s for s in graph.stations if s.order == 2}
        assert list(second) == ["∂z/∂y", "x ** 2", "(x ** 2) * 3", "∂z/∂x", "x.grad"]
        assert [s.deck.name for s in second.values()] == [
            "DivBackward0", "PowBackward0", "MulBackward1", "MulBackward0", "CopyBackwards",
        ]  # fmt: skip
        flowed = [r.gradients[0].items[0] for r in graph.routes if r.gradients]
        expected = [-0.36, -0.0048, 0.24, 0.024, 75.0, 0.008, 1.0]
        assert sorted(flowed) == pytest.approx(sorted(expected), rel=1e-5)

    def test_stations_in_pytorch(self, torch):
        trace = traced(CELLS[18], torch)
        second = [s for s in build(trace).stations if s.order == 2]
        assert [s.cards[0].name or s.cards[0].expr for s in second] == [
            "∂z/∂y", "x ** 2.0", "(x ** 2.0) * 3.0", "∂z/∂x", "x.grad",
        ]  # fmt: skip
        assert [s.deck.name for s in second] == [
            "DivBackward0", "PowBackward0", "MulBackward1", "MulBackward0", "CopyBackwards",
        ]  # fmt: skip

    def test_the_second_derivative(self, library):
        ended = of(traced(CELLS[18], library), BackwardEnded)[1]
        assert numbers([ended.captured[0][1]]) == [-0.12]

    def test_the_gradient_is_a_row_of_its_own(self, library):
        for code in (17, 18):
            assert "x.grad" in [name for name, _ in of(traced(CELLS[code], library), Snapshot)[-1].rows]

    def test_the_later_edition(self, library):
        """∂c/∂x of c = a·b with a = 3x², b = 1/y over two paths: 30·0.008 − 0.36 = −0.12; it adds to
        x.grad."""
        cell = CUBE + (
            "a, = torch.autograd.grad(y, x, create_graph=True)\n"
            "b, = torch.autograd.grad(z, y, create_graph=True)\n"
            "c = a * b\nc.backward()\n"
        )
        trace = traced(cell, library)
        assert numbers([grad(trace, "x")]) == [-0.12]
        assert {"a", "b", "c"} <= set(names(trace))


@pytest.mark.quick
class TestErrors:
    @pytest.mark.parametrize(
        "code, error", [(6, "second time"), (12, "does not require grad"), (17, "does not require grad")]
    )
    def test_a_failing_call(self, library, code, error):
        trace = traced(CELLS[code], library)
        assert trace.error.startswith("RuntimeError: ") and error in trace.error
        assert of(trace, BackwardEnded)[-1].error == trace.error

    def test_a_failing_op(self, library):
        trace = traced(CUBE + "z.no_such_method()\n", library)
        assert trace.error.startswith("AttributeError: ") and names(trace) == ["x", "y", "z"]

    def test_a_failing_hook(self, library):
        trace = traced(CUBE + "def hook(g):\n    1 / 0\ny.register_hook(hook)\nz.backward()\n", library)
        assert trace.error == of(trace, BackwardEnded)[0].error == "ZeroDivisionError: division by zero"
        assert len(of(trace, NodeRan)) == 1

    def test_a_failing_custom_backward(self, library):
        cell = MY_POW.replace("base, exponent = ctx.saved_tensors", "raise KeyError('lost')")
        trace = traced(cell + CELLS[11].removeprefix(MY_POW), library)
        assert trace.error == "KeyError: 'lost'"

    def test_a_wrong_shape(self, library):
        trace = traced(
            "a = torch.ones(2, requires_grad=True)\nb = a * 2\nb.backward(torch.ones(3))\n", library
        )
        assert trace.error.startswith("RuntimeError: Mismatch in shape")

    def test_a_fault_of_the_recorder_is_no_error_of_the_cell(self, monkeypatch):
        monkeypatch.setattr(States, "state_of", lambda *args: 1 / 0)
        space = {"torch": minigrad, "__name__": "__main__"}
        recorder = Recorder(CELLS[4], space)
        recorder.start()
        exec(CELLS[4].replace("print", "str"), space)
        assert space["x"].grad.item() == pytest.approx(0.6)
        with pytest.raises(ZeroDivisionError):
            recorder.stop()


@pytest.mark.parametrize("code", CELLS)
def test_json_round_trip(library, code):
    trace = traced(CELLS[code], library)
    data = json.loads(trace.to_json())
    assert data["source"] == CELLS[code] and len(data["events"]) == len(trace.events)
    assert [e["event"] for e in data["events"]] == [tag_of(e) for e in trace.events]
    assert "0x" not in json.dumps(data), "no address"


def test_numbers_that_json_does_not_have():
    trace = traced("x = torch.tensor([0.0, 1.0], requires_grad=True)\nx.log().sum().backward()\n")
    data = json.loads(trace.to_json())
    log = next(e for e in data["events"] if e["event"] == "Forward")
    assert log["outputs"][0]["value"]["items"][0] == "-inf"


def test_a_write_through_a_view_takes_in_the_base(library):
    cell = (
        "x = torch.ones(2, requires_grad=True)\na = -x\nb = a.reshape(-1)\nb.sub_(2)\n"
        "s = b.sum()\ns.backward()\n"
    )
    trace = traced(cell, library)
    started, ran = of(trace, BackwardStarted)[0], of(trace, NodeRan)
    plain = [node.name.rstrip("0123456789").removesuffix("Backward") for node in started.nodes]
    assert plain == ["Sum", "AsStrided", "CopySlices", "Neg", "AccumulateGrad"]
    assert [event.node for event in ran] == [node.id for node in started.nodes]
    assert {"a₁", "a₂", "b₁", "b₂"} <= set(names(trace))
