"""The local derivative as a formula: the text a reader knows, and the number the engine computes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import minigrad as mg
from minigrad_viz.arithmetic import chain_rule, sum_at
from minigrad_viz.build import Builder
from minigrad_viz.events import Deposited, NodeRan
from minigrad_viz.notation import local_derivative
from minigrad_viz.run import trace_source

F32 = np.float32


def derive(
    node: str, input: int = 0, names: dict[str, str] | None = None, **saved: object
) -> tuple[str, float]:
    local = local_derivative(node, input, saved, names or {})
    assert local is not None
    return local.formula, local.value


@pytest.mark.parametrize(
    ("node", "input", "saved", "names", "formula", "value"),
    [
        ("LogBackward", 0, {"self": F32(125)}, {"self": "y"}, "1/y", 0.008),
        ("LogBackward0", 0, {"self": F32(125)}, {"self": "y"}, "1/y", 0.008),
        ("PowBackward0", 0, {"self": F32(5), "exponent": 3}, {"self": "x"}, "3x²", 75),
        ("PowBackward0", 0, {"self": F32(5), "exponent": 2}, {"self": "x"}, "2x", 10),
        ("PowBackward0", 0, {"self": F32(5), "exponent": 1}, {"self": "x"}, "1", 1),
        ("PowBackward0", 0, {"self": F32(5), "exponent": 0}, {"self": "x"}, "0", 0),
        ("PowBackward0", 0, {"self": F32(2), "exponent": -1}, {"self": "x"}, "−x⁻²", -0.25),
        ("SqrtBackward", 0, {"result": F32(5)}, {"result": "sqrt(w)"}, "1/(2·sqrt(w))", 0.1),
        ("ExpBackward", 0, {"result": F32(2)}, {"result": "y"}, "y", 2),
        ("MulBackward0", 0, {"other": F32(3)}, {"other": "w"}, "w", 3),
        ("MulBackward0", 0, {"other": 2}, {}, "2", 2),
        ("AddBackward0", 1, {}, {}, "1", 1),
        ("AddBackward0", 1, {"alpha": 3}, {}, "3", 3),
        ("SubBackward0", 1, {}, {}, "−1", -1),
        ("DivBackward0", 0, {"other": F32(4)}, {"other": "b"}, "1/b", 0.25),
        ("TanhBackward", 0, {"result": F32(0.5)}, {"result": "t"}, "1 − t²", 0.75),
        ("SigmoidBackward", 0, {"result": F32(0.5)}, {"result": "s"}, "s·(1 − s)", 0.25),
        ("ReluBackward0", 0, {"result": F32(2)}, {"result": "r"}, "[r > 0]", 1),
        ("ReluBackward0", 0, {"result": F32(0)}, {"result": "r"}, "[r > 0]", 0),
        ("SinBackward", 0, {"self": F32(0)}, {"self": "x"}, "cos x", 1),
        ("PowBackward1", 0, {"self": F32(5), "exponent": F32(3)}, {"self": "x", "exponent": "q"},
         "q·x^(q − 1)", 75),
        (
            "PowBackward1", 1, {"self": F32(5), "exponent": F32(3), "result": F32(125)},
            {"self": "x", "exponent": "q", "result": "y"}, "y·ln x", 125 * math.log(5),
        ),
    ],
)  # fmt: skip
def test_formulas_a_reader_knows(node, input, saved, names, formula, value):
    text, number = derive(node, input, names, **saved)
    assert text == formula
    assert number == pytest.approx(value, rel=1e-5)


def test_where_a_power_is_constant_its_exponent_counts_nothing():
    saved = {"self": F32(0), "exponent": F32(2), "result": F32(0)}
    assert derive("PowBackward1", 1, {"self": "x", "exponent": "q", "result": "y"}, **saved) == ("0", 0)


def test_what_has_no_formula_has_none():
    assert local_derivative("MyPowBackward", 0, {}, {}) is None
    assert local_derivative("AccumulateGrad", 0, {}, {}) is None
    assert local_derivative("LogBackward", 0, {}, {}) is None  # the saved value is gone
    assert local_derivative("LogBackward", 3, {"self": F32(1)}, {}) is None


UNARY = ["exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu", "abs", "neg", "reciprocal"]
BINARY = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
          "**": lambda a, b: a**b}  # fmt: skip


def saved_numbers(node) -> dict[str, object]:
    names = [n.removeprefix("_saved_") for n in dir(node) if n.startswith("_saved_") and "_sym_" not in n]
    values = {n: getattr(node, "_saved_" + n) for n in names}
    return {
        n: np.float64(v.item()) if isinstance(v, mg.Tensor) else v for n, v in values.items() if v is not None
    }


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("x", [0.3, 2.5])
def test_every_function_of_one_number_agrees_with_the_engine(name, x):
    leaf = mg.tensor(x, dtype=mg.float64, requires_grad=True)
    result = getattr(leaf, name)()
    local = local_derivative(
        result.grad_fn.name(), 0, saved_numbers(result.grad_fn), {"self": "x", "result": "y"}
    )
    result.backward()
    assert local is not None
    assert local.value == pytest.approx(leaf.grad.item(), rel=1e-12)


@pytest.mark.parametrize("sign", BINARY)
def test_every_operator_agrees_with_the_engine(sign):
    a = mg.tensor(1.7, dtype=mg.float64, requires_grad=True)
    b = mg.tensor(0.6, dtype=mg.float64, requires_grad=True)
    result = BINARY[sign](a, b)
    saved, name = saved_numbers(result.grad_fn), result.grad_fn.name()
    locals_ = [
        local_derivative(name, i, saved, {"self": "a", "other": "b", "exponent": "b", "result": "y"})
        for i in (0, 1)
    ]
    result.backward()
    assert [local.value for local in locals_] == pytest.approx([a.grad.item(), b.grad.item()], rel=1e-12)


def lines_of(source: str) -> tuple[list[str], list[str | None]]:
    report, error = trace_source("import minigrad as torch\n" + source)
    assert error is None
    builder = Builder(report.trace)
    rules = [r for e in report.trace.events if isinstance(e, NodeRan) for r in chain_rule(builder, e, "en")]
    sums = [sum_at(builder, e.tensor, "en") for e in report.trace.events if isinstance(e, Deposited)]
    return rules, sums


def test_the_chain_rule_of_code_4():
    rules, sums = lines_of(
        "x = torch.tensor(5., requires_grad=True)\ny = x ** 3\nz = torch.log(y)\nz.backward()\n"
    )
    assert rules == ["∂z/∂y = 1/y = 0.008", "∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75. = 0.6"]
    assert sums == [None]


def test_two_paths_of_code_9_meet_at_the_leaf():
    rules, sums = lines_of(
        "x = torch.tensor(5., requires_grad=True)\ny = x ** 3\nw = x ** 2\n"
        "z = torch.log(y) + torch.sqrt(w)\nz.backward()\n"
    )
    assert "∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75. = 0.6   (through y)" in rules
    assert "∂z/∂x = ∂z/∂w · ∂w/∂x = 0.1 · 2x = 0.1 · 10. = 1.   (through w)" in rules
    assert sums == ["1. (through w) + 0.6 (through y) = 1.6"]


def test_a_hook_that_changes_the_gradient_leaves_no_wrong_line():
    rules, _ = lines_of(
        "x = torch.tensor(5., requires_grad=True)\ny = x ** 3\nz = torch.log(y)\n"
        "y.grad_fn.register_hook(lambda sent, received: (sent[0] * 2,))\nz.backward()\n"
    )
    assert rules == ["∂z/∂y = 1/y = 0.008"]


def test_the_numbers_are_those_backward_used():
    rules, _ = lines_of(
        "x = torch.tensor([5.], requires_grad=True)\ny = x * 1\nz = torch.log(y)\n"
        "y.data.mul_(2)\nz.backward()\n"
    )
    assert rules[0] == "∂z/∂y = 1/y = [0.1]"


def test_the_second_derivative_of_code_18():
    rules, _ = lines_of(
        "x = torch.tensor(5., requires_grad=True)\ny = x ** 3\nz = torch.log(y)\n"
        "z.backward(create_graph=True)\n"
        "second = torch.autograd.grad(x.grad, x)\n"
    )
    assert any("= 0.024 · 10. = 0.24" in rule for rule in rules)
    assert any("= -0.0048 · 75. = -0.36" in rule for rule in rules)
