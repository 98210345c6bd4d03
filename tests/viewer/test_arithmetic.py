"""Lines of arithmetic: what they say of the documented cells, of arrays, sums, paths, hooks and the user's
own backward; that they hold; and that a graph of thousands of nodes has them as well."""

from __future__ import annotations

import re
from typing import Any

import pytest
from cells import CELLS, traced
from latex_check import check
from staged import scene_of

import minigrad
from minigrad_viz.arithmetic import Line, capture_lines, deposit_lines, lines_of
from minigrad_viz.arithmetic.vjps import may_lose_digits
from minigrad_viz.flow.symbols import ADD, NAME, SUB, Symbol
from minigrad_viz.trace.events import BackwardEnded, GradAccumulated, NodeRan, Trace

pytestmark = pytest.mark.quick


def lines_of_trace(trace: Trace, call: int | None = None, lang: str = "en") -> list[Line]:
    """All lines of a backward call, in order."""
    builder = scene_of(trace, call)
    events = [e for e in trace.events if getattr(e, "call", None) == builder.call]
    deposits = {e.node: e for e in events if isinstance(e, GradAccumulated)}
    found: list[Line] = []
    for event in events:
        if isinstance(event, NodeRan):
            leaf = builder.nodes[event.node].variable is not None
            told = deposits.get(event.node)
            found += deposit_lines(builder, event, told, lang) if leaf else lines_of(builder, event, lang)
        elif isinstance(event, BackwardEnded):
            for tensor, _ in event.captured:
                found += capture_lines(builder, tensor, lang)
    for line in found:
        assert line.latex and line.text and line.label
        check(line.latex)
    return found


def lines(cell: str, library: Any = minigrad, call: int | None = None, lang: str = "en") -> list[str]:
    """All lines of a cell with their labels."""
    return [f"{x.label}: {x.text}" for x in lines_of_trace(traced(cell, library), call, lang)]


TWO = "x = torch.tensor(2.0, requires_grad=True)\n"

# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_tones_and_latex_of_a_line():
    line = lines_of_trace(traced(CELLS[4]))[1]
    assert [p for p in line.parts if p[0]] == [("in", "0.008"), ("in", "0.008"), ("out", "0.6")]
    assert line.latex == (
        r"\frac{\partial z}{\partial x} = \frac{\partial z}{\partial y} \cdot \frac{\partial y}{\partial x}"
        r" = 0.008 \cdot 3 {x}^{2} = 0.008 \cdot 75 = 0.6"
    )


# ── the user's own backward ─────────────────────────────────────────────────────────────────────────────────

EXP = """
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result
    @staticmethod
    def backward(ctx, grad_output):
        result, = ctx.saved_tensors
        return grad_output * result
x = torch.tensor(1., requires_grad=True)
y = Exp.apply(x)
y.backward()
"""


ARGUMENTS = re.compile(r"\w\([^()]*\(\d+,[\d, ]*\)|, ?(?:True|False)\)|_backward\(|\(\w+ · \w+\)")
SHAPES = """
x = torch.tensor([[1.0, 2.0, 4.0], [0.5, 0.1, 0.2]], requires_grad=True)
p = torch.softmax(x.reshape(3, 2), dim=1)
q = (p / p.sum(1, keepdim=True)).permute(1, 0).unsqueeze(0).expand(2, 2, 3)
r = torch.cat([q[:, 0], q[:, 1, 1:]], dim=1).flatten()[1:7].view(2, 3).roll(1, 0)
(r.mean(0).cumsum(0) * x.diagonal().repeat(2)[:3]).sum().backward()
"""


def test_no_formula_has_arguments_in_pythons_form(library):
    told = lines(SHAPES, library)
    assert len(told) > 15 and not [line for line in told if ARGUMENTS.search(line)]
    for part in ("p ⊙ (p̄ − Σ[dim 1] (p̄ ⊙ p))", "0, [1:7] ← [", "ᵀ = [", "diag("):
        assert any(part in line for line in told), (part, told)
    for line in ("sum(ā,(1,),True)", "expand(1, (1, 3))", "select_backward(ȳ, (2,), 0, 0)", "(head · view)ᵀ"):
        assert ARGUMENTS.search(line)


T = Symbol(NAME, value=2.0, text="t")


@pytest.mark.parametrize(
    ("formula", "lost"),
    [
        (T, False),
        (T * T, False),
        (Symbol(SUB, (T, T), value=0.0), True),
        (Symbol(ADD, (T, T), value=4.0) * T, True),
    ],
)
def test_only_a_difference_may_lose_digits(formula, lost):
    assert may_lose_digits(formula) is lost
