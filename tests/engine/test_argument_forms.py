"""Ways of giving arguments that PyTorch has, and what is said of those that it has not."""

import pytest
from calls import assert_same_ends
from twins import outcome

import minigrad


def x(L):
    return L.tensor([1.0, -2.0, 3.0])


CALLS = """
x.copy_(2) | x.copy_(True) | L.tensor([1, 2]).copy_(2.7) | x.copy_([1, 2, 3]) | x.copy_(None)
L.ones(1, 1, 2).squeeze(0, 1) | L.ones(1, 1, 2).squeeze_(0, 1) | L.ones(1, 1, 2).squeeze_((0, 1))
L.exp_(input=x) | L.div(input=x, other=2) | x.clamp(input=x) | x.div_(input=x)
L.index_put(x, 3, x) | x.index_put_(3, x) | L.index_put_(x, (x,), None) | x.sum('a')
x.mean(1.5, True) | x.sum(0, 3)
"""


@pytest.mark.quick
def test_as_in_pytorch(torch):
    assert_same_ends(torch, CALLS, lambda L: {"x": x(L)})


@pytest.mark.parametrize("name", ["detach", "detach_", "zero_", "item", "clone", "requires_grad_", "dim"])
def test_errors_name_the_tensor_and_not_the_class_that_defines_the_method(name):
    with pytest.raises(TypeError, match=rf"^(Tensor\.)?{name}\(\) takes"):
        getattr(x(minigrad), name)(1, 2, 3)


def test_errors_name_the_function_by_its_own_name():
    with pytest.raises(TypeError, match=r"^pow\(\) missing"):
        x(minigrad).pow()


@pytest.mark.parametrize("name", ["leaky_relu", "elu"])
@pytest.mark.parametrize("slope", [-0.1, 0.5])
def test_a_negative_slope_in_place_has_no_gradient(L, note, name, slope):
    a = x(L).requires_grad_()
    y = getattr(L.nn.functional, name)(a * 1, slope, inplace=True).sum()
    note.error(y.backward)
    note(a.grad)


@pytest.mark.parametrize("name", ["dot", "mv", "mul", "mm"])
def test_the_first_saved_value_in_pytorchs_order_is_named(L, note, name):
    square = L.ones(2, 2, requires_grad=True)
    a, b = (square * 1, square * 1) if name in ("mul", "mm") else (square[0] * 1, square[1] * 1)
    y = getattr(L, name)(square * a if name == "mv" else a, b)
    for t in (a, b):
        t.add_(1)
    b.add_(1)
    kind, text = outcome(y.sum().backward)
    note(kind, text.replace("AddBackward0", "Add"))
