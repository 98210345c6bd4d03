"""Exercises whose answers are predicted numbers or names."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection
from typing import Any

from ...predicting.question import answer_numbers, same_answer
from ..exercise import Cases, Exercise, Unfit, as_numbers

# ─── Exercises whose answers are predicted numbers


def size_of_step(answer: object) -> float:
    """A step size; NaN and truth values are none."""
    (size,) = as_numbers(None if isinstance(answer, bool) else answer, 1)
    return float(size)


def has_not_shape(*shape: int) -> Callable[[object], bool]:
    """Whether an answer is no numbers of that shape."""
    return lambda given: getattr(answer_numbers(given), "shape", None) != shape


def list_items(answer: object, count: int) -> list[object]:
    """The items of a list or a tuple; Unfit unless there are so many."""
    if not isinstance(answer, list | tuple) or len(answer) != count:
        raise Unfit
    return list(answer)


def two_gradients(answer: object) -> list[object]:
    """Two gradients; one in which nothing came, or which is 0, is None."""
    given = answer_numbers(answer)
    rows = list_items(answer if given is None else given.tolist(), 2)
    if any(row is not None and has_not_shape(2)(row) for row in rows):
        raise Unfit
    return [None if row is None or same_answer(row, [0.0, 0.0]) else row for row in rows]


# ── intro_* ─────────────────────────────────────────────────────────────────────────────────────────────────

# x.grad of 8 at 4, so that one step of size s leads to 4 − 8s.
STEP_SIZE: Cases = [
    ("intro_polynomial_no_size", math.isnan),
    ("intro_polynomial_uphill", lambda size: size <= 0),
    ("intro_polynomial_size_right", lambda size: abs(4 - 8 * size) < 1e-3),
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
    ("intro_partial_only_first", lambda given: same_answer(given[0], 30)),
    ("intro_partial_only_second", lambda given: same_answer(given[1], 9)),
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


# The gradient of (2x + 3)² with respect to x at x = 1, where 2x + 3 is 5.
SMALL_GRAPH: Cases = [
    ("graph_exercise_right", 2 * 5 * 2),
    ("graph_exercise_added", 2 * 5 + 2),  # the sum with the factor 1 left out
    ("graph_exercise_value", 5**2),
    ("graph_exercise_no_two_x", 2 * 5),
    ("graph_exercise_no_square", 2),
    ("graph_exercise_added", 2 * 5 + 1 + 2),
    ("graph_exercise_at_x", 2 * 1 * 2),
]


# ── code_*: one call, several calls, several paths ──────────────────────────────────────────────────────────

NAMES: Cases = [("code_01_right", 2**3 + 1), ("code_01_followed", 3**3 + 1), ("code_01_only_y", 2**3)]
# At z, y and x of z = ln y, y = x³, at x = 2.
BACKWARD: Cases = [
    ("code_04_right", [1, 1 / 8, 1.5]),
    ("code_04_old", [1, 1 / 125, 0.6]),
    ("code_04_order", [1.5, 1 / 8, 1]),
    ("code_04_root", lambda given: not same_answer(given[0], 1)),
    ("code_04_inner", lambda given: same_answer(given[1], 1 / 2)),
    ("code_04_second", lambda given: not same_answer(given[1], 1 / 8)),
    ("code_04_local", lambda given: same_answer(given[2], 12)),
]
# x.grad, y.grad and w.grad; that of w was requested too late.
KEPT: Cases = [
    ("code_05_right", [60, 20, None]),
    ("code_05_late", [60, 20, 5]),
    ("code_05_leaf_only", [60, None, None]),
    ("code_05_kept", lambda given: [value is None for value in given] != [False, False, True]),
    ("code_05_local", lambda given: same_answer(given[0], 3)),
]
THIRD_CALL: Cases = [("code_07_right", 1.8), ("code_07_replaced", 0.6), ("code_07_two_calls", 1.2)]
# What `first = x.grad` and x.grad hold at the end.
TWO_NAMES: Cases = [
    ("code_08_lost", lambda given: given[0] is None),
    ("code_08_none", lambda given: given[1] is None),
    ("code_08_pair", lambda given: any(map(has_not_shape(), given))),
    ("code_08_right", [1.2, 0]),
    ("code_08_last", lambda given: same_answer(given[0], 1.2)),
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
    ("code_16_only_here", lambda given: same_answer(answer_numbers(given) @ [2, 3, 5], 10 / 3)),  # type: ignore[operator]
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

# ── networks by hand ────────────────────────────────────────────────────────────────────────────────────────

# h₃ of h = w · h + x, from 0, with w = 3 and the inputs 1, 2, 1: with respect to w and to the first input.
STEPS: Cases = [
    ("through_time_right", [5 + 3 * 1, 3**2]),
    ("through_time_swapped", [3**2, 5 + 3 * 1]),
    ("through_time_last", lambda given: same_answer(given[0], 5)),
    ("through_time_unscaled", lambda given: same_answer(given[0], 5 + 1)),
    ("through_time_value", lambda given: same_answer(given[0], 16)),
    ("through_time_steps", lambda given: same_answer(given[0], 8)),
    ("through_time_x_right", lambda given: same_answer(given[1], 9)),
]

# 5w² at w = 1: the learning rate above which steps diverge, and where one step of 0.15 leads.
RATE: Cases = [
    ("learning_rate_right", [0.2, -0.5]),
    ("learning_rate_half", lambda given: same_answer(given[0], 2 / 5)),
    ("learning_rate_best", lambda given: same_answer(given[0], 1 / 10)),
    ("learning_rate_step", lambda given: same_answer(given[0], 0.2)),
    ("learning_rate_limit", lambda given: same_answer(given[1], -0.5)),
]

# From 2 numbers through 5 to 3: the multiplications for the whole Jacobian, forward and backward.
PASSES: Cases = [
    ("why_backward_right", [2 * 25, 3 * 25]),
    ("why_backward_swapped", [3 * 25, 2 * 25]),
    ("why_backward_one_pass", [25, 25]),
    ("why_backward_whole", lambda given: any(same_answer(each, 2 * 5 * 3) for each in given)),
    ("why_backward_backward", lambda given: same_answer(given[0], 50)),
    ("why_backward_forward", lambda given: same_answer(given[1], 75)),
]

# x = 1, 3, 2, 4 under k = 2, 1 with the upstream gradient 1, 0, 3: the gradients of k and of x.
CONVOLUTION: Cases = [
    ("convolution_by_hand_right", [7, 15, 2, 1, 6, 3]),
    ("convolution_by_hand_reversed", [15, 7, 2, 1, 6, 3]),
    ("convolution_by_hand_unweighted", [6, 9, 2, 3, 3, 1]),
    ("convolution_by_hand_not_reversed", [7, 15, 1, 2, 3, 6]),
    ("convolution_by_hand_kernel", lambda given: same_answer(given[:2], [7, 15])),
    ("convolution_by_hand_input", lambda given: same_answer(given[2:], [2, 1, 6, 3])),
]


def kernel_and_input(answer: object) -> list[float]:
    """The two numbers of the kernel's gradient, and the four of the input's."""
    kernel, entered = list_items(answer, 2)
    return [*as_numbers(kernel, 2), *as_numbers(entered, 4)]


# A loop that multiplies 3 by x twice and adds x once.
LOOP: Cases = [
    ("graphs_that_change_right", 3 * 3**2 + 1),
    ("graphs_that_change_products", 27),
    ("graphs_that_change_sum", 1),
    ("graphs_that_change_value", 30),
    ("graphs_that_change_last", 9),
    ("graphs_that_change_square", 6),
    ("graphs_that_change_square", 7),
]

# w after two rounds that reset before step(), and after two in the right order.
ORDER_OF_STEP: Cases = [
    ("five_loops_right", [0, 1.92]),
    ("five_loops_early", lambda given: not same_answer(given[0], 0)),
    ("five_loops_added", lambda given: same_answer(given[1], 3.12)),
    ("five_loops_same", lambda given: same_answer(given[1], 2.4)),
    ("five_loops_one", lambda given: same_answer(given[1], 1.2)),
    ("five_loops_second", lambda given: given[1] > 0),
]

# w1.grad and w2.grad of a small network, without a picture.
SMALL_NETWORK: Cases = [
    ("finish_the_backward_right", [8, 12]),
    ("finish_the_backward_swapped", [12, 8]),
    ("finish_the_backward_no_square", [4, 6]),
    ("finish_the_backward_no_loss", [2, 3]),
    ("finish_the_backward_no_input", [4, 12]),
    ("finish_the_backward_first", lambda given: same_answer(given[0], 8)),
    ("finish_the_backward_second", lambda given: same_answer(given[1], 12)),
]

# W.grad of X @ W + b under softmax with cross entropy, for X = [[1, 3]] and p - y = (1/4, 1/4, -1/2).
WEIGHTS_OF_A_LAYER: Cases = [
    ("finish_a_layer_right", [[0.25, 0.25, -0.5], [0.75, 0.75, -1.5]]),
    ("finish_a_layer_no_target", [[0.25, 0.25, 0.5], [0.75, 0.75, 1.5]]),
    ("finish_a_layer_sign", [[-0.25, -0.25, 0.5], [-0.75, -0.75, 1.5]]),
    ("finish_a_layer_no_input", [[0.25, 0.25, -0.5]] * 2),
    ("finish_a_layer_shape", has_not_shape(2, 3)),
    ("finish_a_layer_first", lambda given: same_answer(given[0], [0.25, 0.25, -0.5])),
]


def six_numbers(answer: object) -> Any:
    """Six numbers, in the shape in which they were given; Unfit for anything else."""
    as_numbers(answer, 6)
    return answer_numbers(answer)


PAIR, THREE = (functools.partial(as_numbers, size=size) for size in (2, 3))
NUMBER_EXERCISES = {
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
    "graph_exercise": Exercise(SMALL_GRAPH, "graph_exercise_other"),
    "code_01": Exercise(NAMES, "code_01_other"),
    "code_04": Exercise(BACKWARD, "code_04_third", read=THREE, unfit="code_04_three"),
    "code_05": Exercise(
        KEPT, "code_05_numbers", read=lambda answer: list_items(answer, 3), unfit="code_05_three"
    ),
    "code_07": Exercise(THIRD_CALL, "code_07_other"),
    "code_08": Exercise(
        TWO_NAMES, "code_08_other", read=lambda answer: list_items(answer, 2), unfit="code_08_pair"
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
    "through_time": Exercise(STEPS, "through_time_other", read=PAIR, unfit="through_time_two"),
    "learning_rate": Exercise(RATE, "learning_rate_other", read=PAIR, unfit="learning_rate_two"),
    "why_backward": Exercise(PASSES, "why_backward_other", read=PAIR, unfit="why_backward_two"),
    "convolution_by_hand": Exercise(
        CONVOLUTION, "convolution_by_hand_other", read=kernel_and_input, unfit="convolution_by_hand_two"
    ),
    "graphs_that_change": Exercise(LOOP, "graphs_that_change_other"),
    "finish_the_backward": Exercise(
        SMALL_NETWORK, "finish_the_backward_other", read=PAIR, unfit="finish_the_backward_two"
    ),
    "finish_a_layer": Exercise(
        WEIGHTS_OF_A_LAYER, "finish_a_layer_other", read=six_numbers, unfit="finish_a_layer_six"
    ),
    "five_loops": Exercise(ORDER_OF_STEP, "five_loops_other", read=PAIR, unfit="five_loops_two"),
}


# ─── Exercises whose answers are names


def letters(answer: object, known: Collection[str]) -> set[str]:
    """The letters in an answer such as "ace", "a, b" or ["a", "b"]; Unfit if it is something else."""
    if isinstance(answer, list | tuple | set | frozenset) and all(isinstance(name, str) for name in answer):
        answer = " ".join(answer)
    if not isinstance(answer, str):
        raise Unfit
    found = set(re.sub(r"\band\b|[\s,;.]", "", answer.strip().lower()))
    if not found <= set(known):
        raise Unfit
    return found


def some_letters(answer: object) -> set[str]:
    """The names of tensors from a to e, at least one."""
    return letters(answer, "abcde") or letters(None, "")


# a and b were created, c = b * b, d = a * b, e = d + 1; of a and b only a requires gradients.
LEAVES: Cases = [
    ("code_03_right", {"a", "b", "c"}),
    ("code_03_asked", {"a"}),
    ("code_03_made_by_hand", {"a", "b"}),
    ("code_03_others", {"d", "e"}),
    ("code_03_no_gradient", {"b", "c"}),
]
# Of -x, x + x, x * x, exp(x) and x - 1 those that save no tensor.
SURVIVORS: Cases = [
    ("code_06_right", {"a", "b", "e"}),
    ("code_06_nothing", set()),
    ("code_06_all", {*"abcde"}),
    ("code_06_turned", {"c", "d"}),
    ("code_06_missing", lambda given: given < {"a", "b", "e"}),
    ("code_06_exp", lambda given: "d" in given),
]


def in_order(answer: object) -> str:
    """Each of the letters a, b, x and z once, as they were given; Unfit if it is something else."""
    if isinstance(answer, list | tuple) and all(isinstance(name, str) for name in answer):
        answer = "".join(answer)
    found = re.sub(r"[\s,;>→]", "", answer.lower()) if isinstance(answer, str) else ""
    if sorted(found) != sorted("abxz"):
        raise Unfit
    return found


# z = a * b, b = a + x, a = x * 2.
ORDER: Cases = [
    ("engine_compared_right", "zbax"),
    ("engine_compared_forward", "xabz"),
    ("engine_compared_impatient", lambda given: given[0] == "z" and given.index("a") < given.index("b")),
    ("engine_compared_leaf", lambda given: given[0] == "z"),
]


def tensors_named(answer: object) -> set[str]:
    """The names of tensors; Unfit if they are others."""
    given = {answer} if isinstance(answer, str) else answer
    if not isinstance(given, set | frozenset | list | tuple) or not all(isinstance(n, str) for n in given):
        raise Unfit
    names = {name.strip() for name in given}
    if not names <= {"x", "y", "z", "loss"}:
        raise Unfit
    return names


KEPT_NAMES: Cases = [
    ("graph_exercise_kept_right", {"x"}),
    ("graph_exercise_intermediate", lambda given: bool(given & {"y", "z"})),
    ("graph_exercise_root", bool),
]
NAME_EXERCISES = {
    "code_03": Exercise(LEAVES, "code_03_other", read=some_letters, unfit="code_03_form"),
    "code_06": Exercise(
        SURVIVORS,
        "code_06_square",
        read=lambda answer: set() if answer is None else letters(answer, "abcde"),
        unfit="code_06_other",
    ),
    "engine_compared": Exercise(ORDER, "engine_compared_other", read=in_order, unfit="engine_compared_form"),
    "graph_exercise.kept": Exercise(
        KEPT_NAMES, "graph_exercise_none", read=tensors_named, unfit="graph_exercise_names"
    ),
}
