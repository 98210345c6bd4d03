"""An exercise as data, and the one judge of all answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ..equality import same
from .answers import Raised, Unfit

# The key of a hint, and the answer that it is for: a value, or a condition that tells of what was given.
Cases = Sequence[tuple[str, object]]


def as_given(answer: object) -> object:
    """The answer as it was given."""
    return answer


def praises(key: str) -> bool:
    """Whether this is the key of what is said of a right answer."""
    return key.endswith("_right")


class Exercise(NamedTuple):
    """What there is to say of each answer.

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
        key = ""
        try:
            for place in [[each] for each in self.places] or [[]]:
                cases = self.cases(*place) if callable(self.cases) else self.cases
                key = self.told(self.read(answer, *place), cases)
                if not praises(key):
                    break
        except Unfit:
            return self.unfit
        except Raised as raised:
            hints = (hint for part, hint in self.errors.items() if part in str(raised))
            if hint := next(hints, None):
                return hint
            raise
        return key

    def told(self, given: object, cases: Cases) -> str:
        """The key of the first case that fits."""
        for key, wanted in cases:
            if wanted(given) if callable(wanted) else same(given, wanted, self.digits):
                return key
        return self.other
