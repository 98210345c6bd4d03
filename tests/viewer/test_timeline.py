"""What the steps through a recorded cell say."""

from __future__ import annotations

from typing import Any

import pytest
from cells import CELLS, traced
from staged import build, frames_of
from stepping import frames, marked

import minigrad
from minigrad_viz.player.acts import with_data_once
from minigrad_viz.shell.report import Report
from minigrad_viz.shell.run import trace_source
from minigrad_viz.steps.timeline import steps_text, to_markdown
from minigrad_viz.words import text

pytestmark = pytest.mark.quick


# ── what the steps say ──────────────────────────────────────────────────────────────────────────────────────


def test_code_elsewhere_is_not_marked():
    space: dict[str, Any] = {"torch": minigrad}
    exec(compile("def double(t):\n    return t * 2\n", "<earlier cell>", "exec"), space)
    cell = "x = torch.tensor(5.0, requires_grad=True)\ny = double(x)\ny.backward()\n"
    trace = traced(cell, names={"double": space["double"]})
    steps = frames_of(trace, build(trace), lang="en")
    assert marked(cell, steps[1]) in ("double(x)", None)


def test_an_error_outside_of_backward_is_told_once():
    cell = f"import minigrad as torch\n{CELLS[1]}z @ z\n"
    trace = trace_source(cell)[0].trace
    steps = frames_of(trace, build(trace), lang="en")
    assert [f.text for f in steps if "Error" in f.text] == [steps[-1].text]
    assert (steps[-1].phase, marked(cell, steps[-1])) == ("forward", "z @ z")
    steps = frames(CELLS[12])
    assert [f.phase for f in steps if "RuntimeError" in f.text] == ["backward"] and not steps[-1].marks


# ── several calls ───────────────────────────────────────────────────────────────────────────────────────────


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


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_where_there_are_no_steps_that_is_said(lang):
    assert to_markdown((), lang) == steps_text((), lang) == text("steps_none", lang)
