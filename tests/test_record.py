"""The recorder: what it writes down of a cell, and that the cell does not notice."""

from __future__ import annotations

import gc
import json
import math
import random
import sys
import weakref

import pytest
from cells import CELLS, CUBE, MY_POW, Run, run, traced

import minigrad
from minigrad import modes
from minigrad_viz.build import Builder, build
from minigrad_viz.events import (
    BackwardEnded,
    BackwardStarted,
    Created,
    Deposited,
    Detached,
    Forward,
    Mutated,
    NodeRan,
    Snapshot,
    Trace,
)
from minigrad_viz.recorder import Recorder


def of(trace: Trace, kind: type) -> list:
    return [event for event in trace.events if isinstance(event, kind)]


def names(trace: Trace) -> list[str | None]:
    return [card.name for _, card in build(trace).cards()]


def numbers(values) -> list[float | None]:
    return [None if v is None else pytest.approx(v.items[0], rel=1e-5) for v in values]


def grad(trace: Trace, name: str):
    return next(s.grad for n, s in of(trace, Snapshot)[-1].rows if n == name)


@pytest.fixture(params=["minigrad", "PyTorch"])
def library(request):
    return minigrad if request.param == "minigrad" else request.getfixturevalue("torch")


# ------------------------------------------------------------------------------- what is written down


class TestEvents:
    def test_forward(self, library):
        created, power, log = traced(CUBE, library).events[:3]
        assert isinstance(created, Created) and created.name == "x"
        assert created.span.text == "torch.tensor(5.0, requires_grad=True)"
        assert (power.name, power.span.text, power.span.line) == ("y", "x ** 3", 2)
        assert (power.inputs, power.arguments) == ((created.tensor.id, None), (None, "3"))
        assert power.outputs[0].value.items == (125.0,)
        assert (log.name, log.inputs) == ("z", (power.outputs[0].id,))

    def test_backward(self, library):
        trace = traced(CELLS[4], library)
        started, ended = of(trace, BackwardStarted)[0], of(trace, BackwardEnded)[0]
        plain = [(n.name.rstrip("0123456789"), n.variable) for n in started.nodes]
        x = of(trace, Created)[0].tensor.id
        assert plain == [("LogBackward", None), ("PowBackward", None), ("AccumulateGrad", x)]
        ran = of(trace, NodeRan)
        assert [e.node for e in ran] == [n.id for n in started.nodes]
        assert [numbers(e.received) for e in ran] == [[1.0], [0.008], [0.6]]
        assert [numbers(e.sent) for e in ran] == [[0.008], [0.6], []]
        assert ended.freed == tuple(n.id for n in started.nodes[:2]) and ended.error is None

    def test_deposits_before_and_after(self, library):
        deposits = of(traced(CELLS[7], library), Deposited)
        assert [numbers((e.before, e.added, e.after)) for e in deposits] == [
            [None, 0.6, 0.6],
            [0.6, 0.6, 1.2],
        ]

    def test_a_deposit_after_zeroing(self, library):
        deposits = of(traced(CELLS[8], library), Deposited)
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
            of(trace, Created)[0].tensor.id,
            trace.events[1].outputs[0].id,
        ]
        assert numbers(v for _, v in ended.captured) == [0.6, 0.008]
        assert not of(trace, Deposited)

    def test_snapshots_are_frozen(self, library):
        cell = "x = torch.ones(3, requires_grad=True)\ny = x * 2\ny.sum().backward()\n"
        trace = traced(cell + "with torch.no_grad():\n    x.fill_(7.0)\n    x.grad.fill_(9.0)\n", library)
        assert of(trace, Created)[0].tensor.value.items == (1.0, 1.0, 1.0)
        assert of(trace, Deposited)[0].after.items == (2.0, 2.0, 2.0)
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
        event = of(trace, Detached)[0]
        assert (event.name, event.span.text) == ("w", "y.detach()")
        assert event.source == trace.events[2].outputs[0].id
        assert not event.tensor.requires_grad

    def test_no_grad(self, library):
        trace = traced(CELLS[12], library)
        assert [e.grad_enabled for e in of(trace, Forward)] == [False, False]
        assert build(trace).note == ("no_graph_no_grad", {"names": "y, z"})

    def test_in_place(self, library):
        trace = traced("x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.add_(1)\nz = y.sum()\n", library)
        event = of(trace, Mutated)[0]
        assert event.before == of(trace, Forward)[0].outputs[0].id != event.tensor.id
        assert (event.tensor.value.items, event.tensor.version) == ((3.0, 3.0), 1)
        assert names(trace) == ["x", "y₁", "y₂", "z"]

    def test_writing_through_a_view(self, library):
        cell = "x = torch.ones(2, requires_grad=True)\nb = x * 2\nv = b[0]\nv.mul_(3.0)\nz = b.sum()\nz.backward()\n"
        trace = traced(cell, library)
        made = Builder(trace)
        assert made.at[of(trace, Forward)[-1].inputs[0]][0].states[0].grad_fn == "CopySlices"
        assert grad(trace, "x").items == (6.0, 2.0)

    def test_a_loop(self, library):
        cell = "x = torch.tensor(1.0, requires_grad=True)\nfor _ in range(3):\n    x = x * 2\nx.backward()\n"
        assert names(traced(cell, library)) == ["x₁", "x₂", "x₃", "x₄"]

    def test_a_helper_function(self, library):
        cell = "def f(a):\n    b = a * 2\n    return b + 1\nx = torch.ones((), requires_grad=True)\ny = f(x)\nw = y\n"
        cards = [(card.name, card.expr) for _, card in build(traced(cell, library)).cards()]
        assert cards[1:] == [("b", "a * 2"), ("y", "b + 1")]

    def test_tensors_from_earlier_cells(self, library):
        first = run(CUBE, library, watched=False)
        trace = traced("w = z * 2\nw.backward()\n", library, first.names)
        assert names(trace) == ["x", "y", "z", "w"]
        assert [e.span is None for e in of(trace, Created)] == [True, True, True]
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
        assert [type(e) for e in trace.events if not isinstance(e, Forward)] == [Created, Snapshot]
        assert len(of(trace, Forward)) <= 2, "at most the one call that finds out what comes out"


class TestSecondOrder:
    def test_stations_and_numbers_in_minigrad(self):
        graph = build(traced(CELLS[18]))
        second = {s.cards[0].name or s.cards[0].expr: s for s in graph.stations if s.order == 2}
        assert list(second) == ["∂z/∂y", "x ** 2", "(x ** 2) * 3", "∂z/∂x", "x.grad"]
        assert [s.deck.name for s in second.values()] == [
            "DivBackward0", "PowBackward0", "MulBackward1", "MulBackward0", "CloneBackward",
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
            "a, = torch.autograd.grad(y, x, create_graph=True)\nb, = torch.autograd.grad(z, y, create_graph=True)\n"
            "c = a * b\nc.backward()\n"
        )
        trace = traced(cell, library)
        assert numbers([grad(trace, "x")]) == [-0.12]
        assert {"a", "b", "c"} <= set(names(trace))


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
        monkeypatch.setattr(Recorder, "state_of", lambda *args: 1 / 0)
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
    data = json.loads(json.dumps(trace.to_json(), allow_nan=False))
    assert data["source"] == CELLS[code] and len(data["events"]) == len(trace.events)
    assert [e["event"] for e in data["events"]] == [type(e).__name__ for e in trace.events]
    assert "0x" not in json.dumps(data), "no address"


def test_numbers_that_json_does_not_have():
    trace = traced("x = torch.tensor([0.0, 1.0], requires_grad=True)\nx.log().sum().backward()\n")
    assert (
        json.loads(json.dumps(trace.to_json(), allow_nan=False))["events"][1]["outputs"][0]["value"]["items"][
            0
        ]
        == "-inf"
    )


# --------------------------------------------------------------------------------- nothing is changed


def state(cell: Run) -> dict[str, object]:
    """Every tensor of a cell: its numbers and gradient to the bit, its attributes."""
    told = {}
    for name, t in cell.names.items():
        if hasattr(t, "grad_fn"):
            kept = t.grad if t.is_leaf or t.retains_grad else None
            told[name] = (
                t.detach().tolist(), None if kept is None else kept.detach().tolist(), t.requires_grad, t.is_leaf,
                t._version, None if t.grad_fn is None else t.grad_fn.name(),
            )  # fmt: skip
    return told


@pytest.mark.parametrize("code", CELLS)
def test_the_cell_does_not_notice(library, code):
    with_, without = run(CELLS[code], library), run(CELLS[code], library, watched=False)
    assert with_.told == without.told
    assert repr(state(with_)) == repr(state(without))


def program(seed: int) -> str:
    """A small random program: leaves, constants, shared and reused tensors, views, in-place ops, several
    calls."""
    choose = random.Random(seed)
    lines = [
        f"v{i} = torch.tensor({[choose.uniform(0.5, 2) for _ in range(3)]}, requires_grad={i < 2})"
        for i in range(3)
    ]
    unary = (
        "torch.exp({} * 0.1)",
        "torch.log({} * {} + 1)",
        "{}.reshape(3, 1).sum(1)",
        "{} ** 2",
        "-{}",
        "{}.clone()",
    )
    binary = ("{} * {}", "{} + {}", "{} / ({} * {} + 1)", "torch.where({} > 1, {}, {})")
    for i in range(3, choose.randint(6, 14)):
        text = choose.choice(unary + binary)
        lines.append(f"v{i} = " + text.format(*(f"v{choose.randrange(i)}" for _ in range(text.count("{}")))))
        if choose.random() < 0.15:
            lines.append(f"v{i} = v{i} * 1\nv{i}.mul_(1.5)")
        if choose.random() < 0.15:
            lines.append(f"v{i}.requires_grad and v{i}.retain_grad()")
        if choose.random() < 0.1:
            lines.append(f"v{i} = v{i}.detach()")
    last = len([line for line in lines if line.startswith("v")]) and f"v{i}"
    lines.append(f"out = ({last} * v0).sum()\nprint(out)")
    lines.append(choose.choice(("out.backward()", "out.backward(retain_graph=True)\nout.backward()", "print(torch.autograd.grad(out, v0))",
                                "out.backward(create_graph=True)\nv0.grad.sum().backward()")))  # fmt: skip
    if choose.random() < 0.3:
        lines.append("out.backward()")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_do_not_notice(library, seed):
    cell = program(seed)
    with_, without = run(cell, library), run(cell, library, watched=False)
    assert with_.told == without.told, cell
    assert repr(state(with_)) == repr(state(without)), cell


@pytest.mark.parametrize("seed", range(40))
def test_every_number_shown_is_the_engines(library, seed):
    """Cards against the tensors themselves; what flowed into a node against what its users sent."""
    cell = run(program(seed), library)
    graph = build(cell.trace)
    check_numbers(cell, graph)
    sent: dict[tuple[str, int], list] = {}
    for route in graph.routes:
        for value in route.gradients:
            sent.setdefault((route.source, route.card), []).append(value)
    for station in graph.stations:
        for i, card in enumerate(station.cards):
            flows = sent.get((station.id, i))
            order = {s.order for s in graph.stations}
            if (
                flows
                and card.grad is not None
                and not card.grad_kept
                and order == {1}
                and card.role != "root"
            ):
                total = [math.fsum(column) for column in zip(*(v.items for v in flows))]
                assert list(card.grad.items) == pytest.approx(total, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("code", CELLS)
def test_every_number_of_the_documented_cells_is_the_engines(library, code):
    cell = run(CELLS[code], library)
    check_numbers(cell, build(cell.trace))


def check_numbers(cell: Run, graph) -> None:
    shown = {card.name: card for _, card in graph.cards() if card.name}
    for name, t in cell.names.items():
        if hasattr(t, "grad_fn") and name in shown:
            card = shown[name]
            assert repr(card.value.items) == repr(tuple(t.detach().reshape(-1).tolist()))
            kept = t.grad if t.is_leaf or t.retains_grad else None
            if kept is not None:
                assert repr(card.grad.items) == repr(tuple(kept.detach().reshape(-1).tolist()))
            assert (card.requires_grad, card.is_leaf) == (t.requires_grad, t.is_leaf)


@pytest.mark.parametrize("code", [4, 7, 9, 10, 11, 13, 16, 18, 19])
def test_nodes_run_in_the_engines_order(library, code):
    """The recorder's order against a list that hooks of the test itself keep."""
    log: list[str] = []
    spy = (
        "def spy(root):\n    seen, stack = set(), [root.grad_fn]\n    while stack:\n        n = stack.pop()\n"
        "        if n is None or n in seen:\n            continue\n        seen.add(n)\n"
        "        n.register_hook(lambda *a, n=n: log.append(n.name()))\n"
        "        stack += [m for m, _ in n.next_functions]\n    return True\n"
    )
    source = CELLS[code].replace("z.backward", "spy(z) and z.backward", 1)
    cell = run(spy + source, library, names={"log": log})
    named = {n.id: n.name for e in of(cell.trace, BackwardStarted) for n in e.nodes}
    first = [named[e.node] for e in of(cell.trace, NodeRan) if e.call == 1]
    assert [name.rpartition("::")[2] for name in log][: len(first)] == first


# ----------------------------------------------------------------------------- nothing is left behind


def test_nothing_is_kept_alive():
    """minigrad frees a graph without the cycle collector, also one that was recorded."""
    gc.collect()
    gc.disable()
    try:
        cell = run(CELLS[9])
        alive = [weakref.ref(cell.names[name]) for name in "xywz"]
        trace = cell.trace
        cell.names.clear()
        assert [ref() for ref in alive] == [None] * 4
        assert trace is not None and build(trace).tracked
    finally:
        gc.enable()


def test_a_tensor_dies_while_the_cell_still_records():
    cell = "import gc, weakref\ngc.disable()\na = torch.ones(3, requires_grad=True)\nb = a * 2\nr = weakref.ref(b)\n"
    cell += "b.sum().backward()\ndel b\nprint(r())\ngc.enable()\n"
    assert run(cell).printed == "None\n"


def test_nothing_is_kept_alive_by_pytorch(torch):
    cell = run(CELLS[9], torch)
    alive = [weakref.ref(cell.names[name]) for name in "xywz"]
    cell.names.clear()
    gc.collect()
    assert [ref() for ref in alive] == [None] * 4


@pytest.mark.parametrize("code", [4, 6, 12, 18, 21])
def test_no_hook_and_no_observer_is_left(library, code):
    before = modes.snapshot(), list(sys.meta_path)
    cell = run(CELLS[code], library)
    assert (modes.snapshot(), list(sys.meta_path)) == before
    if library is minigrad:
        for t in cell.names.values():
            extra = getattr(getattr(t, "grad_fn", None), "_extra", None)
            assert extra is None or not (extra.pre or extra.post or extra.tensor_hooks)
    else:
        import torch as library_

        assert type(library_.autograd.Variable._execution_engine).__name__ == "_EngineBase"
        assert library_.overrides._get_current_function_mode_stack() == []
