"""Exercises whose answers are Functions, operations with a derivative of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import minigrad

from ...equality import same
from ...protocol import is_tensor, pytorch
from ..answers import Unfit, attempt, library_of
from ..exercise import Cases, Exercise


class Tried(NamedTuple):
    """What a Function gave: its result, the gradients of its inputs, the tensors that it saved."""

    result: Any
    gradients: tuple[Any, ...]
    saved: tuple[Any, ...]


def function_of(answer: object) -> type[Any] | None:
    """The Function that an answer is, or whose `apply` it is; None for anything else."""
    written = answer if isinstance(answer, type) else getattr(answer, "__self__", None)
    known = [library.autograd.Function for library in (minigrad, pytorch()) if library]
    if isinstance(written, type) and issubclass(written, tuple(known)) and written not in known:
        return written
    return None


def tried(written: type[Any], inputs: Sequence[Any], sent: Any) -> Tried:
    """`written` applied to `inputs`, in double precision, and the gradients when `sent` comes back to it.

    Raised if what somebody wrote raises.
    """
    library = library_of(written)

    def run() -> Tried:
        given = [library.tensor(value, dtype=library.float64, requires_grad=True) for value in inputs]
        result = written.apply(*given)
        if not is_tensor(result):
            raise TypeError(f"forward returned {type(result).__name__}, not a tensor")
        saved = getattr(result.grad_fn, "saved_tensors", ())
        came = library.tensor(sent, dtype=library.float64)
        return Tried(result, library.autograd.grad(result, given, came, allow_unused=True), saved)

    return attempt(run)


def trying(places: Sequence[Sequence[Any]], sent: Any) -> Callable[[object], list[Tried]]:
    """What applies a Function to the inputs of each place, and sends `sent` back to it."""

    def read(answer: object) -> list[Tried]:
        written = function_of(answer)
        if written is None:
            raise Unfit
        return [tried(written, place, sent) for place in places]

    return read


def results(tries: Sequence[Tried]) -> list[Any]:
    """What came out."""
    return [each.result for each in tries]


def gradients(tries: Sequence[Tried]) -> list[Any]:
    """What went back."""
    return [each.gradients for each in tries]


FACTORS, GIVEN = [(2.0, 7.0)], 10.0
PRODUCT: Cases = [
    ("code_11_forward", lambda mine: not same(results(mine), [14])),
    ("code_11_none", lambda mine: any(gradient is None for gradient in mine[0].gradients)),
    ("code_11_right", lambda mine: same(gradients(mine), [(70, 20)])),
    ("code_11_swapped", lambda mine: same(gradients(mine), [(20, 70)])),
    ("code_11_not_multiplied", lambda mine: same(gradients(mine), [(7, 2)])),
    ("code_11_passed_on", lambda mine: same(gradients(mine), [(10, 10)])),
]

PAIRS = [(3.0, 2.0), (1.0, 4.0), (-2.0, -0.5)]
SLOPES = [(1 / b, -a / b**2) for a, b in PAIRS]
TRUTH = [(GIVEN * by_a, GIVEN * by_b) for by_a, by_b in SLOPES]
QUOTIENT: Cases = [
    ("code_21_forward", lambda mine: not same(results(mine), [a / b for a, b in PAIRS])),
    ("code_21_right", lambda mine: same(gradients(mine), TRUTH)),
    ("code_21_not_multiplied", lambda mine: same(gradients(mine), SLOPES)),
    ("code_21_one_point", lambda mine: same(gradients(mine[:1]), TRUTH[:1])),
    ("code_21_first", lambda mine: not same(mine[0].gradients[0], TRUTH[0][0])),
    ("code_21_unchanged", lambda mine: same(mine[0].gradients[1], -GIVEN * 3 / 2)),
    ("code_21_sign", lambda mine: same(mine[0].gradients[1], -TRUTH[0][1])),
]

POINTS, SENT = [([0.0, 1.0, -2.0],)], [10.0, 1.0, -3.0]
SIGMOID = 1 / (1 + np.exp(-np.array(POINTS[0][0])))
ITS_SLOPE = SIGMOID * (1 - SIGMOID)


def came(gradient: np.ndarray) -> Callable[[list[Tried]], bool]:
    """Whether that gradient came back."""
    return lambda mine: same(mine[0].gradients[0], gradient)


right = came(SENT * ITS_SLOPE)
# A sigmoid that saves its output alone.
SAVING: Cases = [
    ("backward_exp_forward", lambda mine: not same(results(mine), [SIGMOID.tolist()])),
    ("backward_exp_none", lambda mine: mine[0].gradients[0] is None),
    ("backward_exp_not_saved", lambda mine: right(mine) and not mine[0].saved),
    ("backward_exp_right", lambda mine: right(mine) and all(same(kept, SIGMOID) for kept in mine[0].saved)),
    ("backward_exp_saved_input", right),
    ("backward_exp_not_multiplied", came(ITS_SLOPE)),
    ("backward_exp_like_exp", came(SENT * SIGMOID)),
]

EXERCISES = {
    "code_11": Exercise(PRODUCT, "code_11_other", trying(FACTORS, GIVEN), "exercise_no_class"),
    "code_21": Exercise(QUOTIENT, "code_21_other", trying(PAIRS, GIVEN), "exercise_no_class"),
    "backward_exp": Exercise(SAVING, "backward_exp_other", trying(POINTS, SENT), "exercise_no_class"),
}
