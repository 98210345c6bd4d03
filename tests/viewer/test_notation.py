"""Formulas: the text a reader knows, the number the engine computes, for every op, in LaTeX as well."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from latex_check import check
from op_table import CASES, Case

import minigrad as mg
from minigrad.core import F, all_ops
from minigrad_viz.arithmetic.formula_tree import (
    BESIDE,
    POWER,
    PRODUCT,
    TIGHT,
    Formula,
    fraction,
    page,
    row,
    tones_of,
)
from minigrad_viz.arithmetic.lines import EQUALS, addition, card_number, incoming_number
from minigrad_viz.arithmetic.lines import result as outcome
from minigrad_viz.arithmetic.typeset import array_tree, bar, name_formula, number_tree, shapes, typeset
from minigrad_viz.flow.node_vjps import BORROWED, SavedTensor, is_elementwise, local_derivative, rules, vjp
from minigrad_viz.flow.symbols import Symbol, Unwritable
from minigrad_viz.protocol import Value, is_tensor, variable_of
from minigrad_viz.saved_values import saved_of

F32 = np.float32


def derive(
    node: str, input: int = 0, names: dict[str, str] | None = None, **saved: object
) -> tuple[str, float] | None:
    """The local derivative of numbers, as text and as a number."""
    found = local_derivative(node, input, saved, names or {})
    return None if found is None else (typeset(found).plain, float(found.value))


@pytest.mark.quick
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
        ("PowBackward0", 0, {"self": F32(2), "exponent": 2}, {"self": "p - 1"}, "2·(p - 1)", 4),
        ("SqrtBackward", 0, {"result": F32(5)}, {"result": "sqrt(w)"}, "1/(2·sqrt(w))", 0.1),
        ("ExpBackward", 0, {"result": F32(2)}, {"result": "y"}, "y", 2),
        ("MulBackward0", 0, {"other": F32(3)}, {"other": "w"}, "w", 3),
        ("MulBackward0", 0, {"other": 2}, {}, "2", 2),
        ("AddBackward0", 1, {}, {}, "1", 1),
        ("AddBackward0", 1, {"alpha": 3}, {}, "3", 3),
        ("SubBackward0", 1, {}, {}, "−1", -1),
        ("DivBackward0", 0, {"other": F32(4)}, {"other": "b"}, "1/b", 0.25),
        ("DivBackward0", 1, {"self": F32(2), "other": F32(4)}, {"self": "a", "other": "b"}, "−a/b²", -0.125),
        ("TanhBackward", 0, {"result": F32(0.5)}, {"result": "t"}, "1 − t²", 0.75),
        ("SigmoidBackward", 0, {"result": F32(0.5)}, {"result": "s"}, "s·(1 − s)", 0.25),
        ("ReluBackward0", 0, {"result": F32(2)}, {"result": "r"}, "[r > 0]", 1),
        ("ReluBackward0", 0, {"result": F32(0)}, {"result": "r"}, "[r > 0]", 0),
        ("SinBackward", 0, {"self": F32(0)}, {"self": "x"}, "cos x", 1),
        ("CosBackward", 0, {"self": F32(0.5)}, {"self": "x"}, "−sin x", -math.sin(0.5)),
        ("PowBackward1", 0, {"self": F32(5), "exponent": F32(3)}, {"self": "x", "exponent": "q"},
         "q·x^(q − 1)", 75),
        (
            "PowBackward1", 1, {"self": F32(5), "exponent": F32(3), "result": F32(125)},
            {"self": "x", "exponent": "q", "result": "y"}, "y·ln x", 125 * math.log(5),
        ),
    ],
)  # fmt: skip
def test_formulas_a_reader_knows(node, input, saved, names, formula, value):
    text, number = derive(node, input, names, **saved) or ("", 0)
    assert text == formula
    assert number == pytest.approx(value, rel=1e-5)
    tree = local_derivative(node, input, saved, names)
    check(typeset(tree).latex)


def test_where_a_power_is_constant_its_exponent_counts_nothing():
    saved = {"self": F32(0), "exponent": F32(2), "result": F32(0)}
    assert derive("PowBackward1", 1, {"self": "x", "exponent": "q", "result": "y"}, **saved) == ("0", 0)


def test_what_has_no_formula_has_none():
    assert derive("MyPowBackward") is None
    assert derive("AccumulateGrad") is None
    assert derive("LogBackward") is None  # the saved value is gone
    assert derive("LogBackward", 3, self=F32(1)) is None
    branch = {"self": SavedTensor(None, (9, 9)), "exponent": SavedTensor(None, (9, 9))}
    assert local_derivative("PowBackward1", 0, branch, {}) is None  # which way its branch goes is not known


MATRIX = np.array([[1, 2, 3], [4, 5, 6]], F32)
ROW = np.array([2, 3, 5], F32)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("node", "input", "saved", "received", "shape", "formula", "numbers", "shape_text"),
    [
        ("MmBackward0", 0, {"mat2": MATRIX.T}, np.ones((1, 2), F32), (1, 3), "ȳ wᵀ",
         "[[1 1]] · [[1 2 3] [4 5 6]]", "(1, 2)·(2, 3) → (1, 3)"),
        ("MmBackward0", 1, {"self": MATRIX}, np.ones((2, 1), F32), (3, 1), "xᵀ ȳ",
         "[[1 4] [2 5] [3 6]] · [[1] [1]]", "(3, 2)·(2, 1) → (3, 1)"),
        ("MvBackward0", 0, {"vec": ROW}, np.array([1, 2], F32), (2, 3), "ȳ vᵀ", "[1 2] · [2 3 5]",
         "(2, 1)·(1, 3) → (2, 3)"),
        ("MvBackward0", 1, {"self": MATRIX}, np.array([1, 2], F32), (3,), "xᵀ ȳ",
         "[[1 4] [2 5] [3 6]] · [1 2]", "(3, 2)·(2,) → (3,)"),
        ("DotBackward0", 0, {"tensor": ROW}, F32(2), (3,), "ȳ·t", "2 · [2 3 5]", "() → (3,)"),
        ("SumBackward0", 0, {}, F32(2), (3,), "ȳ", "2", "() → (3,)"),
        ("SumBackward1", 0, {"dim": (1,), "keepdim": False}, np.array([1, 2], F32), (2, 3),
         "ȳ", "[1 2]", "(2,) → (2, 3)"),
        ("MeanBackward0", 0, {}, F32(6), (3,), "ȳ/3", "6/3", "() → (3,)"),
        ("TBackward0", 0, {}, MATRIX, (3, 2), "ȳᵀ", "[[1 2 3] [4 5 6]]ᵀ", "(2, 3) → (3, 2)"),
        ("TransposeBackward0", 0, {"dim0": 0, "dim1": 1}, MATRIX, (3, 2), "ȳᵀ", "[[1 2 3] [4 5 6]]ᵀ",
         "(2, 3) → (3, 2)"),
        ("ViewBackward0", 0, {}, MATRIX, (3, 2), "ȳ", "[[1 2 3] [4 5 6]]", "(2, 3) → (3, 2)"),
        ("ExpandBackward0", 0, {}, MATRIX, (3,), "Σ[dim 0] ȳ", "Σ[dim 0] [[1 2 3] [4 5 6]]",
         "(2, 3) → (3,)"),
        ("AddmmBackward0", 1, {"mat2": MATRIX.T, "alpha": 2}, np.ones((1, 2), F32), (1, 3), "2·ȳ wᵀ",
         "2 · [[1 1]] · [[1 2 3] [4 5 6]]", "(1, 2)·(2, 3) → (1, 3)"),
    ],
)  # fmt: skip
def test_vjps_in_matrix_form(node, input, saved, received, shape, formula, numbers, shape_text):
    names = {"self": "x", "mat2": "w", "vec": "v", "tensor": "t"}
    found = vjp(node, input, saved, names, SavedTensor(received, np.shape(received)), shape, "float32")
    assert found is not None and found.shape == shape
    assert typeset(found).plain == formula
    assert typeset(found, numbers=True).plain == numbers
    assert shapes(found).plain == shape_text
    check(typeset(found).latex)
    check(typeset(found, numbers=True).latex)
    unknown = vjp(node, input, {k: SavedTensor(None, v.shape) if isinstance(v, np.ndarray) else v for k, v in
                  saved.items()}, names, SavedTensor(None, np.shape(received)), shape, "float32")  # fmt: skip
    assert unknown is not None and typeset(unknown).plain == formula and unknown.shape == shape


# ── every op ────────────────────────────────────────────────────────────────────────────────────────────────

# Ops that have no derivative: there is nothing to explain.
NO_DERIVATIVE = {
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_not", "bitwise_not", "zeros_like",
    "ones_like", "argmax",
    "all", "any", "argmin", "bincount", "count_nonzero", "histc",
    "isfinite", "isinf", "isnan", "isreal",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "logical_or",
    "logical_xor", "isclose", "floor_divide",
}  # fmt: skip
# Ops of complex numbers, whose steps show only their name.
OF_COMPLEX = {
    "conj", "neg_view", "view_as_real", "view_as_complex", "complex", "polar",
    "_fft_c2c", "_fft_c2r", "_fft_r2c",
}  # fmt: skip
# No case of the table: in place only, of a special argument, or they refuse to be differentiated.
UNTRIED = {
    "fill_tensor",
    "_cdist_backward", "_embedding_bag_backward",
    "_packed_elements",
    "grid_sampler_3d", "upsample_nearest1d",
    "upsample_nearest1d_backward", "upsample_nearest3d", "upsample_nearest3d_backward",
    "linalg_pinv",
    "digamma", "polygamma", "remainder_of_number",
}  # fmt: skip
# Mathematics has no short sign for them: their steps name the node, with shapes and numbers.
BY_NAME = {
    "_cdist_forward", "_pack_padded_sequence_backward", "adaptive_max_pool2d_backward",
    "adaptive_max_pool3d_backward", "grid_sampler_2d", "upsample_linear1d", "upsample_linear1d_backward",
    "upsample_nearest2d", "upsample_nearest2d_backward",
    "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "_prelu_kernel", "_trilinear",
    "avg_pool2d", "avg_pool2d_backward", "avg_pool3d", "avg_pool3d_backward",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "convolution",
    "elu", "elu_backward", "embedding", "embedding_dense_backward", "fmod", "gather",
    "gelu", "gelu_backward", "hardshrink", "hardshrink_backward",
    "hardtanh", "hardtanh_backward", "huber_loss", "huber_loss_backward",
    "index", "index_fill", "index_fill_tensor", "index_put", "index_put_impl",
    "linalg_cross", "log_sigmoid_backward", "masked_fill_tensor", "masked_scatter",
    "masked_scatter_backward", "masked_select", "max_pool2d_with_indices_backward",
    "max_pool3d_with_indices_backward", "nll_loss2d_backward", "nll_loss_backward",
    "normal_float_tensor", "normal_tensor_float", "normal_tensor_tensor", "put", "reflection_pad1d",
    "reflection_pad2d", "reflection_pad3d", "reflection_pad3d_backward", "replication_pad1d",
    "replication_pad2d", "replication_pad3d", "scatter",
    "scatter_add", "slice",
    "smooth_l1_loss", "smooth_l1_loss_backward",
    "softshrink", "softshrink_backward", "take",
}  # fmt: skip
# By name, with the reason.
WITHOUT_FORMULA = {
    "index_add": "it occurs in higher derivatives of views only",
    "index_select": "it occurs in higher derivatives of views only",
    "as_strided": "where elements are repeated the gradient is put together in memory",
    "var": "that nothing is said of dimensions and correction is noted as None",
    "linalg_vector_norm": "that nothing is said of dimensions is noted as None",
    "trace": "the gradient is put into zeros",
    "block_diag": "the gradient is taken apart into blocks",
}


def through_views(L: Any, a: Any) -> Any:
    """A view that is changed through its base has the node of `as_strided`."""
    base = a * 1
    view = base.t()
    base.mul_(2)
    return view * 3


MORE = [
    Case("zero_", lambda L, a: (a * 1).zero_(), ((2, 3),)),
    Case("fill_", lambda L, a: (a * 1).fill_(3.0), ((2, 3),)),
    Case("copy_", lambda L, a, b: (a * 1).copy_(b), ((2, 3), (3,))),
    Case("add_scalar", lambda L, a: F.add_scalar(a, 2), ((3,),)),
    Case("sub_scalar", lambda L, a: F.sub_scalar(a, 2), ((3,),)),
    Case("squeeze_result", lambda L, a: F.squeeze_result(a, 0), ((1, 3),)),
    Case("alias", lambda L, a: F.alias(a), ((3,),)),
    Case("as_strided", lambda L, a: F.as_strided(a, (2,), (1,), 1), ((3,),)),
    Case("sgn", lambda L, a: F.sgn(a), ((3,),)),
    Case("fw_primal", lambda L, a: F.fw_primal(a), ((3,),)),
    Case("fill_ with a tensor", lambda L, a, b: (a * 1).fill_(b), ((2, 3), ())),
    Case("index_select", lambda L, a: F.index_select(a, 0, L.tensor([2, 0])), ((3,),)),
    Case("views", through_views, ((2, 3),)),
]


def sample(case: Case) -> list[tuple[Any, tuple[Any, ...], tuple[Any, ...]]]:
    """Every node of a case that ran, first and second derivative: (node, received, sent)."""
    inputs = [mg.tensor(a, dtype=mg.float64, requires_grad=True) for a in case.arrays("float64")]
    ran: list[tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = []

    def listen(root: Any) -> None:
        todo, seen = [root.grad_fn], set()
        while todo:
            node = todo.pop()
            if node is None or node in seen or variable_of(node) is not None:
                continue
            seen.add(node)
            saved = {k.name: of_saved(k.value) for k in saved_of(node)}
            node.register_hook(lambda sent, received, n=node, s=saved: ran.append(((n, s), received, sent)))
            todo += [n for n, _ in node.next_functions]

    results = case.function(mg, *inputs)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    if any(t.is_complex() for t in results):
        return []
    given = []
    for result in results:
        listen(result)
        weights = [0.3, -0.7, 1.1, 0.4, -0.2, 0.9, 0.5]
        weighted = np.resize(weights, result.shape or 1).reshape(result.shape)
        given.append(mg.tensor(weighted, dtype=mg.float64, requires_grad=True))  # gradients are linear in it
    gradients = mg.autograd.grad(results, inputs, given, create_graph=True, allow_unused=True)
    inputs += given
    for gradient in gradients:
        if gradient is not None and gradient.requires_grad and case.twice:
            listen(gradient)
            mg.autograd.grad(gradient, inputs, mg.ones_like(gradient), allow_unused=True, retain_graph=True)
    return ran


def of_saved(value: Any) -> Any:
    return value.detach().numpy()[()] if is_tensor(value) else value


def explained(node: Any, saved: dict[str, Any], received: Any, sent: Any, i: int) -> Symbol | None:
    """The formula of one gradient, held against what the engine computed."""
    known = {name: value for name, value in saved.items() if value is not None}
    names = {name: name for name, value in known.items() if isinstance(value, np.ndarray | np.generic)}
    incoming, outgoing = of_saved(received[0]), of_saved(sent[i])
    title = node.name().removeprefix("torch::autograd::")
    if is_elementwise(title, len(node.next_functions)):
        found = local_derivative(title, i, known, names, outgoing.dtype.name)
        if found is None:
            return None
        with np.errstate(all="ignore"):
            whole = np.broadcast_to(incoming * found.value, np.shape(incoming))
        computed = F.sum_to(whole, outgoing.shape)
    else:
        shape, dtype = outgoing.shape, outgoing.dtype.name
        found = vjp(title, i, known, names, SavedTensor(incoming, incoming.shape), shape, dtype)
        if found is None:
            return None
        computed = found.value
    digits = 1e-9 if outgoing.dtype == np.float64 else 1e-6
    np.testing.assert_allclose(computed, outgoing, rtol=digits, atol=1e-12, err_msg=typeset(found).plain)
    assert typeset(found).plain
    check(typeset(found).latex)
    return found


def test_every_formula_agrees_with_the_engine_and_how_many_ops_have_one():
    tried: dict[str, bool] = {}
    told = [c for c in (*CASES, *MORE) if c.numbers != "complex" and c.name != "cat with an empty"]
    for case in told:
        for (node, saved), received, sent in sample(case):
            for i, gradient in enumerate(sent):
                op = getattr(node, "op", None)
                if gradient is None or received[0] is None or op is None or op.several:
                    continue
                if op.listed:
                    if any(g is None for g in sent):  # only the trace has the offset
                        continue
                    saved = saved | joined(saved.get("dim"), sent, i)
                found = explained(node, saved, received, sent, i)
                tried[node.op.name] = tried.get(node.op.name, True) and found is not None
    all_ops()
    ops = [entry.op for entry in vars(F).values() if hasattr(entry, "op")]
    every = {op.name for op in ops if op.inputs and not op.several}  # others show only names
    every -= {op.name for op in ops if op.name.endswith("_")}  # in-place forms have the vjps of the others
    differentiable = every - NO_DERIVATIVE - OF_COMPLEX - UNTRIED
    untried = differentiable - set(tried)
    assert not untried, "tried by no case: " + " ".join(sorted(untried))
    without = {name for name, found in tried.items() if not found}
    print(f"{len(differentiable) - len(without)} of {len(differentiable)} ops have a formula")
    assert without - BY_NAME == set(WITHOUT_FORMULA), " ".join((without - BY_NAME) ^ set(WITHOUT_FORMULA))


def test_pytorchs_own_nodes_have_formulas(torch):
    """Nodes of PyTorch, with what they saved, against what PyTorch computes."""
    x = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([[0.2, 0.1], [-0.4, 0.9], [0.6, 0.8]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([0.1, -0.2], dtype=torch.float64, requires_grad=True)
    positive = x * x + 0.5
    results = [
        x @ w, torch.addmm(b, x, w), torch.addmm(b, x, w, beta=2, alpha=3), x.sum(1), x.sum(), x.mean(0),
        x[0], x[:, 1:], x.t(), x.permute(1, 0), x.view(3, 2), x.expand(4, 2, 3), x**2, 2**x, x.exp(),
        x.relu(), torch.where(x > 0, x, 2 * x), x.softmax(1), x.log_softmax(1), x.sigmoid(), x.tanh(),
        torch.nn.functional.leaky_relu(x), positive.log1p(), x.expm1(), positive.rsqrt(), x.tan(),
        x @ w[:, 0], w[:, 0] @ w[:, 1], torch.bmm(x[None], w[None]), positive**positive, x / positive,
        torch.cat([x, positive]), torch.cat([x, w.t()], dim=-1), torch.stack([x, positive], -1),
        torch.nn.functional.mse_loss(x, positive), torch.nn.functional.mse_loss(x, positive, reduction="sum"),
        torch.nn.functional.linear(x, w.t(), b), x.unsqueeze(0).squeeze(0), x.abs(), 1 - x, x.reciprocal(),
    ]  # fmt: skip
    seen = set()
    for result in results:
        node = result.grad_fn
        saved = {k.name: of_saved(k.value) for k in saved_of(node)}
        ran: list[Any] = []
        node.register_hook(lambda sent, received, ran=ran: ran.append((received, sent)))
        torch.autograd.grad(result, (x, w, b), torch.ones_like(result), allow_unused=True, retain_graph=True)
        (received, sent), seen = ran[0], seen | {node.name()}
        for i, gradient in enumerate(sent):
            if gradient is not None:
                saved |= joined(saved.get("dim"), sent, i)
                assert explained(node, saved, received, sent, i) is not None, node.name()
    assert set(BORROWED) <= seen


def joined(dim: Any, sent: Any, i: int) -> dict[str, int]:
    """Where input `i` stands among tensors that were joined."""
    wrapped = dim - 2**64 if isinstance(dim, int) and dim >= 2**63 else dim
    before = [g.shape for g in sent[:i] if tuple(g.shape) not in ((), (0,))]
    along = isinstance(wrapped, int) and all(wrapped < len(shape) for shape in before)
    offset = sum(shape[wrapped] for shape in before) if along else 0
    return {"edges": len(sent), "position": i, "offset": offset}


def test_no_borrowed_formula_is_of_an_op_that_is_declared():
    all_ops()
    ops = [entry.op for entry in vars(F).values() if hasattr(entry, "op")]
    declared = {op.node.__name__ for op in ops if not op.listed}
    assert not declared & set(BORROWED)
    assert set(BORROWED) < set(rules())


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "over", "latex"),
    [
        ("x", "x̄", r"\bar{x}"),
        ("W1", "W̄1", r"\bar{W}_{1}"),
        ("x₂", "x̄₂", r"\bar{x}_{2}"),
        ("loss", "l̅o̅s̅s̅", r"\overline{\mathrm{loss}}"),
        ("my_var", "m̅y̅_̅v̅a̅r̅", r"\overline{\mathrm{my\_var}}"),
        ("3x²", "grad(3x²)", r"\operatorname{grad}(\text{3x}^{2})"),
        ("net(x)₂", "grad(net(x)₂)", r"\operatorname{grad}({\text{net}(\text{x})}_{2})"),
        ("값", "값̄", r"\overline{\text{값}}"),
        ("x @ w", "grad(x @ w)", r"\operatorname{grad}(\text{x}\ @\ \text{w})"),
    ],
)
def test_gradients_are_names_with_a_bar(name, over, latex):
    assert (bar(name).plain, bar(name).latex) == (over, latex)
    check(latex)


HOSTILE = ["<script>alert(1)</script>", r"\input{/etc/passwd}", "a}b{c", "$x$", "a&b", "x^2_3~%#", "`'\"",
           "∂z/∂y", "한글_이름", "a\u202eb", "]]>", "\\", "x" * 99, "!@*()[]|;:,.?/+-"]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_out_of_a_formula(name):
    for formula in (name_formula(name).latex, bar(name).latex):
        check(formula)
        assert not re.search(r"[<>$]|(?<!\\)&|(?<!\\)%|(?<!\\)#", formula.replace(r"\$", ""))


def test_numbers_as_mathematics_writes_them():
    assert array_tree(np.array([4.0, -7, 0.5])).plain == "[4 −7 0.5]"
    assert array_tree(np.array([[1, 2], [3, 4]])).plain == "[[1 2] [3 4]]"
    assert array_tree(np.array([[1, 2], [3, 4]])).latex == r"\begin{bmatrix}1 & 2 \\ 3 & 4\end{bmatrix}"
    assert number_tree(6.4e-7).latex == r"6.4 \times 10^{-7}"
    assert number_tree(math.inf).latex.strip() == r"\infty"
    assert number_tree(-math.inf).latex.strip() == r"-\infty"
    assert number_tree(math.nan).latex == r"\mathrm{nan}"
    check(number_tree(1 + 2j).latex)


def test_a_tree_is_printed_in_three_ways():
    """As plain text with tones, as LaTeX, and as the list that the player draws and says."""
    x, below = name_formula("x"), row(number_tree(2), Formula(BESIDE), name_formula("x"), level=PRODUCT)
    power = Formula(POWER, "", (x, number_tree(-3)), TIGHT)
    tree = row(incoming_number(number_tree(-0.5)), " · ", fraction(power, below), EQUALS, outcome(x))
    assert tones_of(tree) == (("in", "−0.5"), ("", " · x⁻³/(2x) = "), ("out", "x"))
    assert tree.latex == r"-0.5 \cdot \frac{{x}^{-3}}{2 x} = x"
    assert page(tree) == [
        ["in", "-0.5"], " · ", ["fr", ["x", ["sup", ["-3"]]], ["2", "x"]], "=", ["out", "x"],
    ]  # fmt: skip


def test_a_sum_takes_minus_signs_as_operators():
    terms = [number_tree(-1.0), number_tree(-2.0), card_number(Value((), "float32", (-3.0,))), number_tree(4)]
    assert addition(terms).plain == "−1 − 2 − 3. + 4"
    assert page(addition(terms)) == ["-1", " − ", "2", " − ", "3", " + ", "4"]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_an_operator_between_forms(name):
    """The player parts the forms of a line at `=`, so a name has none."""
    assert "=" not in page(name_formula(name + " = 1"))


def test_a_branch_needs_numbers():
    with pytest.raises(Unwritable):
        bool(Symbol("name", shape=(2,), text="x") > 0)
