"""Ways of giving arguments that PyTorch has, and what is said of those that it has not."""

from __future__ import annotations

import own_texts
import pytest

import minigrad


def x(L):
    return L.tensor([1.0, -2.0, 3.0])


def outcome(L, call):
    """What a call gives, as a list, or its error up to the list of signatures that PyTorch adds."""
    try:
        return [round(number, 5) for number in call(L).tolist()]
    except (RuntimeError, TypeError) as error:
        text = str(error).split("\n")[0].partition(", but expected")[0]
        return type(error).__name__, text.partition(" Hint")[0].replace(", )", ")").replace(
            "AddBackward0", "Add"
        )


CALLS = {
    "copy_ of a number": lambda L: x(L).copy_(2),
    "copy_ of a bool": lambda L: x(L).copy_(True),
    "copy_ rounds": lambda L: L.tensor([1, 2]).copy_(2.7),
    "copy_ of a list": lambda L: x(L).copy_([1, 2, 3]),
    "copy_ of nothing": lambda L: x(L).copy_(None),
    "squeeze of two": lambda L: L.ones(1, 1, 2).squeeze(0, 1),
    "squeeze_ of two": lambda L: L.ones(1, 1, 2).squeeze_(0, 1),
    "squeeze_ of a tuple": lambda L: L.ones(1, 1, 2).squeeze_((0, 1)),
    "exp_ by name": lambda L: L.exp_(input=x(L)),
    "div by name": lambda L: L.div(input=x(L), other=2),
    "clamp of another input": lambda L: x(L).clamp(input=x(L)),
    "div_ of another input": lambda L: x(L).div_(input=x(L)),
    "index_put of no list": lambda L: L.index_put(x(L), 3, x(L)),
    "index_put_ of no list": lambda L: x(L).index_put_(3, x(L)),
    "index_put_ without values": lambda L: L.index_put_(x(L), (x(L),), None),
    "sum over a string": lambda L: x(L).sum("a"),
    "mean over a float, kept": lambda L: x(L).mean(1.5, True),
    "sum that is kept by a number": lambda L: x(L).sum(0, 3),
}


@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(torch, call):
    assert outcome(minigrad, CALLS[call]) == outcome(torch, CALLS[call])


@pytest.mark.parametrize("name", ["detach", "detach_", "zero_", "item", "clone", "requires_grad_", "dim"])
def test_errors_name_the_tensor_and_not_the_class_that_defines_the_method(name):
    with pytest.raises(TypeError, match=rf"^(Tensor\.)?{name}\(\) takes"):
        getattr(x(minigrad), name)(1, 2, 3)


def test_errors_name_the_function_by_its_own_name():
    with pytest.raises(TypeError, match=r"^pow\(\) missing"):
        x(minigrad).pow()


@pytest.mark.parametrize("name", ["leaky_relu", "elu"])
@pytest.mark.parametrize("slope", [-0.1, 0.5])
def test_a_negative_slope_in_place_has_no_gradient(torch, name, slope):
    def call(L):
        a = x(L).requires_grad_()
        getattr(L.nn.functional, name)(a * 1, slope, inplace=True).sum().backward()
        return a.grad

    assert own_texts.alike(outcome(minigrad, call), outcome(torch, call))


@pytest.mark.parametrize("name", ["dot", "mv", "mul", "mm"])
def test_the_first_saved_value_in_pytorchs_order_is_named(torch, name):
    def call(L):
        square = L.ones(2, 2, requires_grad=True)
        a, b = (square * 1, square * 1) if name in ("mul", "mm") else (square[0] * 1, square[1] * 1)
        y = getattr(L, name)(square * a if name == "mv" else a, b)
        for t in (a, b):
            t.add_(1)
        b.add_(1)
        return y.sum().backward()

    assert own_texts.alike(outcome(minigrad, call), outcome(torch, call))
