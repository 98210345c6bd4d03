"""Details of a node beside its values: the source of a custom Function, the arguments of an op, the digit in
a node's name, and which tensors are leaves."""

from __future__ import annotations

import importlib
import linecache

import pytest
from cells import CUBE, POWER, traced
from staged import build
from twins import dialect

import minigrad
from minigrad_viz.drawing.details import describe, describe_deck
from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.model.node_details import code_of, kinds_of
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.trace.events import Forward, NodeState
from minigrad_viz.trace.source_positions import Span

LATER = """
class MyPow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input_1, input_2):
        ctx.save_for_backward(input_1, input_2)
        return input_1**input_2

    @staticmethod
    def backward(ctx, grad_output):
        input_1, input_2 = ctx.saved_tensors

        grad_input_1 = grad_output * input_2 * input_1 ** (input_2 - 1)
        return grad_input_1, grad_output * input_1**input_2 * torch.log(input_1)
"""
CODE_11 = LATER + POWER + "y = MyPow.apply(x, q)\nz = torch.log(y)\nz.backward()\n"


def decks(cell, library=minigrad):
    """The lower decks of a cell by variable."""
    graph = build(traced(cell, library) if isinstance(cell, str) else cell)
    return {s.cards[0].name: s.deck for s in graph.stations if s.deck is not None}


def test_source_of_forward_and_backward(library):
    forward, backward = decks(CODE_11, library)["y"].code
    assert (forward.name, forward.line, backward.name, backward.line) == (
        "MyPow.forward",
        4,
        "MyPow.backward",
        9,
    )
    assert forward.text.split("\n") == [
        "def forward(ctx, input_1, input_2):",
        "    ctx.save_for_backward(input_1, input_2)",
        "    return input_1**input_2",
    ]
    lines = CODE_11.split("\n")
    for code in (forward, backward):
        for i, line in enumerate(code.text.split("\n")):
            assert lines[code.line - 1 + i].strip() == line.strip()


def test_tooltip_and_outline(library):
    graph = build(traced(CODE_11, library))
    deck = next(s.deck for s in graph.stations if s.cards[0].name == "y")
    node, forward, backward = describe_deck(deck, "en").split("\n\n")
    assert node.split("\n")[0] == "MyPowBackward"
    assert forward.split("\n") == [
        "MyPow.forward, line 4:",
        "4  def forward(ctx, input_1, input_2):",
        "5      ctx.save_for_backward(input_1, input_2)",
        "6      return input_1**input_2",
    ]
    assert backward.split("\n")[1:4] == [
        " 9  def backward(ctx, grad_output):",
        "10      input_1, input_2 = ctx.saved_tensors",
        "11",
    ]
    assert "MyPow.forward: line 4   MyPow.backward: line 9" in outline(graph, "en")
    assert "MyPow.forward: 4행   MyPow.backward: 9행" in outline(graph, "ko")
    svg = Picture(graph, lang="en").svg()
    assert "9  def backward(ctx, grad_output):\n10      input_1, input_2" in svg


def test_its_result_has_a_value_and_an_expression(library):
    """Also where a variable of an earlier cell calls it, and one Function calls another."""
    names = {"torch": library}
    exec(LATER + "power = MyPow.apply\n", names)
    cell = POWER + "class Twice(torch.autograd.Function):\n    @staticmethod\n"
    cell += "    def forward(ctx, a):\n        return power(a, torch.tensor(1.0)) * 2\n"
    cell += "    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n"
    recorder = Recorder(cell + "z = Twice.apply(power(x, q)) + 1\nz.backward()\n", names)
    recorder.start()
    exec(recorder.source, names)
    trace = recorder.stop()
    ops = [event for event in trace.events if isinstance(event, Forward)]
    assert [event.op for event in ops] == ["MyPow", "Twice", "add"]
    assert [event.outputs[0].value.items for event in ops] == [(125.0,), (250.0,), (251.0,)]
    assert [event.span.text for event in ops[:2]] == ["power(x, q)", "Twice.apply(power(x, q))"]


def test_pytorch_has_its_own_apply_again():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    level = torch.autograd.function._SingleLevelFunction
    outer, inner = Recorder("", {}), Recorder("", {})
    outer.start()
    inner.start()
    outer.stop()
    assert "apply" in vars(level)
    inner.stop()
    assert "apply" not in vars(level)


def test_a_function_from_another_cell(library):
    """Its text is known as long as Python can show it in a traceback; it has no lines in this cell."""
    linecache.cache["<cell 1>"] = (len(LATER), None, LATER.splitlines(True), "<cell 1>")
    try:
        names = {"torch": library}
        exec(compile(LATER, "<cell 1>", "exec"), names)
        cell = POWER + "y = MyPow.apply(x, q)\ny.backward()\n"
        trace = traced(cell, library, {"MyPow": names["MyPow"]})
        deck = decks(trace)["y"]
    finally:
        del linecache.cache["<cell 1>"]
    assert [(code.name, code.line) for code in deck.code] == [("MyPow.forward", 0), ("MyPow.backward", 0)]
    told = describe_deck(deck, "en").split("\n\n")
    assert len(told) == 3, "an empty line of the source does not end it"
    assert told[2].startswith("MyPow.backward:\ndef backward(ctx, grad_output):\n    input_1, input_2")
    assert "MyPow.backward: defined outside this cell" in outline(build(trace), "en")


def test_a_function_from_a_file(library, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(f"import {library.__name__} as torch\n{LATER}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "mine", raising=False)
    mine = importlib.import_module("mine")
    graph = build(traced(POWER + "y = mine.MyPow.apply(x, q)\ny.backward()\n", library, {"mine": mine}))
    assert "MyPow.forward: defined outside this cell   MyPow.backward: defined outside this cell" in outline(
        graph, "en"
    )


def test_a_function_whose_text_is_lost(library):
    names = {"torch": library}
    exec(compile(LATER, "<gone>", "exec"), names)
    cell = POWER + "y = MyPow.apply(x, q)\ny.backward()\n"
    assert decks(traced(cell, library, {"MyPow": names["MyPow"]}))["y"].code == ()


def test_text_is_dedented_and_limited():
    span = Span(3, 4, 6, 0, "def f():\n        a = 1\n\n        return a", 0)
    node = NodeState(
        "n0",
        "FBackward",
        (),
        (),
        None,
        0,
        code=span,
        methods=(("forward", span._replace()),) if False else (),
    )
    (code,) = code_of(node)
    assert code.text == "def f():\n    a = 1\n\n    return a"


def test_a_long_method_is_cut_in_the_tooltip():
    body = "".join(f"        a = g * {i}\n" for i in range(60))
    cell = "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    cell += f"        return x * 1\n    @staticmethod\n    def backward(ctx, g):\n{body}        return a\n"
    cell += "x = torch.tensor(1.0, requires_grad=True)\ny = F.apply(x)\ny.backward()\n"
    told = describe_deck(decks(cell)["y"], "en").split("\n\n")[-1].split("\n")
    assert len(told) == 42 and told[-1] == "… 22 more lines"


# ── with what an op was called, and the digit ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "expression, called",
    [
        ("x ** 3", "tensor ** number"),
        ("x ** x", "tensor ** tensor"),
        ("2 ** x", "number ** tensor"),
        ("x * x", "tensor * tensor"),
        ("x * 3", "tensor * number"),
        ("x + 1.5", "tensor + number"),
        ("x - x", "tensor - tensor"),
        ("1 - x", "number - tensor"),
        ("x / 2", "tensor / number"),
    ],
)
def test_with_what_an_op_was_called(library, expression, called):
    cell = f"x = torch.tensor(5.0, requires_grad=True)\ny = {expression}\ny.backward()\n"
    assert f"called as: {called}" in describe_deck(decks(cell, library)["y"], "en").split("\n")


def test_names_without_a_digit_say_nothing_of_one():
    with dialect("1.4"):
        told = describe_deck(decks(CUBE + "z.backward()\n")["z"], "en")
    assert told.startswith("LogBackward\n") and "counts" not in told


@pytest.mark.parametrize(
    "expression", ["x.sum(0, keepdim=True)", "torch.cat([x, x])", "x.reshape(1, -1)", "x[0]"]
)
def test_other_arguments_are_not_called_numbers(library, expression):
    """What is neither a tensor nor a number for certain is not told of."""
    cell = f"x = torch.tensor([5.0, 6.0], requires_grad=True)\ny = {expression}\ny.sum().backward()\n"
    kinds = decks(cell, library)["y"].kinds
    assert set(kinds) <= {"tensor", "number"} and "" not in kinds


def test_no_kinds_without_the_op():
    assert kinds_of(NodeState("n0", "MulBackward0", (), (), None, 0), None) == ()


# ── leaf by convention ──────────────────────────────────────────────────────────────────────────────────────


def test_constants_and_results_under_no_grad_are_leaves_too(library):
    cell = CUBE + "c = torch.tensor(2.0)\nwith torch.no_grad():\n    n = x * 2\nw = y * c * n\nw.backward()\n"
    graph = build(traced(cell, library))
    said = {
        s.cards[0].name: describe(s, 0, {}, "en")
        for s in graph.stations
        if s.cards[0].name and s.cards[0].expr
    }
    too = {
        name for name, text in said.items() if "also a leaf: every tensor without a grad_fn is one" in text
    }
    assert too == {"c", "n"} and {"x", "y", "w"} <= set(said)
