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


def of_kind(kind: str, cell: str, library: Any = minigrad) -> list[str]:
    return [x.text for x in lines_of_trace(traced(cell, library)) if x.kind == kind]


TWO = "x = torch.tensor(2.0, requires_grad=True)\n"

# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_chain_rule_of_code_4(library):
    assert lines(CELLS[4], library) == [
        "chain rule: ∂z/∂y = 1/y = 0.008",
        "chain rule: ∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75 = 0.6",
    ]


def test_tones_and_latex_of_a_line():
    line = lines_of_trace(traced(CELLS[4]))[1]
    assert [p for p in line.parts if p[0]] == [("in", "0.008"), ("in", "0.008"), ("out", "0.6")]
    assert line.latex == (
        r"\frac{\partial z}{\partial x} = \frac{\partial z}{\partial y} \cdot \frac{\partial y}{\partial x}"
        r" = 0.008 \cdot 3 {x}^{2} = 0.008 \cdot 75 = 0.6"
    )


def test_two_paths_of_code_9_meet_at_the_leaf(library):
    said = lines(CELLS[9], library)
    assert "chain rule: ∂z/∂x through y = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75 = 0.6" in said
    assert "chain rule: ∂z/∂x through w = ∂z/∂w · ∂w/∂x = 0.1 · 2x = 0.1 · 10 = 1" in said
    assert said[-2:] == [
        "sum at x: x.grad = 1. (through w) + 0.6 (through y) = 1.6",
        "2 paths: ∂z/∂x = 10·0.1 + 75·0.008 = 1 + 0.6 = 1.6",
    ]


def test_the_korean_reader_reads_korean():
    said = lines(CELLS[9], lang="ko")
    assert "연쇄 법칙: ∂z/∂x (y 경유) = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75 = 0.6" in said
    assert "x에서의 합: x.grad = 1. (w 경유) + 0.6 (y 경유) = 1.6" in said


def test_two_leaves_of_code_10(library):
    assert lines(CELLS[10], library)[1:] == [
        "chain rule: ∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · q·x^(q − 1) = 0.008 · 75 = 0.6",
        "chain rule: ∂z/∂q = ∂z/∂y · ∂y/∂q = 0.008 · y·ln x = 0.008 · 201.18 = 1.6094",
    ]


def test_what_was_in_grad_before(library):
    assert lines(CELLS[7], library)[-1] == "into x.grad: x.grad = 0.6 + 0.6 = 1.2"


def test_a_sum_is_not_yet_the_grad_where_there_was_one():
    said = lines(CELLS[9].replace("z.backward()", "z.backward(retain_graph=True)\nz.backward()"))
    assert "sum at x: ∂z/∂x = 1. (through w) + 0.6 (through y) = 1.6" in said
    assert "into x.grad: x.grad = 1.6 + 1.6 = 3.2" in said


def test_gradients_meet_at_results_too(library):
    cell = f"{TWO}y = x * 3\nu = y ** 2\nv = y * 5\nz = u + v\nz.backward()\n"
    assert "sum at y: ∂z/∂y = 5. (through v) + 12. (through u) = 17." in lines(cell, library)
    assert of_kind("paths", cell, library) == ["∂z/∂x = 3·12 + 3·5 = 36 + 15 = 51"]
    assert of_kind("sum", cell, library) == ["∂z/∂y = 5. (through v) + 12. (through u) = 17."]


def test_the_second_derivative_of_code_18(library):
    said = lines(CELLS[18], library)
    assert said[-1] == "2 paths: ∂²z/∂x² = 30·0.008 + 75·(−0.000064)·75 = 0.24 − 0.36 = −0.12"
    assert said[-2] == "sum at x: ∂²z/∂x² = 0.24 (through x²) − 0.36 (through y) = −0.12"
    rules = [s for s in said if s.startswith("chain rule")]
    through_y = "∂²z/∂x² through y = ∂²z/∂y∂x · ∂y/∂x = −0.0048 · 3x² = −0.0048 · 75 = −0.36"
    assert rules[-1] == f"chain rule: {through_y}"
    assert any("75 · (−1/y²) = 75 · (−0.000064) = −0.0048" in rule for rule in rules)


def test_the_same_at_the_leaf_where_the_second_derivative_is_added():
    cell = CELLS[18].replace("second, = torch.autograd.grad(x.grad, x)", "g = x.grad\ng.backward()")
    said = lines(cell)
    assert "2 paths: ∂²z/∂x² = 30·0.008 + 75·(−0.000064)·75 = 0.24 − 0.36 = −0.12" in said
    assert "into x.grad: x.grad = 0.6 − 0.12 = 0.48" in said


def test_the_third_derivative_is_named_as_one():
    cell = (
        f"{TWO}z = x ** 4\nd, = torch.autograd.grad(z, x, create_graph=True)\n"
        "e, = torch.autograd.grad(d, x, create_graph=True)\nf, = torch.autograd.grad(e, x)\n"
    )
    assert any("∂³z/∂x³ = " in line for line in lines(cell))


def test_no_derivative_is_claimed_where_the_root_was_weighted(library):
    cell = CELLS[4].replace("z.backward()", "z.backward(torch.tensor(2.0))")
    assert lines(cell, library) == [
        "vjp (ȳ: gradient of y): ȳ = z̄·1/y = 2 · 0.008 = 0.016",
        "vjp (x̄: gradient of x): x̄ = ȳ·3x² = 0.016 · 75 = 1.2",
    ]


def test_hooks_are_told_and_taint_what_follows(library):
    said = lines(CELLS[19], library)
    assert said[0] == "chain rule: ∂z/∂y = 1/y = 0.008"
    assert re.fullmatch(r"changed by (<lambda>|hook): ȳ: 0\.008 → 0\.016", said[1])
    assert said[2] == "vjp (x̄: gradient of x): x̄ = ȳ·3x² = 0.016 · 75 = 1.2"


def test_a_hook_that_changes_what_a_node_sent_leaves_no_wrong_formula(library):
    cell = CELLS[4].replace(
        "z.backward()", "y.grad_fn.register_hook(lambda sent, got: (sent[0] * 2,))\nz.backward()"
    )
    said = lines(cell, library)
    assert said[0] == "chain rule: ∂z/∂y = 1/y = 0.008"
    assert not any("0.008 · 75" in line for line in said)
    assert any("0.6 → 1.2" in line or line.endswith("ȳ = 0.008 → x̄ = 1.2") for line in said)


def test_the_numbers_are_those_backward_used(library):
    made = "x = torch.tensor([5.], requires_grad=True)\ny = x * 1\nz = torch.log(y)\n"
    said = lines(f"{made}y.data.mul_(2)\nz.backward()\n", library)
    assert said[0] == "chain rule: ∂z/∂y = 1/y = [0.1]"


# ── arrays ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_products_of_code_13(library):
    assert lines(CELLS[13], library) == [
        "vjp (ȳ: gradient of y): ȳ = z̄·[4 7 9] = 1 · [4 7 9] = [4 7 9]   () → (3,)",
        "vjp: ∂z/∂x = Σᵢ ∂z/∂yᵢ · ∂yᵢ/∂x = [4 7 9] · [2 3 5] = 8 + 21 + 45 = 74",
        "broadcast: x has shape (), y has (3,): the 3 products are summed to the shape of x: "
        "8 + 21 + 45 = 74",
    ]


def test_the_same_with_a_vector_at_the_root(library):
    said = lines(CELLS[16], library)
    assert said[0] == ("vjp (x̄: gradient of x): x̄ = Σ (ȳ ⊙ [2 3 5]) = Σ ([4 7 9] ⊙ [2 3 5]) = 74   (3,) → ()")


def test_element_by_element(library):
    cell = "x = torch.tensor([1., 2., 4.], requires_grad=True)\ny = torch.log(x)\ny.sum().backward()\n"
    assert lines(cell, library)[1] == (
        "vjp (x̄: gradient of x): x̄ = ȳ ⊙ 1/x = [1 1 1] ⊙ [1 0.5 0.25] = [1 0.5 0.25]"
    )


LAYER = """
x = torch.tensor([[1., 2.], [3., 4.]])
w = torch.tensor([[1.], [2.]], requires_grad=True)
b = torch.tensor([3.], requires_grad=True)
h = x @ w
p = h + b
loss = p.sum()
loss.backward()
"""


def test_a_layer_in_matrix_form(library):
    assert lines(LAYER, library) == [
        "vjp (p̄: gradient of p): p̄ = l̅o̅s̅s̅ = [[1] [1]]   () → (2, 1)",
        "vjp (h̄: gradient of h): h̄ = p̄ = [[1] [1]]",
        "vjp (b̄: gradient of b): b̄ = Σ[dim 0] p̄ = Σ[dim 0] [[1] [1]] = [2]   (2, 1) → (1,)",
        "broadcast: b has shape (1,), p has (2, 1): the 2 gradients are summed to the shape of b: "
        "[1] + [1] = [2]",
        "vjp (w̄: gradient of w): w̄ = xᵀ h̄ = [[1 3] [2 4]] · [[1] [1]] = [[4] [6]]   (2, 2)·(2, 1) → (2, 1)",
    ]


def test_large_arrays_have_formula_and_shapes(library):
    cell = (
        "x = torch.ones(20, 30)\nw = torch.ones(30, 10).requires_grad_()\nh = x @ w\n"
        "y = torch.exp(h)\nz = y.sum()\nz.backward()\n"
    )
    assert lines(cell, library)[1:] == [
        "vjp (h̄: gradient of h): h̄ = ȳ ⊙ y   (20, 10) → (20, 10)",
        "vjp (w̄: gradient of w): w̄ = xᵀ h̄   (30, 20)·(20, 10) → (30, 10)",
    ]


def test_arrays_that_meet(library):
    cell = "x = torch.tensor([1., 2.], requires_grad=True)\na = x * 3\nb = x * 5\n(a * b).sum().backward()\n"
    sums = of_kind("sum", cell, library)
    assert sums == ["x.grad = [15. 30.] (through b) + [15. 30.] (through a) = [30. 60.]"]


def test_what_no_formula_explains_is_named(torch):
    made = "x = torch.tensor([[1., 5.], [7., 2.]], requires_grad=True)\n"
    said = lines(f"{made}m, i = x.median(dim=0)\nm.sum().backward()\n", torch)
    assert said[1] == ("vjp (x̄: gradient of x): MedianBackward1: m̄ (2,) = [1 1] → x̄ (2, 2) = [[1 0] [0 1]]")


def test_pytorchs_linear_layer(torch):
    cell = (
        "torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1)\nx = torch.tensor([[1., 2.], [3., 4.]])\n"
        "y = layer(x)\ny.sum().backward()\n"
    )
    said = [x.text for x in lines_of_trace(traced(cell, torch)) if x.kind == "vjp"]
    assert any("ȳᵀ" in line or "xᵀ ȳ" in line for line in said), said
    assert not any("AddmmBackward0:" in line for line in said)


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


def test_the_users_own_backward():
    assert lines(EXP) == [
        "Exp.backward: grad_output * result = 1. · 2.7183 = 2.7183",
        "vjp (x̄: gradient of x): ExpBackward: ȳ = 1 → x̄ = 2.7183",
    ]
    own = of_kind("own", CELLS[11])
    assert own == [
        "g * exponent * base ** (exponent - 1) = 0.008 · 3. · 25. = 0.6",
        "g * base ** exponent * torch.log(base) = 0.008 · 125. · 1.6094 = 1.6094",
    ]


def test_every_expression_of_the_users_backward():
    body = "half = -grad_output / 2\n        return half * torch.exp(result) - grad_output"
    own = of_kind("own", EXP.replace("return grad_output * result", body))
    assert own == [
        "-grad_output / 2 = −1. / 2 = −0.5",
        "half * torch.exp(result) - grad_output = −0.5 · 15.154 − 1. = −8.5771",
    ]


def test_the_users_own_backward_in_pytorch(torch):
    said = lines(EXP, torch)
    assert said[-1] == "vjp (x̄: gradient of x): ExpBackward: ȳ = 1 → x̄ = 2.7183"
    assert said[0].startswith("Exp.backward: ") and "grad_output * result" in said[0]


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
