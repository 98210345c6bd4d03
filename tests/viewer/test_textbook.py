"""Formulas as textbooks write them, for ops whose own vjp is one call of a kernel: convolution, pooling,
normalization, embedding, `max`, norms, attention.

A formula is shown only where its numbers agree with the recorded gradient, so that it stands there says that
it is true.
"""

import re

import numpy as np
import pytest
from cells import traced
from stepping import frames

from minigrad_viz.flow.symbols import GIVEN, NAME, Symbol
from minigrad_viz.flow.textbook import CONVOLUTION, TEXTBOOK
from minigrad_viz.shell.report import Report
from minigrad_viz.words import CATALOGUES

IMAGE = "x = torch.arange(16.0).reshape(1, 1, 4, 4).sin().requires_grad_()\n"
TABLE = "x = torch.tensor([[3.0, 4.0, 1.0], [1.0, -1.0, 0.5]], requires_grad=True)\n"
END = "z = (y ** 3).sum()\nz.backward()\n"

FORMULAS = {
    "layer_norm": (
        TABLE + "y = torch.nn.LayerNorm(3)(x)\n" + END,
        "x̄ = (γ ⊙ ȳ − mean(γ ⊙ ȳ) − x̂ ⊙ mean(γ ⊙ ȳ ⊙ x̂))/σ = [[−1.99 1.33 0.663] [1.69 0.564 −2.26]]"
        "   x̄[1, 2] = (1 · 0.462 − 3 − 0.392 · (−1.58))/0.85 = −2.26",
    ),
    "layer_norm_without_weight": (
        TABLE + "y = torch.nn.functional.layer_norm(x, (3,))\n" + END,
        "x̄ = (ȳ − mean(ȳ) − x̂ ⊙ mean(ȳ ⊙ x̂))/σ = ",
    ),
    "batch_norm": (
        TABLE + "y = torch.nn.BatchNorm1d(3)(x)\n" + END, "x̄ = γ/σ ⊙ (ȳ − mean(ȳ) − x̂ ⊙ mean(ȳ ⊙ x̂)) = ",
    ),
    "batch_norm_of_images": (
        "x = torch.arange(32.0).reshape(2, 2, 2, 4).sin().requires_grad_()\n"
        "y = torch.nn.BatchNorm2d(2)(x)\n" + END,
        "x̄ = γ/σ ⊙ (ȳ − mean(ȳ) − x̂ ⊙ mean(ȳ ⊙ x̂))   "
        "x̄[1, 0, 1, 2] = 1/0.68 · (0.00172 − 3 − 0.024 · 0.157) = −4.42",
    ),
    "batch_norm_in_evaluation": (
        TABLE + "y = torch.nn.BatchNorm1d(3).eval()(x)\n" + END, "x̄ = γ/σ ⊙ ȳ = ",
    ),
    "convolution": (
        IMAGE + "w = torch.tensor([[[[1.0, -2.0], [0.5, 3.0]]]], requires_grad=True)\n"
        "y = torch.nn.functional.conv2d(x, w)\n" + END,
        "w̄[i, j] = Σᵤᵥ x[u+i, v+j]·ȳ[u, v] = [[[[−12.4 18.5] [−14.5 −32.2]]]]"
        "   w̄[0, 0, 1, 1] = −1 · 71 + (−0.959) · 73.2 + 0.991 · 65.8 + … = −32.2",
    ),
    "convolution_of_an_image": (
        IMAGE + "w = torch.tensor([[[[1.0, -2.0], [0.5, 3.0]]]])\n"
        "y = torch.nn.functional.conv2d(x, w, stride=2, padding=1)\n" + END,
        "x̄[a, b] = Σᵢⱼ w[i, j]·ȳ[(a−i+1)/2, (b−j+1)/2]   ",
    ),
    "convolution_of_channels": (
        "x = torch.arange(36.0).reshape(2, 2, 9).sin()\nw = torch.arange(12.0).reshape(3, 2, 2).cos()\n"
        "b = torch.zeros(3, requires_grad=True)\ny = torch.nn.functional.conv1d(x, w, b, 3)\n" + END,
        "b̄[o] = Σₙᵤ ȳ[n, o, u] = ",
    ),
    "convolution_of_groups": (
        "x = torch.arange(64.0).reshape(1, 4, 4, 4).sin()\n"
        "w = torch.arange(48.0).reshape(6, 2, 2, 2).cos().requires_grad_()\n"
        "y = torch.nn.functional.conv2d(x, w, groups=2)\n" + END,
        "w̄[o, c, i, j] = Σᵤᵥ x[c+2⌊o/3⌋, u+i, v+j]·ȳ[o, u, v]   w̄[",
    ),
    "convolution_of_groups_input": (
        "x = torch.arange(64.0).reshape(1, 4, 4, 4).sin().requires_grad_()\n"
        "w = torch.arange(48.0).reshape(6, 2, 2, 2).cos()\n"
        "y = torch.nn.functional.conv2d(x, w, groups=2)\n" + END,
        "x̄[c, a, b] = Σₒᵢⱼ w[o+3⌊c/2⌋, c−2⌊c/2⌋, i, j]·ȳ[o+3⌊c/2⌋, a−i, b−j]   x̄[",
    ),
    "depthwise_convolution": (
        "x = torch.arange(18.0).reshape(2, 3, 3).sin().requires_grad_()\n"
        "w = torch.arange(6.0).reshape(3, 1, 2).cos()\n"
        "y = torch.nn.functional.conv1d(x, w, groups=3)\n" + END,
        "x̄[n, c, a] = Σᵢ w[c, i]·ȳ[n, c, a−i]   x̄[",
    ),
    "transposed_convolution": (
        "x = torch.arange(16.0).reshape(2, 2, 4).sin().requires_grad_()\n"
        "w = torch.arange(12.0).reshape(2, 3, 2).cos()\n"
        "y = torch.nn.functional.conv_transpose1d(x, w, stride=2, padding=1)\n" + END,
        "x̄[n, c, u] = Σₒᵢ w[c, o, i]·ȳ[n, o, 2u+i−1]   x̄[",
    ),
    "transposed_convolution_kernel": (
        "x = torch.arange(16.0).reshape(2, 2, 4).sin()\n"
        "w = torch.arange(12.0).reshape(2, 3, 2).cos().requires_grad_()\n"
        "y = torch.nn.functional.conv_transpose1d(x, w, stride=2, padding=1)\n" + END,
        "w̄[c, o, i] = Σₙᵤ x[n, c, u]·ȳ[n, o, 2u+i−1]   w̄[",
    ),
    "group_norm": (
        "x = torch.arange(32.0).reshape(2, 4, 2, 2).sin().requires_grad_()\n"
        "y = torch.nn.GroupNorm(2, 4)(x)\n" + END,
        "x̄ = (γ ⊙ ȳ − mean(γ ⊙ ȳ) − x̂ ⊙ mean(γ ⊙ ȳ ⊙ x̂))/σ   x̄[",
    ),
    "max_pool": (
        IMAGE + "y = torch.nn.functional.max_pool2d(x, 2)\n" + END,
        "x̄[a, b] = Σᵤᵥ [(a, b) = argmax window(u, v)]·ȳ[u, v]   x̄[0, 0, 3, 2] = 2.94",
    ),
    "average_pool": (
        IMAGE + "y = torch.nn.functional.avg_pool2d(x, 2)\n" + END, "x̄[a, b] = ȳ[⌊a/2⌋, ⌊b/2⌋]/4   ",
    ),
    "adaptive_pool": (
        IMAGE + "y = torch.nn.functional.adaptive_avg_pool2d(x, 2)\n" + END,
        "x̄[a, b] = ȳ[⌊a/2⌋, ⌊b/2⌋]/4   ",
    ),
    "embedding": (
        "w = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)\n"
        "i = torch.tensor([0, 2, 0])\ny = torch.nn.functional.embedding(i, w)\n"
        "z = (y * torch.tensor([[1.0, 2.0], [3.0, 5.0], [4.0, 6.0]])).sum()\nz.backward()\n",
        "w̄[v] = Σᵢ [i[i] = v]·ȳ[i] = [[5 8] [0 0] [3 5]]   w̄[0, 1] = 6 + 2 = 8",
    ),
    "max": (
        TABLE + "y = x.max(dim=1).values\n" + END,
        "x̄[i, j] = ȳ[i]·[j = indices[i]] = [[0 48 0] [3 0 0]]",
    ),
    "min": (TABLE + "y = x.min(dim=0).values\n" + END, "x̄[i, j] = ȳ[j]·[i = indices[j]] = "),
    "norm": (
        "x = torch.tensor([3.0, 4.0], requires_grad=True)\ny = x.norm()\nz = y * 2\nz.backward()\n",
        "x̄ = ȳ·x/y = 2 · [0.6 0.8] = [1.2 1.6]",
    ),
    "norm_of_rows": (TABLE + "y = x.norm(dim=1)\n" + END, "x̄ = ȳ ⊙ x/y = "),
    "1-norm": (
        "x = torch.tensor([3.0, -4.0], requires_grad=True)\ny = x.norm(1)\nz = y * 2\nz.backward()\n",
        "x̄ = ȳ·sign x = 2 · [1 −1] = [2 −2]",
    ),
}  # fmt: skip


def formulas(cell, library):
    """The formulas of the backward steps."""
    steps = frames(cell, library)
    return [line.text for f in steps if f.phase == "backward" for line in f.lines if line.kind == "vjp"]


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_is_that_of_textbooks(name, library):
    cell, expected = FORMULAS[name]
    found = formulas(cell, library)
    assert any(text.startswith(expected) for text in found), found


def test_attention_of_the_library_has_its_formulas():
    torch = pytest.importorskip("torch")
    cell = "".join(f"{n} = torch.arange(12.0).reshape(1, 1, 3, 4).{f}().requires_grad_()\n"
                   for n, f in (("q", "sin"), ("k", "cos"), ("v", "tanh")))  # fmt: skip
    attention = "y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
    found = formulas(cell + attention + END, torch)
    back = "(A ⊙ (ȳ vᵀ − Σ (A ⊙ ȳ vᵀ)))"
    for start in (f"q̄ = {back} k/√4   ", f"k̄ = {back}ᵀ q/√4   ", "v̄ = Aᵀ ȳ   "):
        assert any(text.startswith(start) for text in found), found


def test_a_convolution_is_the_sum_that_is_written():
    """With stride, padding and dilation, several samples and channels: held against PyTorch's gradients."""
    torch = pytest.importorskip("torch")
    for stride, padding, dilation in ((1, 0, 1), (2, 1, 1), (1, 2, 2), (3, 0, 1)):
        x = torch.randn(2, 3, 7, 6, requires_grad=True)
        w = torch.randn(4, 3, 3, 2, requires_grad=True)
        y = torch.nn.functional.conv2d(x, w, None, stride, padding, dilation)
        came = torch.randn_like(y)
        y.backward(came)
        g = Symbol(GIVEN, value=came.numpy(), text="y")
        way = (stride,) * 2, (padding,) * 2, (dilation,) * 2, 1, False
        image, kernel = (
            Symbol(NAME, value=t.detach().numpy(), text=name) for t, name in ((x, "x"), (w, "w"))
        )
        for name, result, tensor in (
            ("weight", CONVOLUTION["weight"](g, image, w.shape, *way), w),
            ("input", CONVOLUTION["input"](g, kernel, x.shape, *way), x),
        ):
            np.testing.assert_allclose(result.value, tensor.grad.numpy(), rtol=1e-3, atol=1e-4, err_msg=name)


def test_large_arrays_have_the_formula_with_shapes(library):
    """And the largest number, where the gradient is small enough to be known."""
    cell = (
        "x = torch.arange(200.0).reshape(2, 1, 10, 10).sin()\n"
        "w = torch.tensor([[[[1.0, -2.0], [0.5, 3.0]]]], requires_grad=True)\n"
        "y = torch.nn.functional.conv2d(x, w)\n"
    )
    (found,) = (text for text in formulas(cell + END, library) if text.startswith("w̄"))
    assert re.fullmatch(r"w̄\[i, j\] = Σₙᵤᵥ x\[n, u\+i, v\+j\]·ȳ\[n, u, v\]   w̄\[0, 0, 1, 1\] = −\d+", found)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_letters_of_a_formula_are_explained(lang, library):
    said = Report(traced(FORMULAS["layer_norm"][0], library), lang=lang).text(steps=True)
    assert CATALOGUES[lang]["where_layer_norm"] in said
    assert CATALOGUES[lang]["where_pool"] not in said


@pytest.mark.quick
def test_every_textbook_formula_says_what_its_letters_are():
    for lang, texts in CATALOGUES.items():
        for name, book in TEXTBOOK.items():
            assert not book.where or book.where in texts, (lang, name)
