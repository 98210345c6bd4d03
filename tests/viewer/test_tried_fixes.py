"""A fix is tried with the recorded numbers before it is shown: what does not help is not shown, what cannot
be tried says so, and trying leaves no trace."""

from __future__ import annotations

import pytest
from cells import run
from test_zoo import MISTAKES

import minigrad
from minigrad_viz.explaining import explanations_of
from minigrad_viz.explaining.tried_fixes import helps, with_tried_code
from minigrad_viz.model.scene import Scenes
from minigrad_viz.trace.source_positions import SourceText

PRODUCT = "x = torch.randn(4, 3)\nw = torch.randn(4, 2, requires_grad=True)\ny = x @ w\n"
TWICE = "x = torch.tensor(3.0, requires_grad=True)\ny = x ** 2\ny.backward()\ny.backward()\n"
ZERO = "x = torch.tensor([1.0, 0.0], requires_grad=True)\ny = torch.log(x).sum()\ny.backward()\n"


def explained(program: str, library, fix: str | None = None, lang: str = "en"):
    """What is explained last of a program, perhaps with another fix, after that was tried."""
    trace = run(program, library).trace
    last = explanations_of(Scenes(trace), lang)[-1]
    source = SourceText(trace.source)
    return last if fix is None else with_tried_code(last._replace(fix=fix), trace, source, lang)


@pytest.mark.sample(30)
@pytest.mark.parametrize("name", MISTAKES)
def test_the_fixes_of_the_zoo_are_tried(library, name):
    trace = run(MISTAKES[name].broken, library).trace
    source = SourceText(trace.source)
    for each in explanations_of(Scenes(trace), "en"):
        assert "`" not in each.fix or helps(each, trace, source), each.fix


@pytest.mark.parametrize(
    ("program", "fix"),
    [
        (PRODUCT, "Write `y = x.unsqueeze(0) @ w`."),  # the sizes still differ
        (PRODUCT, "In line 3, write `w @ x` instead of `x @ w`."),
        (PRODUCT, "Write `y = x @ w`."),  # the line itself
        (TWICE, "In line 3, write `y.backward(retain_graph=False)` instead of `y.backward()`."),
    ],
)
def test_what_does_not_help_is_not_shown(library, program, fix):
    assert explained(program, library, fix).fix == ""


@pytest.mark.parametrize(
    ("program", "fix"),
    [
        (PRODUCT, "Write `y = x.T @ w`."),
        (TWICE, "In line 3, write `y.backward(retain_graph=True)` instead of `y.backward()`."),
        (TWICE, "Call `y = x ** 2` before line 4."),
    ],
)
def test_what_helps_is_shown(library, program, fix):
    assert explained(program, library, fix).fix == fix


OPENED = "count = len(open(__import__('os').devnull).read())\n"  # what no interpreter does
UNTRIED = {
    "en": (OPENED + PRODUCT, "y = x.T @ w. This change was not tried"),
    "ko": (OPENED + PRODUCT, "시험해 보지 못했습니다"),
    "in words": (
        OPENED + "w = torch.tensor([1.0, 2.0], requires_grad=True)\ny = torch.exp(w)\ny *= 2\n"
        "y.sum().backward()\n",
        "Create a new tensor instead of modifying y in place.",
    ),
}


@pytest.mark.parametrize("name", UNTRIED)
def test_what_cannot_be_tried_is_no_code(library, name):
    program, words = UNTRIED[name]
    lang = "ko" if name == "ko" else "en"
    fix = explained(program, library, lang=lang).fix
    assert words in fix and "`" not in fix, fix
    assert "`" in explained(program.removeprefix(OPENED), library, lang=lang).fix


def test_a_loop_is_replaced_by_the_comprehension_over_it(library):
    program = "k = torch.ones(2, 2, requires_grad=True) * 1\nfor row in k:\n    row -= row.min()\n"
    assert "`k = torch.stack([row - row.min() for row in k])`" in explained(program, library).fix


@pytest.mark.parametrize("program", [PRODUCT, TWICE, "torch.set_grad_enabled(False)\n" + PRODUCT])
def test_trying_leaves_no_trace(program, capsys):
    trace = run(program + "print('once')\n").trace
    try:
        minigrad.set_grad_enabled(True)
        before = minigrad.get_rng_state().tolist()
        explanations_of(Scenes(trace), "en")
        assert minigrad.get_rng_state().tolist() == before and minigrad.is_grad_enabled()
        assert capsys.readouterr() == ("", "")
    finally:
        minigrad.set_grad_enabled(True)


def test_a_loop_without_end_is_left():
    program = "k = 0\nwhile True:\n    k += 1\n    if k > 10 ** 4:\n        break\n" + PRODUCT
    assert "`" in explained(program, minigrad).fix
