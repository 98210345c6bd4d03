"""What is refused, in PyTorch's words, what an error leaves behind, and the grad modes."""

import pytest
from calls import assert_same_ends
from functions import leaf

import minigrad

pytestmark = pytest.mark.quick


ERRORS = """
L.tensor(1, requires_grad=True) | L.tensor([True]).requires_grad_() | v.requires_grad_(3)
setattr(v * 2, 'requires_grad', False) | setattr(v * 2, 'requires_grad', True) | v.numpy() | (v * 2).numpy()
setattr(v, 'grad', L.tensor([1.0])) | setattr(v, 'grad', 3) | setattr(v, 'grad', v)
L.tensor(1.0).register_hook(print) | (x * 2).register_post_accumulate_grad_hook(print)
L.tensor(1.0).register_post_accumulate_grad_hook(print) | L.log(3.0)
L.tensor([1.0, 2.0]) @ L.tensor([1.0, 2.0, 3.0]) | L.tensor([1.0, 2.0]) + L.tensor([1.0, 2.0, 3.0])
L.ones(2, 3) + L.ones(3, 2) | bool(v) | float(v) | x ** 'a' | x + 'a' | 'a' * x | x - None | len(x)
list(x) | v[5] | v[0, 0] | x[0] | v.view(3) | v.view(-1, -1) | v.expand(3) | v.sum(2) | v.sum((0, 0))
v.unsqueeze(3) | v.squeeze(3) | v.transpose(0, 2) | L.ones(2, 2, 2).t() | L.ones(2, 3).t().view(6)
L.ones(2, 3) @ L.ones(2, 3) | L.ones(2, 3) @ L.ones(2) | L.ones(2, 2, 3) @ L.ones(2, 2, 3)
L.ones(2, 2) @ x | L.tensor([1, 2]).mean() | L.tensor([1, 2]) @ L.tensor([1.0, 2.0]) | v.item()
"""


def test_errors_of_attributes(torch):
    assert_same_ends(torch, ERRORS, lambda L: {"x": leaf(L, 2.0), "v": leaf(L, 1.0, 2.0)})


def test_a_gradient_of_another_dtype_is_refused():
    v = minigrad.tensor([1.0, 2.0])
    with pytest.raises(
        RuntimeError, match="gradient with dtype 'double' to a tensor with grad_dtype 'Float'"
    ):
        v.grad = v.double()
