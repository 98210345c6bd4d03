"""Exercises whose answers are predicted numbers: the truth, and what the usual mistakes give."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from ...equality import numbers, same
from ..answers import Unfit, numbers_of
from ..exercise import Cases, Exercise


def size_of_step(answer: object) -> float:
    """A step size; NaN and truth values are none."""
    (size,) = numbers_of(None if isinstance(answer, bool) else answer, 1)
    return float(size)


def has_not_shape(*shape: int) -> Callable[[object], bool]:
    """Whether an answer is no numbers of that shape."""
    return lambda given: getattr(numbers(given), "shape", None) != shape


def items(answer: object, count: int) -> list[object]:
    """The items of a list or a tuple; Unfit unless there are so many."""
    if not isinstance(answer, list | tuple) or len(answer) != count:
        raise Unfit
    return list(answer)


def two_gradients(answer: object) -> list[object]:
    """Two gradients; one in which nothing came, or which is 0, is None."""
    given = numbers(answer)
    rows = items(answer if given is None else given.tolist(), 2)
    if any(row is not None and has_not_shape(2)(row) for row in rows):
        raise Unfit
    return [None if row is None or same(row, [0.0, 0.0]) else row for row in rows]


# ── intro_* ─────────────────────────────────────────────────────────────────────────────────────────────────

# x.grad of 8 at 4, so that one step of size s leads to 4 − 8s.
STEP_SIZE: Cases = [
    ("intro_polynomial_no_size", math.isnan),
    ("intro_polynomial_uphill", lambda size: size <= 0),
    ("intro_polynomial_right", lambda size: abs(4 - 8 * size) < 1e-3),
    ("intro_polynomial_too_small", lambda size: 4 - 8 * size > 0),
]
# Two steps on x² from 4, of size 0.1, without a reset.
DESCENT: Cases = [
    ("intro_polynomial_right", 3.2 - 0.1 * (8 + 6.4)),
    ("intro_polynomial_with_reset", 3.2 - 0.1 * 6.4),
    ("intro_polynomial_one_step", 3.2),
    ("intro_polynomial_same_gradient", 4 - 2 * 0.1 * 8),
    ("intro_polynomial_gradient", 8 + 6.4),
]
# x² · y at x = 3, y = 5.
PARTIAL: Cases = [
    ("intro_partial_right", [30, 9]),
    ("intro_partial_swapped", [9, 30]),
    ("intro_partial_like_a_sum", [6, 1]),
    ("intro_partial_only_first", lambda given: same(given[0], 30)),
    ("intro_partial_only_second", lambda given: same(given[1], 9)),
]
# z = y³ with y = x² + 1 at x = 2: dz/dy is 75, dy/dx is 4.
CHAIN: Cases = [
    ("intro_composite_right", 75 * 4),
    ("intro_composite_outer", 75),
    ("intro_composite_inner", 4),
    ("intro_composite_added", 75 + 4),
    ("intro_composite_at_x", 3 * 2**2 * 4),
    ("intro_composite_value", 125),
]

# ── start_here, graph_* ─────────────────────────────────────────────────────────────────────────────────────

# price · amount + 4 at a price of 2: five kilos, after three.
PRICE: Cases = [
    ("start_here_right", 5),
    ("start_here_before", 3),
    ("start_here_other_leaf", 2),
    ("start_here_total", 14),
    ("start_here_total", 10),
]
# (w · 2 + b − 10)² at w = 3, b = 1.
REGRESSION: Cases = [
    ("graph_linear_regression_right", [-12, -6]),
    ("graph_linear_regression_sign", [12, 6]),
    ("graph_linear_regression_no_target", [28, 14]),
    ("graph_linear_regression_no_x", [-6, -6]),
    ("graph_linear_regression_no_two", [-6, -3]),
    ("graph_linear_regression_swapped", [-6, -12]),
]


def by_hand(at: float, elsewhere: float) -> Cases:
    """The gradient of (2x + 3)² with respect to x, at a point."""
    z = 2 * at + 3
    return [
        ("graph_exercise_right", 2 * z * 2),
        ("graph_exercise_added", 2 * z + 2),  # the sum with the factor 1 left out
        ("graph_exercise_value", z**2),
        ("graph_exercise_no_two_x", 2 * z),
        ("graph_exercise_no_square", 2),
        ("graph_exercise_added", 2 * z + 1 + 2),
        ("graph_exercise_at_x", 2 * at * 2),
        ("graph_exercise_elsewhere", 2 * (2 * elsewhere + 3) * 2),
    ]


# ── code_*: one call, several calls, several paths ──────────────────────────────────────────────────────────

NAMES: Cases = [("code_01_right", 2**3 + 1), ("code_01_followed", 3**3 + 1), ("code_01_only_y", 2**3)]
# At z, y and x of z = ln y, y = x³, at x = 2.
BACKWARD: Cases = [
    ("code_04_right", [1, 1 / 8, 1.5]),
    ("code_04_old", [1, 1 / 125, 0.6]),
    ("code_04_order", [1.5, 1 / 8, 1]),
    ("code_04_root", lambda given: not same(given[0], 1)),
    ("code_04_inner", lambda given: same(given[1], 1 / 2)),
    ("code_04_second", lambda given: not same(given[1], 1 / 8)),
    ("code_04_local", lambda given: same(given[2], 12)),
]
# x.grad, y.grad and w.grad; that of w was requested too late.
KEPT: Cases = [
    ("code_05_right", [60, 20, None]),
    ("code_05_late", [60, 20, 5]),
    ("code_05_leaf_only", [60, None, None]),
    ("code_05_kept", lambda given: [value is None for value in given] != [False, False, True]),
    ("code_05_local", lambda given: same(given[0], 3)),
]
THIRD_CALL: Cases = [("code_07_right", 1.8), ("code_07_replaced", 0.6), ("code_07_two_calls", 1.2)]
# What `first = x.grad` and x.grad hold at the end.
TWO_NAMES: Cases = [
    ("code_08_lost", lambda given: given[0] is None),
    ("code_08_none", lambda given: given[1] is None),
    ("code_08_pair", lambda given: any(map(has_not_shape(), given))),
    ("code_08_right", [1.2, 0]),
    ("code_08_last", lambda given: same(given[0], 1.2)),
    ("code_08_copy", [0.6, 0]),
    ("code_08_emptied", [0, 0]),
    ("code_08_summed", [0.6 + 1.2, 0]),
]
# y · w with y = x², w = x + 1, at x = 3.
TWO_PATHS: Cases = [
    ("code_09_right", 4 * 6 + 9 * 1),
    ("code_09_through_y", 4 * 6),
    ("code_09_through_w", 9 * 1),
    ("code_09_multiplied", 4 * 6 * 9 * 1),
    ("code_09_half_way", 6 + 1),
    ("code_09_half_way", 6 * 1),
    ("code_09_value", 9 * 4),
]
# ln xˣ at x = 5: q/x through the base, ln x through the exponent.
POWER: Cases = [
    ("code_10_right", 1 + math.log(5)),
    ("code_10_base", 1),
    ("code_10_exponent", math.log(5)),
    ("code_10_exponent_three", 3 / 5 + math.log(5)),
    ("code_10_multiplied_z", 5 * math.log(5)),
    ("code_10_without_log", (1 + math.log(5)) * 5**5),
]

# ── what is cut, and what backward starts with ──────────────────────────────────────────────────────────────

# a · b with b = a · a computed under no_grad(), at a = 4.
UNRECORDED: Cases = [
    ("code_12_right", 16),
    ("code_12_recorded", 3 * 16),
    ("code_12_through_b", 2 * 16),
    ("code_12_through_b", 2 * 4),
    ("code_12_value", 4 * 16),
    ("code_12_leaf", None),
    ("code_12_leaf", 0),
]
# y = x + (2, 3, 5) and z = y @ (4, 7, 9).
BROADCAST: Cases = [
    ("code_13_right", 4 + 7 + 9),
    ("code_13_product", 2 * 4 + 3 * 7 + 5 * 9),
    ("code_13_unsummed", [4, 7, 9]),
    ("code_13_unweighted", 1),
    ("code_13_unweighted", 3),
    ("code_13_unweighted", [1, 1, 1]),
]
# y = x * (2, 3, 5), w = y.detach(): y.sum() leads to x, w @ (4, 7, 9) does not.
PAST_THE_CUT: Cases = [
    ("code_15_right", 10),
    ("code_15_joined", 74 + 10),
    ("code_15_through_w", 74),
    ("code_15_of_w", [4, 7, 9]),
    ("code_15_of_w", [1, 1, 1]),
    ("code_15_none", None),
    ("code_15_none", 0),
]
# The gradient= of y = x * (2, 3, 5) at x = 5 that does what y.mean().backward() does.
MEAN: Cases = [
    ("code_16_right", [1 / 3, 1 / 3, 1 / 3]),
    ("code_16_sum", [1, 1, 1]),
    ("code_16_values", [10, 15, 25]),
    ("code_16_values", 50 / 3),
    ("code_16_shape", has_not_shape(3)),
    ("code_16_only_here", lambda given: same(numbers(given) @ [2, 3, 5], 10 / 3)),  # type: ignore[operator]
]
# u = x.grad · x at x = 5, where x.grad is 0.6 and has no graph.
WITH_A_GRADIENT: Cases = [
    ("code_17_nothing", None),
    ("code_17_right", 0.6),
    ("code_17_tracked", 0),
    ("code_17_value", 3),
    ("code_17_second", -0.12),
]
# ln x³ at x = 5.
THIRD_DERIVATIVE: Cases = [
    ("code_18_right", 0.048),
    ("code_18_tuple", [0.048]),
    ("code_18_first", 0.6),
    ("code_18_second", -0.12),
    ("code_18_sign", -0.048),
    ("code_18_added", 0.6 - 0.12 + 0.048),
    ("code_18_added", 0.6 - 0.12),
]
# 3a³ − b² at a = (2, 3), b = (6, 4), with the weights 1 and 10.
WEIGHTS: Cases = [
    ("backward_gradient_right", [-12, -80]),
    ("backward_gradient_shape", has_not_shape(2)),
    ("backward_gradient_unweighted", [-12, -8]),
    ("backward_gradient_of_a", [36, 810]),
    ("backward_gradient_sign", [12, 80]),
    ("backward_gradient_swapped", [-120, -8]),
    ("backward_gradient_all_ten", [-120, -80]),
]
# The same after a call with inputs=[a] and one with inputs=[a, b].
INPUTS: Cases = [
    ("backward_inputs_right", [[72, 162], [-12, -8]]),
    ("backward_inputs_replaced", [[36, 81], [-12, -8]]),
    ("backward_inputs_both_twice", [[72, 162], [-24, -16]]),
    ("backward_inputs_no_b", [[72, 162], None]),
    ("backward_inputs_first_call", [[36, 81], None]),
    ("backward_inputs_swapped", [[-12, -8], [72, 162]]),
]

PAIR, THREE = (functools.partial(numbers_of, size=size) for size in (2, 3))
EXERCISES = {
    "start_here": Exercise(PRICE, "start_here_other"),
    "intro_polynomial": Exercise(DESCENT, "intro_polynomial_other"),
    "intro_polynomial.size": Exercise(
        STEP_SIZE, "intro_polynomial_too_large", read=size_of_step, unfit="intro_polynomial_no_size"
    ),
    "intro_partial": Exercise(PARTIAL, "intro_partial_other", read=PAIR, unfit="intro_partial_not_two"),
    "intro_composite": Exercise(CHAIN, "intro_composite_other"),
    "graph_linear_regression": Exercise(
        REGRESSION, "graph_linear_regression_other", read=PAIR, unfit="graph_linear_regression_not_two"
    ),
    "graph_exercise": Exercise(by_hand(1, 2), "graph_exercise_other"),
    "graph_exercise.again": Exercise(by_hand(2, 1), "graph_exercise_other"),
    "code_01": Exercise(NAMES, "code_01_other"),
    "code_04": Exercise(BACKWARD, "code_04_third", read=THREE, unfit="code_04_three"),
    "code_05": Exercise(KEPT, "code_05_numbers", read=lambda answer: items(answer, 3), unfit="code_05_three"),
    "code_07": Exercise(THIRD_CALL, "code_07_other"),
    "code_08": Exercise(
        TWO_NAMES, "code_08_other", read=lambda answer: items(answer, 2), unfit="code_08_pair"
    ),
    "code_09": Exercise(TWO_PATHS, "code_09_other"),
    "code_10": Exercise(POWER, "code_10_other"),
    "code_12": Exercise(UNRECORDED, "code_12_other"),
    "code_13": Exercise(BROADCAST, "code_13_other"),
    "code_15": Exercise(PAST_THE_CUT, "code_15_other"),
    "code_16": Exercise(MEAN, "code_16_other"),
    "code_17": Exercise(WITH_A_GRADIENT, "code_17_other"),
    "code_18": Exercise(THIRD_DERIVATIVE, "code_18_other"),
    "backward_gradient": Exercise(WEIGHTS, "backward_gradient_other"),
    "backward_inputs": Exercise(
        INPUTS, "backward_inputs_other", read=two_gradients, unfit="backward_inputs_no_pair"
    ),
}
