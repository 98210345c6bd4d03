"""The questions of "Predict first" in the notebooks: what is right, and which wrong answers are typical."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ...predicting.question import Unreadable, answer_numbers, read_answer, read_names, read_yes, same_answer
from ...protocol import is_tensor
from ...words import CATALOGUES, text
from ..exercise import Cases, Exercise, Unfit


class PredictFirst(NamedTuple):
    """A question: the exercise that judges its answers, the key of the sentence that says how to answer it,
    and what that sentence is filled with. `options` is the key of the words among which one chooses."""

    exercise: Exercise
    form: str
    filled: dict[str, Any]
    options: str = ""

    def ask(self, i: int) -> str:
        """How to answer, as question number `i`."""
        filled = dict(self.filled)
        if self.options:
            shown = [f'"{option.split("/")[0]}"' for option in text(self.options).split(" | ")]
            filled["options"] = ", ".join(shown)
        return text(self.form, i=i, **filled)


Maker = Callable[..., PredictFirst]


# ─── How a question is answered


def read(answer: object) -> Any:
    """Numbers, names or None, of a text too; Unfit for what cannot be read."""
    try:
        return read_answer(answer) if isinstance(answer, str) else answer
    except Unreadable:
        raise Unfit from None


def one_number(answer: object) -> Any:
    """Numbers in any shape, or None."""
    given = read(answer)
    if given is not None and (answer_numbers(given) is None or isinstance(given, bool)):
        raise Unfit
    return given


def number(cases: Cases, other: str) -> PredictFirst:
    """A question that a number or None answers."""
    form = "predict_ask_number"
    return PredictFirst(Exercise(cases, other, read=one_number, unfit=form), form, {})


TRUTHS = {"true": True, "false": False}  # names to `read`


def several(size: int, each: int = 0) -> Callable[[Cases, str], PredictFirst]:
    """Questions that a list answers: of numbers, None, True and False, or of lists of `each` numbers."""

    def read_list(answer: object) -> list[object]:
        if isinstance(answer, str):
            answer = re.sub("True|False", lambda word: word[0].lower(), answer)
        given = read(answer)
        given = given.tolist() if is_tensor(given) else given
        if not isinstance(given, list | tuple) or len(given) != size:
            raise Unfit
        given = [TRUTHS.get(item, item) if isinstance(item, str) else item for item in given]
        if any(item is not None and answer_numbers(item) is None for item in given):
            raise Unfit
        return list(given)

    example = [[1, 2]] * size if each else [1, None, 2][:size]
    form = "predict_ask_several"

    def asked(cases: Cases, other: str) -> PredictFirst:
        filled = {"n": size, "example": example}
        return PredictFirst(Exercise(cases, other, read=read_list, unfit=form), form, filled)

    return asked


def yes() -> Maker:
    """A question that yes or no answers."""

    def read_word(answer: object) -> bool:
        try:
            return read_yes(answer)
        except Unreadable:
            raise Unfit from None

    form = "predict_ask_yes"
    return lambda cases, other: PredictFirst(Exercise(cases, other, read=read_word, unfit=form), form, {})


def choice(options: str, numbers: bool = False) -> Maker:
    """A question that one of a few words answers; a number is read too."""

    def read_word(answer: object) -> object:
        given = str(answer).lower()
        for lang in CATALOGUES:
            found = [i for i, words in enumerate(text(options, lang).split(" | ")) if says(given, words)]
            if len(found) == 1:
                return text(options, "en").split(" | ")[found[0]].split("/")[0]
        given_number = one_number(answer)
        if given_number is None:
            raise Unfit
        return given_number

    form = "predict_ask_number_or" if numbers else "predict_ask_choice"
    return lambda cases, other: PredictFirst(
        Exercise(cases, other, read=read_word, unfit=form), form, {}, options
    )


def says(given: str, words: str) -> bool:
    """Whether an answer has one of the words, apart by slashes, that stand for an option. Hangul may go on
    behind a word, with a particle."""
    for word in words.lower().split("/"):
        end = "" if "가" <= word[-1] <= "힣" else r"(?!\w)"
        if re.search(rf"(?<!\w){re.escape(word)}{end}", given):
            return True
    return False


def names(*known: str) -> Maker:
    """A question that the names of some of these tensors answer."""

    def read_set(answer: object) -> frozenset[str]:
        try:
            given = read_names(answer)
        except Unreadable:
            raise Unfit from None
        if given & {"all", "모두"}:
            return frozenset(known)
        given = frozenset(name.removesuffix(".grad") for name in given - {"없음"})
        if not given <= set(known):
            raise Unfit
        return given

    form, filled = "predict_ask_names", {"options": ", ".join(known), "example": ", ".join(known[::2][:2])}
    return lambda cases, other: PredictFirst(Exercise(cases, other, read=read_set, unfit=form), form, filled)


# ─── The questions


def first(value: float) -> Callable[[list[object]], bool]:
    """Whether the first item of a list is this number."""
    return lambda given: same_answer(given[0], value)


def is_near_guess(given: object) -> bool:
    """Whether it is about as many of 360 as a guess among ten gets right."""
    return isinstance(given, int | float) and 20 <= given <= 60


PREDICTIONS: dict[str, PredictFirst] = {
    "start_here.predict_1": number(
        [("predict_right", 3), ("predict_start_here_total", 13)], "predict_start_here_1"
    ),
    "start_here.predict_2": number(
        [("predict_right", 2), ("predict_start_here_total", 12)], "predict_start_here_2"
    ),
    "start_here.predict_3": number(
        [("predict_right", 1), ("predict_start_here_total", 11)], "predict_start_here_3"
    ),
    "intro_requires_grad.predict_1": number([("predict_right", None)], "predict_intro_requires_grad_1"),
    "intro_requires_grad.predict_2": yes()([("predict_right", False)], "predict_intro_requires_grad_2"),
    "intro_polynomial.predict_1": several(2)(
        [("predict_right", [None, 8]), ("predict_intro_polynomial_value", [None, 16])],
        "predict_intro_polynomial_1",
    ),
    "intro_polynomial.predict_2": number(
        [
            ("predict_right", 4 * 0.8**5),
            ("predict_intro_polynomial_one", 3.2),
            ("predict_intro_polynomial_same", 4 - 5 * 0.1 * 8),
            ("predict_intro_polynomial_uphill", 4 * 1.2**5),
        ],
        "predict_intro_polynomial_2",
    ),
    "intro_partial.predict_1": yes()([("predict_right", False)], "predict_intro_partial_1"),
    "intro_partial.predict_2": yes()([("predict_right", True)], "predict_intro_partial_2"),
    "intro_composite.predict_1": number(
        [
            ("predict_right", 36 * 12),
            ("intro_composite_outer", 36),
            ("intro_composite_inner", 12),
            ("intro_composite_added", 36 + 12),
            ("intro_composite_value", 18**2),
            ("predict_intro_composite_at_4", 1024),
        ],
        "predict_intro_composite_1",
    ),
    "intro_composite.predict_2": number([("predict_right", None)], "predict_intro_composite_2"),
    "code_01.predict_1": choice("predict_more_or_less")([("predict_right", "less")], "predict_code_01_1"),
    "code_01.predict_2": yes()([("predict_right", False)], "predict_code_01_2"),
    "code_02.predict_1": choice("predict_more_or_less")([("predict_right", "less")], "predict_code_02_1"),
    "code_02.predict_2": yes()([("predict_right", False)], "predict_code_02_2"),
    "code_03.predict_1": names("x", "y", "z")([("predict_right", frozenset("xyz"))], "predict_code_03_1"),
    "code_03.predict_2": choice("predict_code_03_2_options")(
        [("predict_right", "None")], "predict_code_03_2"
    ),
    "code_04.predict_1": several(3)(
        [
            ("predict_right", [0.6, None, None]),
            ("predict_code_04_local", first(75)),
            ("predict_code_04_kept", first(0.6)),
        ],
        "predict_code_04_1",
    ),
    "code_04.predict_2": names("x", "y", "z")([("predict_right", frozenset("x"))], "predict_code_04_2"),
    "code_05.predict_1": several(2)(
        [("predict_right", [0.008, 1]), ("predict_code_05_order", [1, 0.008])], "predict_code_05_1"
    ),
    "code_05.predict_2": number([("predict_right", None)], "predict_code_05_2"),
    "code_06.predict_1": choice("predict_code_06_1_options")(
        [("predict_right", "error")], "predict_code_06_1"
    ),
    "code_06.predict_2": yes()([("predict_right", True)], "predict_code_06_2"),
    "code_07.predict_1": yes()([("predict_right", True)], "predict_code_07_1"),
    "code_07.predict_2": number([("predict_right", 1.2), ("code_07_replaced", 0.6)], "predict_code_07_2"),
    "code_08.predict_1": number(
        [("predict_right", 0.6), ("predict_code_08_reset", 1.2), ("predict_code_08_empty", 0)],
        "predict_code_08_1",
    ),
    "code_08.predict_2": number([("predict_right", 0.6)], "predict_code_08_2"),
    "code_09.predict_1": choice("predict_code_09_1_options")(
        [
            ("predict_right", "sum"),
            ("predict_right", 1.6),
            ("code_09_through_y", 0.6),
            ("code_09_through_w", 1),
            ("code_09_multiplied", "product"),
        ],
        "predict_code_09_1",
    ),
    "code_09.predict_2": choice("predict_once_or_twice")(
        [("predict_right", "once"), ("predict_right", 1)], "predict_code_09_2"
    ),
    "code_10.predict_1": choice("predict_code_10_1_options")([("predict_right", "q")], "predict_code_10_1"),
    "code_10.predict_2": yes()([("predict_right", False)], "predict_code_10_2"),
    "code_11.predict_1": number(
        [("predict_right", 0.008), ("predict_code_11_root", 1), ("predict_code_11_value", 125)],
        "predict_code_11_1",
    ),
    "code_11.predict_2": several(2)(
        [("predict_right", [0.6, 0.008 * 201.18]), ("code_11_not_multiplied", [75, 201.18])],
        "predict_code_11_2",
    ),
    "code_12.predict_1": names("q", "x", "y", "z")([("predict_right", frozenset("qx"))], "predict_code_12_1"),
    "code_12.predict_2": choice("predict_fill_or_error")([("predict_right", "error")], "predict_code_12_2"),
    "code_12.predict_3": number([("predict_right", 4000), ("predict_code_12_none", 0)], "predict_code_12_3"),
    "code_13.predict_1": several(3)(
        [("predict_right", [4, 7, 9]), ("predict_code_13_inner", [2, 3, 5])], "predict_code_13_1"
    ),
    "code_13.predict_2": number(
        [
            ("predict_right", 74),
            ("predict_code_13_of_y", [4, 7, 9]),
            ("predict_code_13_unweighted", 20),
            ("predict_code_13_factors", 10),
        ],
        "predict_code_13_2",
    ),
    "code_14.predict_1": choice("predict_code_14_1_options")(
        [("predict_right", "neither")], "predict_code_14_1"
    ),
    "code_14.predict_2": choice("predict_fill_or_error")([("predict_right", "error")], "predict_code_14_2"),
    "code_15.predict_1": yes()([("predict_right", True)], "predict_code_15_1"),
    "code_15.predict_2": names("x", "y", "w")([("predict_right", frozenset("w"))], "predict_code_15_2"),
    "code_16.predict_1": number(
        [("predict_right", 74), ("predict_code_13_factors", 10), ("predict_code_13_unweighted", 20)],
        "predict_code_16_1",
    ),
    "code_16.predict_2": choice("predict_code_16_2_options")(
        [("predict_right", "error")], "predict_code_16_2"
    ),
    "code_17.predict_1": several(2)([("predict_right", [False, None])], "predict_code_17_1"),
    "code_17.predict_2": yes()([("predict_right", False)], "predict_code_17_2"),
    "code_18.predict_1": yes()([("predict_right", True)], "predict_code_18_1"),
    "code_18.predict_2": choice("predict_code_18_2_options")(
        [("predict_right", "negative")], "predict_code_18_2"
    ),
    "code_19.predict_1": number(
        [("predict_right", 1.2), ("predict_code_19_no_hook", 0.6), ("predict_code_19_at_y", 0.016)],
        "predict_code_19_1",
    ),
    "code_19.predict_2": number([("predict_right", 0.6)], "predict_code_19_2"),
    "code_20.predict_1": yes()([("predict_right", False)], "predict_code_20_1"),
    "code_20.predict_2": yes()([("predict_right", False)], "predict_code_20_2"),
    "code_21.predict_1": choice("predict_code_21_1_options")(
        [("predict_right", "error")], "predict_code_21_1"
    ),
    "code_21.predict_2": yes()([("predict_right", False)], "predict_code_21_2"),
    "code_22.predict_1": choice("predict_code_22_1_options")([("predict_right", "sum")], "predict_code_22_1"),
    "code_22.predict_2": choice("predict_one_or_two")(
        [("predict_right", "one"), ("predict_right", 1)], "predict_code_22_2"
    ),
    "graph_linear_regression.predict_1": names("x", "w", "b", "z", "y")(
        [("predict_right", frozenset("zy"))], "predict_graph_linear_regression_1"
    ),
    "graph_linear_regression.predict_2": choice("predict_graph_linear_regression_2_options")(
        [("predict_right", "x")], "predict_graph_linear_regression_2"
    ),
    "graph_retain.predict_1": choice("predict_error", numbers=True)(
        [("predict_right", 24), ("predict_graph_retain_once", 12)], "predict_graph_retain_1"
    ),
    "graph_retain.predict_2": choice("predict_error", numbers=True)(
        [("predict_right", "error")], "predict_graph_retain_2"
    ),
    "graph_retain.predict_3": choice("predict_error", numbers=True)(
        [("predict_right", 24), ("predict_graph_retain_once", 12)], "predict_graph_retain_3"
    ),
    "backward_exp.predict_1": several(3)(
        [("predict_right", [1, math.e, math.e**2]), ("predict_backward_exp_input", [0, 1, 2])],
        "predict_backward_exp_1",
    ),
    "backward_exp.predict_2": several(3)(
        [("predict_right", [1, math.e, math.e**2]), ("predict_backward_exp_ones", [1, 1, 1])],
        "predict_backward_exp_2",
    ),
    "backward_grad_twice.predict_1": several(2)(
        [("predict_right", [27, 18]), ("predict_backward_grad_twice_at_2", [12, 12])],
        "predict_backward_grad_twice_1",
    ),
    "backward_grad_twice.predict_2": number([("predict_right", None)], "predict_backward_grad_twice_2"),
    "backward_gradient.predict_1": several(2, each=2)(
        [("predict_right", [[36, 81], [-12, -8]]), ("backward_gradient_sign", [[36, 81], [12, 8]])],
        "predict_backward_gradient_1",
    ),
    "backward_gradient.predict_2": choice("predict_once_or_twice")(
        [("predict_right", "once"), ("predict_right", 1)], "predict_backward_gradient_2"
    ),
    "backward_inputs.predict_1": choice("predict_backward_inputs_1_options", numbers=True)(
        [("predict_right", "None")], "predict_backward_inputs_1"
    ),
    "backward_inputs.predict_2": yes()([("predict_right", True)], "predict_backward_inputs_2"),
    "from_scratch.predict_1": choice("predict_once_or_twice")(
        [("predict_right", "twice"), ("predict_right", 2)], "predict_from_scratch_1"
    ),
    "from_scratch.predict_2": yes()([("predict_right", False)], "predict_from_scratch_2"),
    "engine_compared.predict_1": choice("predict_engine_compared_1_options")(
        [("predict_right", "square root")], "predict_engine_compared_1"
    ),
    "engine_compared.predict_2": choice("predict_once_or_twice")(
        [("predict_right", "once"), ("predict_right", 1)], "predict_engine_compared_2"
    ),
    "layer_by_hand.predict_1": several(2)([("predict_right", [3, 2])], "predict_layer_by_hand_1"),
    "layer_by_hand.predict_2": choice("predict_layer_by_hand_2_options")(
        [("predict_right", "X.T @ G")], "predict_layer_by_hand_2"
    ),
    "layer_by_hand.predict_3": several(2)(
        [
            ("predict_right", [-0.5, 0.5]),
            ("predict_layer_by_hand_only_p", [0.5, 0.5]),
            ("predict_layer_by_hand_sign", [0.5, -0.5]),
        ],
        "predict_layer_by_hand_3",
    ),
    "through_time.predict_1": number(
        [
            ("predict_right", 0.5**4),
            ("predict_through_time_sum", 4 * 0.5),
            ("predict_through_time_three", 0.5**3),
        ],
        "predict_through_time_1",
    ),
    "through_time.predict_2": number(
        [("predict_right", 12), ("predict_through_time_value", 8), ("predict_through_time_last", 4)],
        "predict_through_time_2",
    ),
    "through_time.predict_3": choice("predict_smaller_or_larger")(
        [("predict_right", "smaller")], "predict_through_time_3"
    ),
    "learning_rate.predict_1": number(
        [
            ("predict_right", 4.2),
            ("predict_learning_rate_uphill", 5.8),
            ("predict_learning_rate_whole", -3),
        ],
        "predict_learning_rate_1",
    ),
    "learning_rate.predict_2": number(
        [("predict_right", 0.25), ("predict_learning_rate_edge", 0.5)], "predict_learning_rate_2"
    ),
    "learning_rate.predict_3": choice("predict_learning_rate_3_options")(
        [("predict_right", "farther")], "predict_learning_rate_3"
    ),
    "why_backward.predict_1": number(
        [("predict_right", 3 * 4), ("predict_why_backward_added", 3 + 4)], "predict_why_backward_1"
    ),
    "why_backward.predict_2": number(
        [("predict_right", 4 * (12 + 6 + 2)), ("predict_why_backward_one_pass", 20)], "predict_why_backward_2"
    ),
    "why_backward.predict_3": number(
        [("predict_right", 2 + 6 + 12), ("predict_why_backward_four", 80)], "predict_why_backward_3"
    ),
    "convolution_by_hand.predict_1": several(3)(
        [("predict_right", [0, 7, -2]), ("predict_convolution_by_hand_reversed", [-1, 8, -1])],
        "predict_convolution_by_hand_1",
    ),
    "convolution_by_hand.predict_2": several(2)(
        [("predict_right", [1, 3]), ("predict_convolution_by_hand_all", [3, 3])],
        "predict_convolution_by_hand_2",
    ),
    "convolution_by_hand.predict_3": number(
        [
            ("predict_right", 1 * 1 + 2 * 2 + 3 * 0),
            ("predict_convolution_by_hand_ones", 3),
            ("predict_convolution_by_hand_first", 1),
            ("predict_convolution_by_hand_upstream", 6),
        ],
        "predict_convolution_by_hand_3",
    ),
    "graphs_that_change.predict_1": number(
        [("predict_right", -3), ("predict_graphs_that_change_other_branch", -2)],
        "predict_graphs_that_change_1",
    ),
    "graphs_that_change.predict_2": number(
        [
            ("predict_right", 4 * 2**3),
            ("predict_graphs_that_change_value", 16),
            ("predict_graphs_that_change_last", 8),
        ],
        "predict_graphs_that_change_2",
    ),
    "graphs_that_change.predict_3": number(
        [
            ("predict_right", 4),
            ("predict_graphs_that_change_whole", 12),
            ("predict_graphs_that_change_result", 8),
        ],
        "predict_graphs_that_change_3",
    ),
    "attention_by_hand.predict_1": several(2)(
        [("predict_right", [3, 3]), ("predict_attention_by_hand_shape", [3, 2])],
        "predict_attention_by_hand_1",
    ),
    "attention_by_hand.predict_2": number(
        [
            ("predict_right", 7),
            ("predict_attention_by_hand_equal", 6),
            ("predict_attention_by_hand_greatest", 8),
        ],
        "predict_attention_by_hand_2",
    ),
    "attention_by_hand.predict_3": number(
        [
            ("predict_right", 3 / 4 * (8 - 7)),
            ("predict_attention_by_hand_no_mean", 6),
            ("predict_attention_by_hand_weight", 1 / 4),
        ],
        "predict_attention_by_hand_3",
    ),
    "finish_the_backward.predict_1": number(
        [
            ("predict_right", 12),
            ("predict_finish_the_backward_whole", 36),
            ("predict_finish_the_backward_by_x", 4),
        ],
        "predict_finish_the_backward_1",
    ),
    "finish_the_backward.predict_2": number(
        [
            ("predict_right", 36),
            ("predict_finish_the_backward_first", 12),
            ("predict_finish_the_backward_added", 15),
        ],
        "predict_finish_the_backward_2",
    ),
    "finish_a_layer.predict_1": several(2, each=2)(
        [
            ("predict_right", [[2, -2], [3, -3]]),
            ("predict_finish_a_layer_transposed", [[2, 3], [-2, -3]]),
            ("predict_finish_a_layer_no_input", [[1, -1], [1, -1]]),
        ],
        "predict_finish_a_layer_1",
    ),
    "finish_a_layer.predict_2": several(2)(
        [
            ("predict_right", [4, 6]),
            ("predict_finish_a_layer_columns", [3, 7]),
            ("predict_finish_a_layer_mean", [2, 3]),
        ],
        "predict_finish_a_layer_2",
    ),
    "five_loops.predict_1": number([("predict_right", 0)], "predict_five_loops_1"),
    "five_loops.predict_2": number(
        [
            ("predict_right", -24 + 8 * 1.2 - 24),
            ("predict_five_loops_reset", 8 * 1.2 - 24),
            ("predict_five_loops_same", -48),
        ],
        "predict_five_loops_2",
    ),
    "five_loops.predict_3": number(
        [
            ("predict_right", None),
            ("predict_five_loops_zero", 0),
            ("predict_five_loops_gradient", lambda given: isinstance(given, int | float) and given < 0),
        ],
        "predict_five_loops_3",
    ),
    "training_two_moons.predict_1": number(
        [("predict_right", math.log(2)), ("predict_training_two_moons_half", 0.5)],
        "predict_training_two_moons_1",
    ),
    "training_two_moons.predict_2": number([("predict_right", 85)], "predict_training_two_moons_2"),
    "training_digits.predict_1": number([("predict_right", 8)], "predict_training_digits_1"),
    "training_digits.predict_2": number([("predict_right", is_near_guess)], "predict_training_digits_2"),
    "training_letters.predict_1": choice("predict_training_letters_1_options")(
        [("predict_right", "first two")], "predict_training_letters_1"
    ),
    "training_letters.predict_2": number([("predict_right", math.log(24))], "predict_training_letters_2"),
}
