"""An exercise as data, and the one judge of all answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import minigrad

from ..isolation import pass_on
from ..predicting.question import answer_numbers, same_answer

# ─── What exercises need in order to judge answers


class AnswerError(Exception):
    """What somebody wrote raised an error; the message is its class and its text."""


class Unfit(Exception):
    """An answer has not the form that was asked for."""


def as_numbers(answer: object, size: int) -> np.ndarray:
    """So many numbers, in whatever shape they were given; Unfit for anything else."""
    found = answer_numbers(answer)
    if found is None or found.size != size:
        raise Unfit
    return found.reshape(-1)


def function(answer: object) -> Callable[..., Any]:
    """An answer that is a function; Unfit for anything else, a class too."""
    if not callable(answer) or isinstance(answer, type):
        raise Unfit
    return answer


def attempt(written: object, *args: Any) -> Any:
    """What a function that somebody wrote returns; Raised if it raises, Unfit if it is not a function."""
    if not callable(written):
        raise Unfit
    try:
        return written(*args)
    except Exception as error:
        pass_on(error)
        raise AnswerError(f"{type(error).__name__}: {error}") from error


def library_of(written: Any) -> Any:
    """The library that a function, or the `forward` of a Function, was written for: what it calls `torch`, or
    minigrad."""
    function = getattr(written, "forward", written)
    named = getattr(function, "__globals__", {}).get("torch")
    return named if named is not None and named is sys.modules.get("torch") else minigrad


# ─── An exercise as data, and the one judge of all answers


# The key of a hint, and the answer that it is for: a value, or a condition that tells of what was given.
Cases = Sequence[tuple[str, object]]


def as_given(answer: object) -> object:
    """The answer as it was given."""
    return answer


def praises(key: str) -> bool:
    """Whether this is the key of the text for a right answer."""
    return key.endswith("_right")


class Exercise(NamedTuple):
    """The text for each answer.

    `cases` are the truth and the typical wrong answers, or a function that finds them by running something;
    the first that fits gives the hint, else `other`. The key of the praise ends in `_right`. `read` makes the
    answer plain, or tries what somebody wrote; where it raises Unfit, the answer has not the form that was
    asked for, and `unfit` is the hint. `errors` are the hints for errors that the answer's code may raise, by
    a part of their text. An answer that is to hold at several `places` is judged at each; `read` and `cases`
    receive the place.
    """

    cases: Cases | Callable[..., Cases]
    other: str
    read: Callable[..., Any] = as_given
    unfit: str = "exercise_no_function"
    errors: Mapping[str, str] = MappingProxyType({})
    places: Sequence[Any] = ()
    digits: int = 3

    def judge(self, answer: object) -> str:
        """The key of what is to be said. Raised if what somebody wrote raises an error without a hint."""
        if isinstance(answer, str) and self.numeric():
            return "exercise_quotes"
        key = ""
        try:
            for place in [[each] for each in self.places] or [[]]:
                cases = self.cases(*place) if callable(self.cases) else self.cases
                key = self.told(self.read(answer, *place), cases)
                if not praises(key):
                    break
        except Unfit:
            return self.unfit
        except AnswerError as raised:
            hints = (hint for part, hint in self.errors.items() if part in str(raised))
            if hint := next(hints, None):
                return hint
            raise
        no_number = key == self.other and answer_numbers(answer) is None
        return "exercise_number" if no_number and self.numeric() else key

    def numeric(self) -> bool:
        """Whether the right answer is a number, or a list of numbers, and is taken as it was given."""
        cases = () if callable(self.cases) else self.cases
        right = next((wanted for key, wanted in cases if praises(key)), None)
        return self.read is as_given and answer_numbers(right) is not None

    def told(self, given: object, cases: Cases) -> str:
        """The key of the first case that fits."""
        for key, wanted in cases:
            if wanted(given) if callable(wanted) else same_answer(given, wanted, self.digits):
                return key
        return self.other
