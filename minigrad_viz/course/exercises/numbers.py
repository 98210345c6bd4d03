"""Exercises whose answers are predicted numbers: derivatives, gradients that add up, products and chains."""

from __future__ import annotations

import functools
from collections.abc import Callable

import minigrad
from minigrad import Tensor, tensor

from ...equality import same
from ..answers import numbers_of
from ..exercise import Cases, Exercise


def leaf(value: float | list[float]) -> Tensor:
    """A tensor that requires its gradient."""
    return tensor(value, requires_grad=True)


# ── start_here, intro_* ─────────────────────────────────────────────────────────────────────────────────────


def shopping(kilos: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What one pays in all, and for the goods alone; the gradients of the price and of the amount."""
    price, amount = leaf(2.0), leaf(kilos)
    goods = price * amount
    total = goods + 4.0
    total.backward()
    return total, goods, price.grad, amount.grad


def dearer() -> Cases:
    """The gradient of the price for five kilos."""
    total, goods, by_price, by_amount = shopping(5.0)
    return [
        ("start_here_right", by_price),
        ("start_here_before", shopping(3.0)[2]),
        ("start_here_other_leaf", by_amount),
        ("start_here_total", total),
        ("start_here_total", goods),
    ]


def descent(steps: int, size: float, reset: bool) -> tuple[list[float], list[float]]:
    """Where x is after each step on x², and what its gradient held then."""
    x = leaf(4.0)
    places, gradients = [], []
    for _ in range(steps):
        (x**2).backward()
        with minigrad.no_grad():
            x -= size * x.grad
        places.append(x.item())
        gradients.append(x.grad.item())
        if reset:
            x.grad = None
    return places, gradients


def forgotten() -> Cases:
    """x after two steps, with no reset between them."""
    (first, second), gradients = descent(2, 0.1, reset=False)
    return [
        ("intro_polynomial_right", second),
        ("intro_polynomial_with_reset", descent(2, 0.1, reset=True)[0][1]),
        ("intro_polynomial_one_step", first),
        ("intro_polynomial_same_gradient", 4.0 - 2 * 0.1 * gradients[0]),
        ("intro_polynomial_gradient", gradients[1]),
    ]


def size_of_step(answer: object) -> float:
    """A step size; NaN and truth values are none."""
    (size,) = numbers_of(None if isinstance(answer, bool) else answer, 1)
    return float(size)


def at_once() -> Cases:
    """The step size that leads to the minimum at once, for a number that is tried."""

    def reached(size: float) -> float:
        return descent(1, size, reset=True)[0][0]

    return [
        ("intro_polynomial_no_size", lambda size: size != size),
        ("intro_polynomial_uphill", lambda size: size <= 0),
        ("intro_polynomial_right", lambda size: abs(reached(size)) < 1e-3),
        ("intro_polynomial_too_small", lambda size: reached(size) > 0),
    ]


def partials(join: Callable[[Tensor, Tensor], Tensor]) -> list[float]:
    """The gradients of x and y where `join` makes one result of them."""
    x, y = leaf(3.0), leaf(5.0)
    join(x, y).backward()
    return [x.grad.item(), y.grad.item()]


def of_a_product() -> Cases:
    """Both partial derivatives of x² · y, in order."""
    truth = partials(lambda x, y: x**2 * y)
    return [
        ("intro_partial_right", truth),
        ("intro_partial_swapped", truth[::-1]),
        ("intro_partial_like_a_sum", partials(lambda x, y: x**2 + y)),
        ("intro_partial_only_first", lambda given: same(given[0], truth[0])),
        ("intro_partial_only_second", lambda given: same(given[1], truth[1])),
    ]


def slope(function: Callable[[Tensor], Tensor], at: float) -> tuple[float, float]:
    """The value of a function and its derivative."""
    x = leaf(at)
    value = function(x)
    value.backward()
    return value.item(), x.grad.item()


def chain() -> Cases:
    """The derivative of (x² + 1)³ at 2."""
    y, inner = slope(lambda x: x**2 + 1, 2.0)
    z, outer = slope(lambda y: y**3, y)
    return [
        ("intro_composite_right", slope(lambda x: (x**2 + 1) ** 3, 2.0)[1]),
        ("intro_composite_outer", outer),
        ("intro_composite_inner", inner),
        ("intro_composite_added", outer + inner),
        ("intro_composite_at_x", slope(lambda y: y**3, 2.0)[1] * inner),
        ("intro_composite_value", z),
    ]


# ── graph_* ─────────────────────────────────────────────────────────────────────────────────────────────────


def distance(target: float) -> list[float]:
    """w.grad and b.grad of the squared distance from the target."""
    w, b = leaf(3.0), leaf(1.0)
    ((w * 2.0 + b - target) ** 2).backward()
    return [w.grad.item(), b.grad.item()]


def regression() -> Cases:
    """Both gradients of the squared distance, in order."""
    truth = distance(10.0)
    return [
        ("graph_linear_regression_right", truth),
        ("graph_linear_regression_sign", [-number for number in truth]),
        ("graph_linear_regression_no_target", distance(0.0)),
        ("graph_linear_regression_no_x", [truth[1], truth[1]]),
        ("graph_linear_regression_no_two", [number / 2 for number in truth]),
        ("graph_linear_regression_swapped", truth[::-1]),
    ]


def by_hand(at: float, elsewhere: float) -> Cases:
    """The gradient of the loss (2x + 3)² with respect to x, at a point."""
    z = 2 * at + 3
    loss, truth = slope(lambda x: (x * 2 + 3) ** 2, at)
    return [
        ("graph_exercise_right", truth),
        ("graph_exercise_added", 2 * z + 2),  # the sum with the factor 1 left out
        ("graph_exercise_value", loss),
        ("graph_exercise_no_two_x", 2 * z),
        ("graph_exercise_no_square", 2.0),
        ("graph_exercise_added", 2 * z + 1 + 2),
        ("graph_exercise_at_x", 2 * at * 1 * 2),
        ("graph_exercise_elsewhere", slope(lambda x: (x * 2 + 3) ** 2, elsewhere)[1]),
    ]


# ── code_* ──────────────────────────────────────────────────────────────────────────────────────────────────


def renamed() -> Cases:
    """z, when the name x was given to another tensor in between."""
    x = tensor(2.0)
    y = x**3
    x = tensor(3.0)
    return [("code_01_right", y + 1), ("code_01_followed", x**3 + 1), ("code_01_only_y", y)]


def on_the_way(start: float) -> list[float]:
    """The gradients at z, y and x, in the order in which backward computes them."""
    x = leaf(start)
    y = x**3
    z = minigrad.log(y)
    seen: list[float] = []
    for each in (x, y, z):
        each.register_hook(lambda gradient: seen.append(gradient.item()))
    z.backward()
    return seen


def three_gradients() -> Cases:
    """∂z/∂z, ∂z/∂y and ∂z/∂x."""
    truth = on_the_way(2.0)
    return [
        ("code_04_right", truth),
        ("code_04_old", on_the_way(5.0)),
        ("code_04_order", truth[::-1]),
        ("code_04_root", lambda given: not same(given[0], truth[0])),
        ("code_04_inner", lambda given: same(given[1], 1 / 2.0)),
        ("code_04_second", lambda given: not same(given[1], truth[1])),
        ("code_04_local", lambda given: same(given[2], truth[2] / truth[1])),
    ]


def third_backward() -> Cases:
    """x.grad after three calls."""
    x = leaf(5.0)
    z = minigrad.log(x**3)
    seen = []
    for _ in range(3):
        z.backward(retain_graph=True)
        seen.append(x.grad.item())
    return [("code_07_right", seen[2]), ("code_07_replaced", seen[0]), ("code_07_two_calls", seen[1])]


def two_paths() -> Cases:
    """x.grad, where the paths through y and w meet."""
    x = leaf(3.0)
    y, w = x**2, x + 1
    z = y * w
    gradient = functools.partial(minigrad.autograd.grad, retain_graph=True)
    dz_dy, dz_dw = gradient(z, [y, w])
    (dy_dx,), (dw_dx,) = gradient(y, x), gradient(w, x)
    z.backward()
    return [
        ("code_09_right", x.grad),
        ("code_09_through_y", dz_dy * dy_dx),
        ("code_09_through_w", dz_dw * dw_dx),
        ("code_09_multiplied", dz_dy * dy_dx * dz_dw * dw_dx),
        ("code_09_half_way", dy_dx + dw_dx),
        ("code_09_half_way", dy_dx * dw_dx),
        ("code_09_value", z),
    ]


def power(base: float, exponent: float) -> tuple[float, float]:
    """What the node of a power sends to two leaves, z being its logarithm."""
    x, q = leaf(base), leaf(exponent)
    minigrad.log(x**q).backward()
    return x.grad.item(), q.grad.item()


def both_at_once() -> Cases:
    """x.grad of z = ln(xˣ) at 5."""
    x = leaf(5.0)
    z = minigrad.log(x**x)
    z.backward()
    by_base, by_exponent = power(5.0, 5.0)
    return [
        ("code_10_right", x.grad),
        ("code_10_base", by_base),
        ("code_10_exponent", by_exponent),
        ("code_10_exponent_three", sum(power(5.0, 3.0))),
        ("code_10_multiplied_z", z),
        ("code_10_without_log", x.grad * x**x),
    ]


def derivatives(order: int) -> list[Tensor]:
    """The first derivatives of ln x³ at 5, up to `order`."""
    x = tensor(5.0, dtype=minigrad.float64, requires_grad=True)
    found = [minigrad.log(x**3)]
    for _ in range(order):
        found += minigrad.autograd.grad(found[-1], x, create_graph=True)
    return found[1:]


def third_derivative() -> Cases:
    """∂³z/∂x³ at x = 5."""
    first, second, third = derivatives(3)
    return [
        ("code_18_right", third),
        ("code_18_tuple", [third]),
        ("code_18_first", first),
        ("code_18_second", second),
        ("code_18_sign", -third),
        ("code_18_added", first + second + third),
        ("code_18_added", first + second),
    ]


EXERCISES = {
    "start_here": Exercise(dearer, "start_here_other"),
    "intro_polynomial": Exercise(forgotten, "intro_polynomial_other"),
    "intro_polynomial.size": Exercise(
        at_once, "intro_polynomial_too_large", read=size_of_step, unfit="intro_polynomial_no_size"
    ),
    "intro_partial": Exercise(
        of_a_product,
        "intro_partial_other",
        read=functools.partial(numbers_of, size=2),
        unfit="intro_partial_not_two",
    ),
    "intro_composite": Exercise(chain, "intro_composite_other"),
    "graph_linear_regression": Exercise(
        regression,
        "graph_linear_regression_other",
        read=functools.partial(numbers_of, size=2),
        unfit="graph_linear_regression_not_two",
    ),
    "graph_exercise": Exercise(functools.partial(by_hand, 1.0, 2.0), "graph_exercise_other"),
    "graph_exercise.again": Exercise(functools.partial(by_hand, 2.0, 1.0), "graph_exercise_other"),
    "code_01": Exercise(renamed, "code_01_other"),
    "code_04": Exercise(
        three_gradients, "code_04_third", read=functools.partial(numbers_of, size=3), unfit="code_04_three"
    ),
    "code_07": Exercise(third_backward, "code_07_other"),
    "code_09": Exercise(two_paths, "code_09_other"),
    "code_10": Exercise(both_at_once, "code_10_other"),
    "code_18": Exercise(third_derivative, "code_18_other"),
}
