"""What the steps through a recorded cell say."""

from __future__ import annotations

import re
from typing import Any

import pytest
from cells import CELLS, traced
from staged import build, frames_of, scenes_of
from stepping import decks, frames, marked, said, words

import minigrad
from minigrad_viz.player.acts import with_data_once
from minigrad_viz.shell.report import Report
from minigrad_viz.shell.run import trace_source

pytestmark = pytest.mark.quick

LOOP = """
w = torch.tensor(1.0, requires_grad=True)
for i in range(4):
    loss = (w * 2 - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""
HOOKS = """
x = torch.tensor(5.0, requires_grad=True)
y = x ** 3
def double(g):
    return g * 2
def see(g):
    pass
y.register_hook(see)
y.register_hook(double)
z = torch.log(y)
"""


# ── what the steps say ──────────────────────────────────────────────────────────────────────────────────────


def test_code_4(library):
    steps = frames(CELLS[4], library)
    log = "LogBackward0"
    assert [f.label for f in steps] == [
        "forward 1 of 3", "forward 2 of 3", "forward 3 of 3", "backward 1 of 3", "backward 2 of 3",
        "backward 3 of 3",
    ]  # fmt: skip
    assert said(steps) == [
        "x = 5.: a leaf that requires gradients",
        "x ** 3 computes y = 125.",
        "log(y) computes z = 4.8283",
        f"{log} at z receives 1. and passes 0.008 to y",
        "PowBackward0 at y receives 0.008 and passes 0.6 to x",
        "AccumulateGrad stores 0.6 in x.grad",
    ]
    assert steps[1].marks == ("s1-c0", "r0") and steps[3].marks == ("s2-d", "r1-g", "r1-p")


def test_every_step_marks_its_place_in_the_source(library):
    steps = frames(CELLS[9], library)
    sqrt, log = "torch.sqrt(w)", "torch.log(y)"
    assert [marked(CELLS[9], f) for f in steps] == [
        "torch.tensor(5.0, requires_grad=True)", "x ** 3", "x ** 2", log, sqrt, f"{log} + {sqrt}",
        f"{log} + {sqrt}", sqrt, log, "x ** 2", "x ** 3", "z.backward()",
    ]  # fmt: skip


def test_columns_are_characters():
    cell = "가 = torch.tensor(5.0, requires_grad=True); 나 = 가 * 2\n나.backward()\n"
    steps = frames(cell)
    assert [marked(cell, f) for f in steps][1:] == ["가 * 2", "가 * 2", "나.backward()"]


def test_code_elsewhere_is_not_marked():
    space: dict[str, Any] = {"torch": minigrad}
    exec(compile("def double(t):\n    return t * 2\n", "<earlier cell>", "exec"), space)
    cell = "x = torch.tensor(5.0, requires_grad=True)\ny = double(x)\ny.backward()\n"
    trace = traced(cell, names={"double": space["double"]})
    steps = frames_of(trace, build(trace), lang="en")
    assert marked(cell, steps[1]) in ("double(x)", None)


def test_the_arithmetic_of_a_step():
    steps = frames(CELLS[9])
    rules = [line.text for f in steps for line in f.lines if line.label == "chain rule"]
    assert any("∂z/∂y · ∂y/∂x" in rule and "75" in rule and rule.endswith("0.6") for rule in rules)
    assert [line.text for line in steps[-1].lines if line.kind == "sum"] == [
        "x.grad = 1. (through w) + 0.6 (through y) = 1.6"
    ]
    assert steps[-1].latex and r"\\" in steps[7].latex + steps[-1].latex


def test_a_gradient_that_waits_for_others(library):
    steps = frames(CELLS[9], library)
    waits = [(f.text, words(line)) for f in steps for line in f.lines if line.kind == "so_far"]
    assert waits == [
        (
            "PowBackward0 at w receives 0.1 and passes 1. to x",
            ("arrived", "x has received 1. and waits for 1 more gradient"),
        ),
        (
            "PowBackward0 at y receives 0.008 and passes 0.6 to x",
            ("arrived", "x has received 1. + 0.6; all its gradients are in"),
        ),
    ]


def test_accumulation_is_written_out(library):
    last = frames(CELLS[7], library)[-1]
    assert last.text == "AccumulateGrad adds 0.6 to x.grad"
    assert last.lines[-1].text == "x.grad = 0.6 + 0.6 = 1.2"


def test_what_backward_starts_with():
    rule, start = frames(CELLS[4])[3].lines[:2]
    assert words(rule)[0] == "in words" and rule.text.startswith("The gradient is divided by the input")
    assert words(start) == ("start", "the gradient of z with respect to itself is 1.")
    first = next(f for f in frames(CELLS[16], call=2) if f.phase == "backward")
    assert words(first.lines[1]) == ("start", "the gradient of y is given: [4. 7. 9.]")


def test_what_a_node_keeps_and_lets_go():
    steps = frames(CELLS[4])
    assert words(steps[2].lines[-1]) == ("saved", "LogBackward0 saves self = 125.")
    assert words(steps[3].lines[-1]) == ("freed", "self")
    kept = [line for f in frames(CELLS[7], call=1) for line in f.lines if line.kind == "freed"]
    assert kept == []


def test_an_error_is_the_last_step(library):
    *others, last = frames(CELLS[6], library)
    assert last.failed and not any(frame.failed for frame in others)
    assert last.phase == "backward" and last.text.startswith("RuntimeError: Trying to backward")
    assert last.marks == ("s2-d",) and marked(CELLS[6], last) == "z.backward()"
    name = "LogBackward0"
    assert [words(line) for line in last.lines] == [
        ("reached", "0 of 3 nodes had run"),
        ("stopped here", f"{name} at z"),
    ]


def test_an_error_outside_of_backward_is_told_once():
    cell = f"import minigrad as torch\n{CELLS[1]}z @ z\n"
    trace = trace_source(cell)[0].trace
    steps = frames_of(trace, build(trace), lang="en")
    assert [f.text for f in steps if "Error" in f.text] == [steps[-1].text]
    assert (steps[-1].phase, marked(cell, steps[-1])) == ("forward", "z @ z")
    steps = frames(CELLS[12])
    assert [f.phase for f in steps if "RuntimeError" in f.text] == ["backward"] and not steps[-1].marks


def test_without_gradients():
    steps = frames(CELLS[12])
    off = "recording is off, so no node is created (otherwise PowBackward1)"
    assert said(steps)[2] == f"x ** q computes y = 125.; {off}"
    assert ("grad mode", "off") in [words(line) for line in steps[0].lines]
    cut = said(frames(CELLS[14]))
    assert cut[3] == "y.detach() returns w = [10. 15. 25.]: it shares memory with y but is cut from the graph"
    assert cut[5].endswith("computes z = 370.; no input requires gradients, so no node is created")
    assert said(frames(CELLS[1])) == [
        "x = 5.: a constant", "x ** 3 computes y = 125.", "log(y) computes z = 4.8283"
    ]  # fmt: skip


def test_writing_in_place(library):
    cell = "x = torch.tensor(5.0, requires_grad=True)\ny = x * 2\ny.mul_(3)\n"
    cell += "with torch.no_grad():\n    x.add_(1)\n"
    steps = frames(cell, library)
    assert said(steps)[2:] == [
        "y.mul_(3) changes y₁ in place: y₂ = 30., version 0 → 1",
        "x.add_(1) changes x in place to 6.: version 0 → 1",
    ]
    assert [marked(cell, f) for f in steps[2:]] == ["y.mul_(3)", "x.add_(1)"]


def test_statements_that_change_what_backward_does():
    steps = frames(CELLS[16])
    step = next(f for f in steps if "requires_grad_()" in f.text)
    asks = "w is now a leaf that requires gradients; none flows on to y"
    assert step.text == f"w.requires_grad_(): {asks}"
    assert step.marks == ("s3-c0",) and marked(CELLS[16], step) == "w.requires_grad_()"
    assert said(frames(CELLS[13]))[5] == "y.retain_grad(): the gradient of y will be kept in y.grad"
    assert "compares derivatives" in said(frames(CELLS[20]))[1]


def test_hooks_tell_what_they_saw_and_did():
    steps = frames(HOOKS + "z.backward()\n")
    rule, *lines = [words(line) for line in steps[-2].lines]
    assert rule[0] == "in words"
    assert lines[:2] == [
        ("1. hook see", "returned None: 0.008 is passed on"),
        ("2. hook double", "0.008 → 0.016"),
    ]
    assert steps[-2].text == "PowBackward0 at y receives 0.016 and passes 1.2 to x"
    asked = frames(HOOKS + "g, = torch.autograd.grad(z, y)\n")[-2:]
    arrives = "the requested gradient arrives at y"
    assert said(asked) == [arrives, "autograd.grad returns 0.016 for y"]
    assert [words(line) for line in asked[0].lines] == lines[:2] and asked[0].marks == ("s1-c0",)


def test_a_gradient_that_is_none(library):
    cell = """
class Cut(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1

    @staticmethod
    def backward(ctx, g):
        return None

x = torch.tensor(5.0, requires_grad=True)
y = x * 2
z = Cut.apply(y)
z.backward()
"""
    steps = said(frames(cell, library), "backward")
    assert steps[0].endswith("receives 1. and passes nothing on")
    assert steps[1] == "MulBackward0 at y is skipped: its gradient is None, so it passes None on"
    assert steps[2:] in (
        [], ["AccumulateGrad receives no gradient (None): x.grad does not change"]
    )  # fmt: skip


def test_gradients_that_grad_returns(library):
    cell = CELLS[10].replace("z.backward()", "g = torch.autograd.grad(z, (x, q))")
    last = frames(cell, library)[-1]
    assert last.text == "autograd.grad returns 0.6 for x, 1.6094 for q"
    assert last.marks == ("s1-c0", "s0-c0") and marked(cell, last) == "torch.autograd.grad(z, (x, q))"


# ── several calls ───────────────────────────────────────────────────────────────────────────────────────────


def test_what_create_graph_computes_is_a_step_of_its_call(library):
    backward = said(frames(CELLS[18], library, 1), "backward")
    log = "LogBackward0"
    made = next(i for i, text in enumerate(backward) if text.startswith(f"{log} computes"))
    assert backward[made].endswith("∂z/∂y = 0.008") and backward[made + 1].startswith(
        f"{log} at z receives 1."
    )
    assert any(text.startswith("PowBackward0 computes x ** 2") for text in backward)


def test_the_second_derivative_goes_through_the_gradients_own_graph():
    trace = traced(CELLS[18])
    graph = build(trace, 2)
    steps = frames_of(trace, graph, 2, "en")
    second = {s.id for s in graph.stations if s.order == 2}
    ran = decks(steps)
    assert len([s for s in ran if s in second]) == 5 and ran[-1] not in second
    assert steps[-1].text == "autograd.grad returns -0.12 for x"
    made = next(f for f in steps if f.text.startswith("LogBackward0 computes"))
    assert made.phase == "forward" and ("inside", "z.backward(create_graph=True)") in map(words, made.lines)


def test_a_training_loop_shows_one_iteration_at_a_time(library):
    trace = traced(LOOP, library)
    told = [frames_of(trace, scene.whole, scene.call, "en") for scene in scenes_of(trace)]
    assert len(told) == 4 and len({len(steps) for steps in told}) == 1
    values = ["1.", "1.4", "1.48", "1.496", "1.4992"]
    for i, steps in enumerate(told):
        assert steps[0].text == f"w = {values[i]}: a leaf that requires gradients"
        first, _ = [f.text for f in steps if f.phase == "update"]
        assert first == f"w -= 0.1 * w.grad changes w: {values[i]} → {values[i + 1]}"
        phases = "".join(f.phase[0] for f in steps)
        assert re.fullmatch("f+b{4}u+", phases), "the update comes after the backward call"
        assert not steps[0].lines, "nothing of a version, which is no news here"


def test_what_a_call_leaves_for_another(library):
    """retain_graph keeps what was saved, create_graph makes a graph of its own."""

    def left(cell, call=None):
        lines = [line for frame in frames(cell, library, call) for line in frame.lines]
        return [words(line)[1] for line in lines if line.kind in ("kept", "graph")]

    (kept,) = left(CELLS[7], 1)
    assert kept.startswith("saved values are kept") and "retain_graph=True" in kept
    (graph,) = left(CELLS[18], 1)
    assert graph.startswith("create_graph=True records this backward pass as the graph of the gradient")
    add = "x = torch.tensor(5.0, requires_grad=True)\ny = x + 1\ny.backward(retain_graph=True)\n"
    assert left(CELLS[7], 2) == left(CELLS[4]) == left(add) == [], "x + 1 has saved nothing"


def test_the_first_of_two_calls_tells_nothing_of_the_second():
    steps = frames(CELLS[6], call=1)
    assert [f.phase for f in steps] == ["forward"] * 3 + ["backward"] * 3
    assert "Error" not in "".join(said(steps))


def test_a_continued_line_shows_no_backslash():
    """Cards, steps, the outline and the ledger have the expression in one line, as the compiler reads it."""
    source = (
        "import minigrad as torch\nx = torch.tensor(2.0, requires_grad=True)\n"
        "y = x * 3 + \\\n    x\nfor _ in range(2):\n    y.backward( \\\n        retain_graph=True)\n"
        "del x.missing, \\\n    y\n"
    )
    report = trace_source(source, lang="en")[0]
    shown = [report.text(steps=True), report.ledger.text(), report.html("static"), report.explanation_html()]
    assert not any("\\" in each for each in shown)
    assert "x * 3 + x" in shown[0] and "y.backward( retain_graph=True)" in shown[0]


ROUNDS = (
    "x = torch.tensor([1.0, 2.0])\nbatches = [torch.tensor(float(i)) for i in range(3)]\n"
    "w = torch.tensor(0.0, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
    "for i in range(3):\n    {}\n    loss = ((w * x - 3) ** 2).mean() + batches[i]\n    {}\n"
    "    loss.backward()\n    opt.step()\n"
)


def test_a_loop_shows_its_data_once_and_zero_grad_where_its_line_stands(library):
    for lines in (("opt.zero_grad()", "pass"), ("pass", "opt.zero_grad()")):
        report = Report(traced(ROUNDS.format(*lines), library), lang="en")
        acts = with_data_once(report.acts, "en")
        texts = [[frame.text for frame in act.frames] for act in acts]
        assert [sum(text.startswith("x = ") for text in each) for each in texts] == [1, 0, 0]
        assert [sum(text.startswith("w = ") for text in each) for each in texts] == [1, 0, 0]
        given = [[f for f in act.frames if f.phase == "forward" and "computes" not in f.text] for act in acts]
        assert [sum("batches[" in frame.text for frame in each) for each in given] == [1, 1, 1]
        for act in acts[1:]:
            ops = [frame.span[0] for frame in act.frames if frame.phase != "backward"][1:]
            assert ops == sorted(ops) and 6 + 2 * lines.index("opt.zero_grad()") in ops
            forward = [frame.label for frame in act.frames if frame.phase == "forward"]
            assert forward == [f"forward {i + 1} of {len(forward)}" for i in range(len(forward))]
        assert len(report.acts[1].frames) > len(acts[1].frames), "the steps of a call by itself are whole"
