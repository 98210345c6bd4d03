"""The sentence for what an op's backward does: there in both languages, and true.

Each row has an op, its inputs, and the gradients of the inputs as the sentence says them, computed from the
gradient `g` that arrives, the inputs and the `result`. The op runs on minigrad and on PyTorch.
"""

import re
import runpy

import numpy as np
import pytest
from cells import traced

import minigrad
from minigrad_viz import record
from minigrad_viz.shell.report import Report
from minigrad_viz.steps.op_sentences import KEYS, backward_sentence, box_sentence, key_of
from minigrad_viz.words import CATALOGUES

pytorch = pytest.importorskip("torch")

A, B = [[-1.5, 0.5, 2.0], [0.25, -0.75, 1.0]], [[0.5, 1.5, -2.0], [2.0, -0.25, 1.0]]
P, Q = [[0.3, 0.5, 0.9], [0.2, 0.7, 0.6]], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
C = [[2.0, 0.5, 1.0], [1.0, 3.0, 2.0], [0.5, 1.0, 4.0]]
IMAGE = (np.arange(16.0).reshape(1, 1, 4, 4) % 7 + np.arange(16.0).reshape(1, 1, 4, 4) / 50).tolist()
KERNEL = [[[[1.0, -2.0], [0.5, 3.0]]]]
TIES = [[1.0, 3.0, 3.0], [0.5, 3.0, 2.0]]


def spread(sums, like, dim):
    """A row of sums for every element that is in it."""
    return sums.unsqueeze(dim).expand_as(like)


def one_hot(t, target, n):
    return t.eye(n, dtype=t.float64)[target]


def windows(t, image):
    """The four windows of two by two of an image of four by four, in rows."""
    return image.reshape(2, 2, 2, 2).permute(0, 2, 1, 3).reshape(4, 4)


def kernel_gradient(t, g, x):
    """Each number of a kernel of two by two: what it saw at all positions, times what came back there."""
    seen = [[(x[0, 0, i : i + 3, j : j + 3] * g[0, 0]).sum() for j in range(2)] for i in range(2)]
    return t.stack([t.stack(row) for row in seen]).reshape(1, 1, 2, 2)


def largest(t, g, x):
    rows = windows(t, x[0, 0])
    return t.nn.functional.one_hot(rows.argmax(1), 4) * g.reshape(4, 1)


def F(t):
    return t.nn.functional


def S(t, x):
    return 1 / (1 + t.exp(-x))


ROWS = {
    "AbsBackward0": (lambda t, x: x.abs(), [[[-2.0, 0.0, 3.0]]], lambda t, g, r, x: [g * t.sign(x)]),
    "NegBackward0": (lambda t, x: -x, [A], lambda t, g, r, x: [-g]),
    "AddBackward0": (lambda t, x, y: x + y, [A, B], lambda t, g, r, x, y: [g, g]),
    "SubBackward0": (lambda t, x, y: x - y, [A, B], lambda t, g, r, x, y: [g, -g]),
    "RsubBackward1": (lambda t, x: 2 - x, [A], lambda t, g, r, x: [-g]),
    "MulBackward0": (lambda t, x, y: x * y, [A, B], lambda t, g, r, x, y: [g * y, g * x]),
    "DivBackward0": (lambda t, x, y: x / y, [A, B], lambda t, g, r, x, y: [g / y, g / y * -r]),
    "ExpBackward0": (lambda t, x: x.exp(), [A], lambda t, g, r, x: [g * r]),
    "Exp2Backward0": (lambda t, x: t.exp2(x), [A], lambda t, g, r, x: [g * r * np.log(2)]),
    "Expm1Backward0": (lambda t, x: t.expm1(x), [A], lambda t, g, r, x: [g * (r + 1)]),
    "LogBackward0": (lambda t, x: x.log(), [P], lambda t, g, r, x: [g / x]),
    "Log2Backward0": (lambda t, x: x.log2(), [P], lambda t, g, r, x: [g / x / np.log(2)]),
    "Log10Backward0": (lambda t, x: x.log10(), [P], lambda t, g, r, x: [g / x / np.log(10)]),
    "Log1PBackward0": (lambda t, x: x.log1p(), [P], lambda t, g, r, x: [g / (1 + x)]),
    "SqrtBackward0": (lambda t, x: x.sqrt(), [P], lambda t, g, r, x: [g / (2 * r)]),
    "RsqrtBackward0": (lambda t, x: x.rsqrt(), [P], lambda t, g, r, x: [g * r * r * r * -0.5]),
    "PowBackward0": (lambda t, x: x**3, [A], lambda t, g, r, x: [g * 3 * x * x]),
    "PowBackward1": (
        lambda t, x, y: x**y, [P, B], lambda t, g, r, x, y: [g * y * x ** (y - 1), g * r * x.log()],
    ),
    "PowBackward2": (lambda t, y: 2.0**y, [B], lambda t, g, r, y: [g * r * np.log(2)]),
    "ReciprocalBackward0": (lambda t, x: x.reciprocal(), [A], lambda t, g, r, x: [g * -r * r]),
    "SinBackward0": (lambda t, x: x.sin(), [A], lambda t, g, r, x: [g * x.cos()]),
    "CosBackward0": (lambda t, x: x.cos(), [A], lambda t, g, r, x: [g * -x.sin()]),
    "TanBackward0": (lambda t, x: x.tan(), [A], lambda t, g, r, x: [g * (1 + r * r)]),
    "TanhBackward0": (lambda t, x: x.tanh(), [A], lambda t, g, r, x: [g * (1 - r * r)]),
    "SigmoidBackward0": (lambda t, x: x.sigmoid(), [A], lambda t, g, r, x: [g * r * (1 - r)]),
    "ReluBackward0": (lambda t, x: x.relu(), [A], lambda t, g, r, x: [t.where(r == 0, g * 0, g)]),
    "LeakyReluBackward0": (
        lambda t, x: F(t).leaky_relu(x, 0.1), [A], lambda t, g, r, x: [t.where(x > 0, g, g * 0.1)],
    ),
    "EluBackward0": (
        lambda t, x: F(t).elu(x), [A], lambda t, g, r, x: [g * t.where(x > 0, x * 0 + 1, x.exp())],
    ),
    "GeluBackward0": (
        lambda t, x: F(t).gelu(x), [A],
        lambda t, g, r, x: [g * ((1 + t.erf(x / 2**0.5)) / 2 + x * t.exp(-x * x / 2) / (2 * np.pi) ** 0.5)],
    ),
    "SiluBackward0": (
        lambda t, x: F(t).silu(x), [A], lambda t, g, r, x: [g * S(t, x) * (1 + x * (1 - S(t, x)))],
    ),
    "SoftplusBackward0": (
        lambda t, x: F(t).softplus(x, 2.0, 3.0), [A],
        lambda t, g, r, x: [t.where(x * 2 > 3, g, g * S(t, 2 * x))],
    ),
    "LogSigmoidBackward0": (lambda t, x: F(t).logsigmoid(x), [A], lambda t, g, r, x: [g * (1 - S(t, x))]),
    "HardtanhBackward0": (
        lambda t, x: F(t).hardtanh(x), [A], lambda t, g, r, x: [t.where((x > -1) & (x < 1), g, g * 0)],
    ),
    "ClampMinBackward0": (
        lambda t, x: t.clamp_min(x, 0.25), [A], lambda t, g, r, x: [t.where(r == x, g, g * 0)],
    ),
    "ClampBackward1": (
        lambda t, x: x.clamp(-1, 1), [A], lambda t, g, r, x: [t.where(r == x, g, g * 0)],
    ),
    "MaximumBackward0": (
        lambda t, x, y: t.maximum(x, y), [TIES, C[:2]],
        lambda t, g, r, x, y: [g * (1 * (x > y) + 0.5 * (x == y)), g * (1 * (y > x) + 0.5 * (x == y))],
    ),
    "MinimumBackward0": (
        lambda t, x, y: t.minimum(x, y), [TIES, C[:2]],
        lambda t, g, r, x, y: [g * (1 * (x < y) + 0.5 * (x == y)), g * (1 * (y < x) + 0.5 * (x == y))],
    ),
    "WhereBackward0": (
        lambda t, x, y: t.where(x.detach() > 0, x, y), [A, B],
        lambda t, g, r, x, y: [g * (x > 0), g * (x <= 0)],
    ),
    "MaskedFillBackward0": (
        lambda t, x: x.masked_fill(x.detach() > 0, 9.0), [A], lambda t, g, r, x: [g * (x <= 0)],
    ),
    "SumBackward0": (lambda t, x: x.sum(), [A], lambda t, g, r, x: [g.expand_as(x)]),
    "SumBackward1": (lambda t, x: x.sum(1), [A], lambda t, g, r, x: [spread(g, x, 1)]),
    "MeanBackward0": (lambda t, x: x.mean(), [A], lambda t, g, r, x: [g.expand_as(x) / 6]),
    "MeanBackward1": (lambda t, x: x.mean(0), [A], lambda t, g, r, x: [spread(g, x, 0) / 2]),
    "ProdBackward0": (lambda t, x: x.prod(), [A], lambda t, g, r, x: [g * r / x]),
    "ProdBackward1": (lambda t, x: x.prod(1), [A], lambda t, g, r, x: [spread(g * r, x, 1) / x]),
    "VarBackward0": (lambda t, x: x.var(), [A], lambda t, g, r, x: [g * (x - x.mean()) * 2 / 5]),
    "StdBackward0": (lambda t, x: x.std(), [A], lambda t, g, r, x: [g * (x - x.mean()) / r / 5]),
    "MaxBackward0": (
        lambda t, x: x.max(1).values, [A],
        lambda t, g, r, x: [one_hot(t, x.argmax(1), 3) * g.unsqueeze(1)],
    ),
    "MaxBackward1": (lambda t, x: x.max(), [TIES], lambda t, g, r, x: [g * (x == r) / 3]),
    "MinBackward1": (lambda t, x: x.min(), [TIES], lambda t, g, r, x: [g * (x == r)]),
    "AmaxBackward0": (
        lambda t, x: x.amax(1), [TIES],
        lambda t, g, r, x: [spread(g, x, 1) * (x == spread(r, x, 1)) / t.tensor([[2.0], [1.0]])],
    ),
    "LogsumexpBackward0": (
        lambda t, x: x.logsumexp(1), [A], lambda t, g, r, x: [spread(g, x, 1) * x.softmax(1)],
    ),
    "CumsumBackward0": (lambda t, x: x.cumsum(1), [A], lambda t, g, r, x: [g.flip(1).cumsum(1).flip(1)]),
    "SoftmaxBackward0": (
        lambda t, x: x.softmax(1), [A], lambda t, g, r, x: [r * (g - (g * r).sum(1, keepdim=True))],
    ),
    "LogSoftmaxBackward0": (
        lambda t, x: x.log_softmax(1), [A], lambda t, g, r, x: [g - r.exp() * g.sum(1, keepdim=True)],
    ),
    "NllLossBackward0": (
        lambda t, x: F(t).nll_loss(x, t.tensor([2, 0])), [A],
        lambda t, g, r, x: [-g / 2 * one_hot(t, t.tensor([2, 0]), 3)],
    ),
    "MseLossBackward0": (
        lambda t, x: F(t).mse_loss(x, t.tensor(B)), [A],
        lambda t, g, r, x: [g * 2 * (x - t.tensor(B)) / 6],
    ),
    "SmoothL1LossBackward0": (
        lambda t, x: F(t).smooth_l1_loss(x, t.tensor(B), reduction="sum"), [A],
        lambda t, g, r, x: [g * (x - t.tensor(B)).clamp(-1, 1)],
    ),
    "HuberLossBackward0": (
        lambda t, x: F(t).huber_loss(x, t.tensor(B).double(), reduction="sum", delta=0.5), [A],
        lambda t, g, r, x: [g * (x - t.tensor(B)).clamp(-0.5, 0.5)],
    ),
    "BinaryCrossEntropyBackward0": (
        lambda t, x: F(t).binary_cross_entropy(x, t.tensor(Q).double(), reduction="sum"), [P],
        lambda t, g, r, x: [g * (x - t.tensor(Q)) / (x * (1 - x))],
    ),
    "BinaryCrossEntropyWithLogitsBackward0": (
        lambda t, x: F(t).binary_cross_entropy_with_logits(x, t.tensor(Q).double()), [A],
        lambda t, g, r, x: [g * (S(t, x) - t.tensor(Q)) / 6],
    ),
    "MmBackward0": (lambda t, x, y: x @ y, [A, C], lambda t, g, r, x, y: [g @ y.mT, x.mT @ g]),
    "BmmBackward0": (lambda t, x, y: t.bmm(x, y), [[A], [C]], lambda t, g, r, x, y: [g @ y.mT, x.mT @ g]),
    "AddmmBackward0": (
        lambda t, b, x, y: t.addmm(b, x, y, beta=3, alpha=2), [[1.0, 2.0, 3.0], A, C],
        lambda t, g, r, b, x, y: [
            3 * g.sum(0), 2 * g @ y.mT, 2 * sum(t.outer(row, seen) for row, seen in zip(x, g)),
        ],
    ),
    "MvBackward0": (lambda t, x, y: x @ y, [C, A[0]], lambda t, g, r, x, y: [t.outer(g, y), x.mT @ g]),
    "DotBackward0": (lambda t, x, y: x @ y, [A[0], B[0]], lambda t, g, r, x, y: [g * y, g * x]),
    "ViewBackward0": (lambda t, x: x.view(3, 2), [A], lambda t, g, r, x: [g.reshape(2, 3)]),
    "UnsqueezeBackward0": (lambda t, x: x.unsqueeze(0), [A], lambda t, g, r, x: [g[0]]),
    "TBackward0": (lambda t, x: x.t(), [A], lambda t, g, r, x: [g.mT]),
    "PermuteBackward0": (lambda t, x: x.permute(1, 0), [A], lambda t, g, r, x: [g.mT]),
    "TransposeBackward0": (lambda t, x: x.transpose(0, 1), [A], lambda t, g, r, x: [g.mT]),
    "ExpandBackward0": (lambda t, x: x.expand(4, 2, 3), [A], lambda t, g, r, x: [g.sum(0)]),
    "RepeatBackward0": (lambda t, x: x.repeat(4, 1, 1), [A], lambda t, g, r, x: [g.sum(0)]),
    "CatBackward0": (lambda t, x, y: t.cat([x, y]), [A, B], lambda t, g, r, x, y: [g[:2], g[2:]]),
    "StackBackward0": (lambda t, x, y: t.stack([x, y]), [A, B], lambda t, g, r, x, y: [g[0], g[1]]),
    "SplitBackward0": (
        lambda t, x: x.split(2, 1)[0], [A], lambda t, g, r, x: [t.cat([g, g[:, :1] * 0], 1)],
    ),
    "UnbindBackward0": (lambda t, x: x.unbind(0)[1], [A], lambda t, g, r, x: [t.stack([g * 0, g])]),
    "SliceBackward0": (
        lambda t, x: x[:, 1:], [A], lambda t, g, r, x: [t.cat([g[:, :1] * 0, g], 1)],
    ),
    "SelectBackward0": (lambda t, x: x[1], [A], lambda t, g, r, x: [t.stack([g * 0, g])]),
    "DiagonalBackward0": (lambda t, x: x.diagonal(), [C], lambda t, g, r, x: [t.diag(g)]),
    "IndexBackward0": (
        lambda t, x: x[t.tensor([1, 1])], [A], lambda t, g, r, x: [t.stack([g[0] * 0, g[0] + g[1]])],
    ),
    "IndexSelectBackward0": (
        lambda t, x: x.index_select(0, t.tensor([1, 1])), [A],
        lambda t, g, r, x: [t.stack([g[0] * 0, g[0] + g[1]])],
    ),
    "GatherBackward0": (
        lambda t, x: x.gather(0, t.tensor([[1, 1, 1], [1, 1, 1]])), [A],
        lambda t, g, r, x: [t.stack([g[0] * 0, g[0] + g[1]])],
    ),
    "EmbeddingBackward0": (
        lambda t, x: F(t).embedding(t.tensor([1, 1]), x), [A],
        lambda t, g, r, x: [t.stack([g[0] * 0, g[0] + g[1]])],
    ),
    "FlipBackward0": (lambda t, x: x.flip(1), [A], lambda t, g, r, x: [g.flip(1)]),
    "RollBackward0": (lambda t, x: x.roll(1, 1), [A], lambda t, g, r, x: [g.roll(-1, 1)]),
    "TrilBackward0": (lambda t, x: x.tril(), [C], lambda t, g, r, x: [t.where(r == 0, g * 0, g)]),
    "TriuBackward0": (lambda t, x: x.triu(), [C], lambda t, g, r, x: [t.where(r == 0, g * 0, g)]),
    "ConstantPadNdBackward0": (
        lambda t, x: F(t).pad(x, (1, 1)), [A], lambda t, g, r, x: [g[:, 1:-1]],
    ),
    "CloneBackward0": (lambda t, x: x.clone(), [A], lambda t, g, r, x: [g]),
    "ToCopyBackward0": (lambda t, x: x.float(), [A], lambda t, g, r, x: [g.double()]),
    "ConvolutionBackward0": (
        lambda t, x, k: F(t).conv2d(x, k), [IMAGE, KERNEL],
        lambda t, g, r, x, k: [None, kernel_gradient(t, g, x)],
    ),
    "MaxPool2DWithIndicesBackward0": (
        lambda t, x: F(t).max_pool2d(x, 2), [IMAGE],
        lambda t, g, r, x: [largest(t, g, x).reshape(2, 2, 2, 2).permute(0, 2, 1, 3).reshape(1, 1, 4, 4)],
    ),
    "AvgPool2DBackward0": (
        lambda t, x: F(t).avg_pool2d(x, 2), [IMAGE],
        lambda t, g, r, x: [g.repeat_interleave(2, 2).repeat_interleave(2, 3) / 4],
    ),
    "UpsampleNearest2DBackward0": (
        lambda t, x: F(t).interpolate(x, scale_factor=2), [IMAGE],
        lambda t, g, r, x: [g.reshape(1, 1, 4, 2, 4, 2).sum((3, 5))],
    ),
    "LinalgVectorNormBackward0": (lambda t, x: t.linalg.vector_norm(x), [A], lambda t, g, r, x: [g * x / r]),
}  # fmt: skip


def run(torch, name):
    """The node of an op that ran, the recorded trace, and the gradients of its inputs as they are and as the
    sentence says."""
    op, inputs, said = ROWS[name]
    with record() as recording:
        leaves = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in inputs]
        result = op(torch, *leaves)
        g = torch.arange(1, result.numel() + 1).reshape(result.shape).to(result.dtype) / 4
        result.backward(g)
    node = result.grad_fn.name()
    values = [g, result.detach(), *(leaf.detach() for leaf in leaves)]
    return node, recording.trace, [leaf.grad for leaf in leaves], said(torch, *values)


@pytest.mark.parametrize("torch", [minigrad, pytorch], ids=["minigrad", "pytorch"])
@pytest.mark.parametrize("name", ROWS)
def test_a_sentence_is_true(torch, name):
    node, trace, gradients, said = run(torch, name)
    assert key_of(node) == KEYS[name]
    for gradient, expected in zip(gradients, said, strict=True):
        if expected is not None:
            np.testing.assert_allclose(gradient.numpy(), expected.numpy(), rtol=2e-6)
    assert backward_sentence(node, "en") in Report(trace).text(steps=True)


@pytest.mark.quick
def test_every_sentence_is_there_in_both_languages():
    keys = {*KEYS.values(), "back_cross_entropy"}
    for lang, texts in CATALOGUES.items():
        assert keys | {"back_label"} == {key for key in texts if key.startswith("back_")}, lang
        assert all(texts[key].endswith((".", "다.")) for key in keys)
    assert all(re.search("[가-힣]", CATALOGUES["ko"][key]) for key in keys)


# What a sentence may speak of only where the op has an argument for it.
ARGUMENTS = {
    "mask": "mask", "exponent": "exponent", "beta": "beta", "threshold": "threshold", "delta": "delta",
    "correction": "correction", "target": "target", "kernel": "kernel", "negative slope": "negative_slope",
    "dimension": "dim", "alpha": "alpha",
}  # fmt: skip
ELSEWHERE = {"transpose", "convolution"}  # permute has dims; a kernel is PyTorch's weight


@pytest.mark.quick
def test_a_sentence_names_only_arguments_that_the_op_has():
    schemas = {}
    for schema in pytorch._C._jit_get_all_schemas():
        names = schemas.setdefault(schema.name.removeprefix("aten::").lower().replace("_", ""), set())
        names.update(argument.name for argument in schema.arguments)
    checked = 0
    for node, key in KEYS.items():
        has = schemas.get(re.sub(r"Backward\d$", "", node).lower())
        if has is None or key.removeprefix("back_") in ELSEWHERE:
            continue
        sentence = CATALOGUES["en"][key]
        for word, argument in ARGUMENTS.items():
            if re.search(rf"\b{word}\b", sentence):
                assert argument in has, (node, word)
                checked += 1
    assert checked > 10


def test_a_function_of_the_reader_has_no_sentence_of_an_op():
    """It may be called like one."""

    class Relu(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with record() as recording:
        x = minigrad.tensor(3.0, requires_grad=True)
        Relu.apply(x).backward()
    assert "What ReLU" not in Report(recording.trace).text(steps=True)


SCRIPT = """
import {library} as torch
from minigrad_viz import record
target, weight = torch.tensor([2, 0, -100]), torch.tensor([1.0, 2.0, 4.0])
with record() as recording:
    x = torch.tensor([[-1.5, 0.5, 2.0], [0.25, -0.75, 1.0], [1.0, 2.0, 3.0]], requires_grad=True)
    loss = torch.nn.functional.cross_entropy(x, target{weight})
    loss.backward()
"""


@pytest.mark.parametrize("library", ["minigrad", "torch"])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_is_one_sentence(tmp_path, library, weighted):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(library=library, weight=", weight" if weighted else ""))
    names = runpy.run_path(str(script))
    torch, x, target = names["torch"], names["x"], names["target"][:2]
    parts = names["weight"][target] if weighted else torch.ones(2)
    expected = (x[:2].detach().softmax(1) - torch.eye(3)[target]) * (parts / parts.sum()).unsqueeze(1)
    np.testing.assert_allclose(x.grad[:2].numpy(), expected.numpy(), rtol=1e-5)
    assert not x.grad[2].numpy().any()
    assert "softmax minus one-hot" in names["recording"].report.text(steps=True)


@pytest.mark.quick
def test_a_box_has_the_sentence_of_the_one_thing_that_it_does():
    assert box_sentence(["AddmmBackward0", "TBackward0"], "en").startswith("Every row of the batch")
    assert box_sentence(["ReluBackward", "ViewBackward"], "en").startswith("What ReLU set to 0")
    assert box_sentence(["MmBackward0", "AddBackward0"], "en") == box_sentence(["Unknown"], "en") == ""


def test_a_normalized_layer_sends_back_no_part_that_is_constant():
    for norm, x in ((pytorch.nn.LayerNorm(3), A), (pytorch.nn.BatchNorm1d(3), [*A, *B])):
        x = pytorch.tensor(x, requires_grad=True)
        dim = 1 if isinstance(norm, pytorch.nn.LayerNorm) else 0
        (norm(x) * pytorch.arange(1.0, x.numel() + 1).reshape(x.shape)).sum().backward()
        np.testing.assert_allclose(x.grad.sum(dim).numpy(), 0, atol=1e-5)


def test_a_layer_with_parameters_has_the_sentence_of_its_op(library):
    """Also where the last node of its card stores the gradient of a parameter."""
    cell = "norm = torch.nn.LayerNorm(3)\nx = torch.tensor([[1.0, 2.0, 4.0]], requires_grad=True)\n"
    report = Report(traced(cell + "loss = (norm(x) * x).sum()\nloss.backward()\n", library), lang="en")
    said = backward_sentence("NativeLayerNormBackward0", "en")
    assert any(said in line.text for frame in report.acts[-1].frames for line in frame.lines)
