"""Exercises whose answers are Functions, operations with a derivative of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import minigrad

from ...equality import same
from ..answers import Unfit
from ..exercise import Cases, Exercise
from ..functions import Tried, function_of, through, tried


def tried_at(answer: object, places: Sequence[Sequence[Any]], sent: Any) -> list[Tried]:
    """A Function applied to the inputs of each place, and the gradients when `sent` comes back to it."""
    written = function_of(answer)
    if written is None:
        raise Unfit
    return [tried(written, place, sent) for place in places]


def known(operation: Callable[..., Any], places: Sequence[Sequence[Any]], sent: Any) -> list[Tried]:
    """The same for an operation of the library."""
    return [through(minigrad, operation, place, sent) for place in places]


def results(tries: Sequence[Tried]) -> list[Any]:
    """What came out."""
    return [each.result for each in tries]


def gradients(tries: Sequence[Tried]) -> list[Any]:
    """What went back."""
    return [each.gradients for each in tries]


FACTORS = [(2.0, 7.0)]


def product() -> Cases:
    """A Function that multiplies."""
    truth, plain = (known(lambda a, b: a * b, FACTORS, sent) for sent in (10.0, 1.0))
    by_a, by_b = truth[0].gradients
    return [
        ("code_11_forward", lambda mine: not same(results(mine), results(truth))),
        ("code_11_none", lambda mine: any(gradient is None for gradient in mine[0].gradients)),
        ("code_11_right", lambda mine: same(gradients(mine), gradients(truth))),
        ("code_11_swapped", lambda mine: same(gradients(mine), [(by_b, by_a)])),
        ("code_11_not_multiplied", lambda mine: same(gradients(mine), gradients(plain))),
        ("code_11_passed_on", lambda mine: same(gradients(mine), [(10.0, 10.0)])),
    ]


QUOTIENTS = [(3.0, 2.0), (1.0, 4.0), (-2.0, -0.5)]


def quotient() -> Cases:
    """A Function that divides."""
    truth, plain = (known(lambda a, b: a / b, QUOTIENTS, sent) for sent in (10.0, 1.0))
    by_a, by_b = truth[0].gradients
    return [
        ("code_21_forward", lambda mine: not same(results(mine), results(truth))),
        ("code_21_right", lambda mine: same(gradients(mine), gradients(truth))),
        ("code_21_not_multiplied", lambda mine: same(gradients(mine), gradients(plain))),
        ("code_21_one_point", lambda mine: same(gradients(mine[:1]), gradients(truth[:1]))),
        ("code_21_first", lambda mine: not same(mine[0].gradients[0], by_a)),
        ("code_21_unchanged", lambda mine: same(mine[0].gradients[1], -10.0 * truth[0].result.detach())),
        ("code_21_sign", lambda mine: same(mine[0].gradients[1], -by_b)),
    ]


POINTS, SENT = [([0.0, 1.0, -2.0],)], [10.0, 1.0, -3.0]


def sigmoid() -> Cases:
    """A Function that is a sigmoid, and saves its output alone."""
    truth, plain = (known(lambda x: 1 / (1 + (-x).exp()), POINTS, sent) for sent in (SENT, [1.0] * 3))
    value, (wanted,) = truth[0].result.detach(), truth[0].gradients
    like_exp = value * minigrad.tensor(SENT, dtype=minigrad.float64)

    def saved_right(mine: Tried) -> bool:
        return all(same(kept, value) for kept in mine.saved)

    def gradient(mine: list[Tried]) -> Any:
        return mine[0].gradients[0]

    return [
        ("backward_exp_forward", lambda mine: not same(results(mine), results(truth))),
        ("backward_exp_none", lambda mine: gradient(mine) is None),
        ("backward_exp_not_saved", lambda mine: same(gradient(mine), wanted) and not mine[0].saved),
        ("backward_exp_right", lambda mine: same(gradient(mine), wanted) and saved_right(mine[0])),
        ("backward_exp_saved_input", lambda mine: same(gradient(mine), wanted)),
        ("backward_exp_not_multiplied", lambda mine: same(gradient(mine), plain[0].gradients[0])),
        ("backward_exp_like_exp", lambda mine: same(gradient(mine), like_exp)),
    ]


EXERCISES = {
    "code_11": Exercise(
        product,
        "code_11_other",
        read=lambda answer: tried_at(answer, FACTORS, 10.0),
        unfit="code_11_no_function",
    ),
    "code_21": Exercise(
        quotient,
        "code_21_other",
        read=lambda answer: tried_at(answer, QUOTIENTS, 10.0),
        unfit="code_21_no_function",
    ),
    "backward_exp": Exercise(
        sigmoid,
        "backward_exp_other",
        read=lambda answer: tried_at(answer, POINTS, SENT),
        unfit="backward_exp_no_function",
    ),
}
