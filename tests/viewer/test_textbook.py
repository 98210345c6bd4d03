"""Formulas as textbooks write them, for ops whose own vjp is one call of a kernel: convolution, pooling,
normalization, embedding, `max`, norms, attention.

A formula is shown only where its numbers agree with the recorded gradient, so that it stands there says that
it is true.
"""

import numpy as np
import pytest

from minigrad_viz.flow.symbols import GIVEN, NAME, Symbol
from minigrad_viz.flow.textbook import CONVOLUTION, TEXTBOOK
from minigrad_viz.words import CATALOGUES


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


@pytest.mark.quick
def test_every_textbook_formula_says_what_its_letters_are():
    for lang, texts in CATALOGUES.items():
        for name, book in TEXTBOOK.items():
            assert not book.where or book.where in texts, (lang, name)
