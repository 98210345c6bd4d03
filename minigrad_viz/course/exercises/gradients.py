"""Exercises about where gradients come to, and where they do not: what is kept, added, cut, started with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import minigrad
from minigrad import Tensor, tensor

from ...equality import numbers, same
from ..answers import Unfit
from ..exercise import Cases, Exercise
from .numbers import leaf

Grads = list[float | None]


def items(answer: object, count: int) -> list[object]:
    """The items of a list or a tuple; Unfit unless there are so many."""
    if not isinstance(answer, list | tuple) or len(answer) != count:
        raise Unfit
    return list(answer)


# ── what is kept ────────────────────────────────────────────────────────────────────────────────────────────


def grads(in_time: bool, late: bool) -> Grads:
    """x.grad, y.grad and w.grad; y keeps its gradient if `in_time`, w if asked before and not late."""
    x = leaf(2.0)
    y = x * 3
    w = y * 4
    z = w * 5
    if in_time:
        y.retain_grad()
    if not late:
        w.retain_grad()
    z.backward()
    if late:
        w.retain_grad()
    return [None if t.grad is None else t.grad.item() for t in (x, y, w)]


def kept() -> Cases:
    """What x.grad, y.grad and w.grad hold."""
    truth = grads(in_time=True, late=True)
    empty = [value is None for value in truth]
    return [
        ("code_05_right", truth),
        ("code_05_late", [*grads(in_time=True, late=False)]),
        ("code_05_leaf_only", grads(in_time=False, late=True)),
        ("code_05_kept", lambda given: [value is None for value in given] != empty),
        ("code_05_local", lambda given: same(given[0], 3.0)),
    ]


def two_names() -> Cases:
    """What `first = x.grad` and x.grad hold at the end."""
    x = leaf(5.0)
    z = minigrad.log(x**3)
    z.backward(retain_graph=True)
    first, once = x.grad, x.grad.item()
    z.backward(retain_graph=True)
    twice = x.grad.item()
    x.grad = None
    z.backward()
    x.grad.zero_()
    last = x.grad.item()
    return [
        ("code_08_lost", lambda given: given[0] is None),
        ("code_08_none", lambda given: given[1] is None),
        ("code_08_pair", lambda given: any(n is None or n.shape != () for n in map(numbers, given))),
        ("code_08_right", [first.item(), last]),
        ("code_08_last", lambda given: same(given[0], first)),
        ("code_08_copy", [once, last]),
        ("code_08_emptied", [0.0, last]),
        ("code_08_summed", [once + twice, last]),
    ]


# ── what adds up ────────────────────────────────────────────────────────────────────────────────────────────


def weighted(first: float, second: float) -> tuple[Tensor, Tensor]:
    """a.grad and b.grad for these two weights."""
    a, b = leaf([2.0, 3.0]), leaf([6.0, 4.0])
    (3 * a**3 - b**2).backward(gradient=tensor([first, second]))
    return a.grad, b.grad


def other_weights() -> Cases:
    """b.grad for the weights 1 and 10."""
    of_a, truth = weighted(1.0, 10.0)
    return [
        ("backward_gradient_right", truth),
        ("backward_gradient_shape", lambda given: getattr(numbers(given), "shape", None) != (2,)),
        ("backward_gradient_unweighted", weighted(1.0, 1.0)[1]),
        ("backward_gradient_of_a", of_a),
        ("backward_gradient_sign", -truth),
        ("backward_gradient_swapped", weighted(10.0, 1.0)[1]),
        ("backward_gradient_all_ten", weighted(10.0, 10.0)[1]),
    ]


def after_calls(*named: str) -> list[Tensor | None]:
    """a.grad and b.grad after one call for each of `named`, with the inputs of these names."""
    leaves = {"a": leaf([2.0, 3.0]), "b": leaf([6.0, 4.0])}
    result = 3 * leaves["a"] ** 3 - leaves["b"] ** 2
    for names in named:
        inputs = [leaves[name] for name in names]
        result.backward(gradient=minigrad.ones(2), inputs=inputs, retain_graph=True)
    return [each.grad for each in leaves.values()]


def two_gradients(answer: object) -> list[object]:
    """Two gradients; one in which nothing came, or which is 0, is None."""
    given = numbers(answer)
    rows = items(answer if given is None else given.tolist(), 2)
    if any(row is not None and getattr(numbers(row), "shape", None) != (2,) for row in rows):
        raise Unfit
    return [None if row is None or same(row, [0.0, 0.0]) else row for row in rows]


def two_calls() -> Cases:
    """a.grad and b.grad after a call with inputs=[a] and one with inputs=[a, b]."""
    truth = after_calls("a", "ab")
    return [
        ("backward_inputs_right", truth),
        ("backward_inputs_replaced", after_calls("ab")),
        ("backward_inputs_both_twice", after_calls("ab", "ab")),
        ("backward_inputs_no_b", after_calls("a", "a")),
        ("backward_inputs_first_call", after_calls("a")),
        ("backward_inputs_swapped", truth[::-1]),
    ]


def broadcast(join: Callable[[Tensor, Tensor], Tensor]) -> list[Tensor]:
    """x.grad and y.grad, where `join` makes y of x and three numbers."""
    x = leaf(5.0)
    y = join(x, tensor([2.0, 3.0, 5.0]))
    y.retain_grad()
    (y @ tensor([4.0, 7.0, 9.0])).backward()
    return [x.grad, y.grad]


def broadcast_sum() -> Cases:
    """x.grad where y = x + (2, 3, 5)."""
    truth, of_y = broadcast(lambda x, three: x + three)
    return [
        ("code_13_right", truth),
        ("code_13_product", broadcast(lambda x, three: x * three)[0]),
        ("code_13_unsummed", of_y),
        ("code_13_unweighted", 1.0),
        ("code_13_unweighted", 3.0),
        ("code_13_unweighted", [1.0, 1.0, 1.0]),
    ]


# ── what is cut ─────────────────────────────────────────────────────────────────────────────────────────────


def product(mode: contextlib.AbstractContextManager[object]) -> tuple[Tensor, Tensor]:
    """a and c = a·b, where b = a·a was computed in `mode`, after c.backward()."""
    with mode:
        a = leaf(4.0)
        b = a * a
    c = a * b
    c.backward()
    return a, c


def unrecorded_factor() -> Cases:
    """a.grad."""
    a, c = product(minigrad.no_grad())
    recorded, _ = product(contextlib.nullcontext())
    return [
        ("code_12_right", a.grad),
        ("code_12_recorded", recorded.grad),
        ("code_12_through_b", recorded.grad - a.grad),
        ("code_12_through_b", 2 * a),
        ("code_12_value", c),
        ("code_12_leaf", None),
        ("code_12_leaf", 0.0),
    ]


def two_ways(cut: bool, past: bool = True) -> list[Tensor]:
    """x.grad, and the gradients of y and of w, with the cut or without, with the way past it or without."""
    x = leaf(5.0)
    y = x * tensor([2.0, 3.0, 5.0])
    y.retain_grad()
    w = y.detach().requires_grad_() if cut else y
    z = w @ tensor([4.0, 7.0, 9.0])
    (z + y.sum() if past else z).backward()
    return [x.grad, y.grad, w.grad]


def past_the_cut() -> Cases:
    """x.grad."""
    truth, of_y, of_w = two_ways(cut=True)
    return [
        ("code_15_right", truth),
        ("code_15_joined", two_ways(cut=False)[0]),
        ("code_15_through_w", two_ways(cut=False, past=False)[0]),
        ("code_15_of_w", of_w),
        ("code_15_of_w", of_y),
        ("code_15_none", None),
        ("code_15_none", 0.0),
    ]


def product_with_a_gradient() -> Cases:
    """The derivative of x.grad · x by x after z.backward()."""
    x = tensor(5.0, dtype=minigrad.float64, requires_grad=True)
    z = minigrad.log(x**3)
    (with_graph,) = minigrad.autograd.grad(z, x, create_graph=True)
    (second,) = minigrad.autograd.grad(with_graph, x, create_graph=True)
    (tracked,) = minigrad.autograd.grad(with_graph * x, x, retain_graph=True)
    z.backward()
    u = x.grad * x
    (truth,) = minigrad.autograd.grad(u, x)
    return [
        ("code_17_nothing", None),
        ("code_17_right", truth),
        ("code_17_tracked", round(tracked.item(), 6)),
        ("code_17_value", u),
        ("code_17_second", second),
    ]


# ── what backward starts with ───────────────────────────────────────────────────────────────────────────────


def started(gradient: list[float] | None) -> tuple[Tensor, ...]:
    """y, the gradient that backward starts with at y, and x.grad: for the given vector, or for the mean."""
    x = leaf(5.0)
    y = x * tensor([2.0, 3.0, 5.0])
    y.retain_grad()
    if gradient is None:
        y.mean().backward()
    else:
        y.backward(gradient=tensor(gradient))
    return y, y.grad, x.grad


def of_the_mean() -> Cases:
    """The gradient= that does what y.mean().backward() does."""
    y, truth, at_x = started(None)
    return [
        ("code_16_right", truth),
        ("code_16_sum", minigrad.ones(3)),
        ("code_16_values", y),
        ("code_16_values", y.mean()),
        ("code_16_shape", lambda given: getattr(numbers(given), "shape", None) != (3,)),
        ("code_16_only_here", lambda given: same(started(numbers(given).tolist())[2], at_x)),  # type: ignore[union-attr]
    ]


EXERCISES = {
    "code_05": Exercise(kept, "code_05_numbers", read=lambda answer: items(answer, 3), unfit="code_05_three"),
    "code_08": Exercise(
        two_names, "code_08_other", read=lambda answer: items(answer, 2), unfit="code_08_pair"
    ),
    "code_12": Exercise(unrecorded_factor, "code_12_other"),
    "code_13": Exercise(broadcast_sum, "code_13_other"),
    "code_15": Exercise(past_the_cut, "code_15_other"),
    "code_16": Exercise(of_the_mean, "code_16_other"),
    "code_17": Exercise(product_with_a_gradient, "code_17_other"),
    "backward_gradient": Exercise(other_weights, "backward_gradient_other"),
    "backward_inputs": Exercise(
        two_calls, "backward_inputs_other", read=two_gradients, unfit="backward_inputs_no_pair"
    ),
}
