"""How a known error is recognized by its text, and what of that its rule is given."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ..trace.explained import Explanation
from .case import Case, Uncertain

Explain = Callable[..., Explanation | None]  # of a case and what the pattern of a rule found
F = TypeVar("F", bound=Callable[..., Any])


class Rule(NamedTuple):
    """How a known error is recognized and explained. `key` is that of the explanation, one of `patterns` is
    found in the error's class and text, and `explain` is given the case and the groups of that pattern. It
    returns what is certain; None, or Uncertain: it is another error after all."""

    key: str
    explain: Explain
    patterns: tuple[re.Pattern[str], ...]

    def apply(self, case: Case) -> Explanation | None:
        """The explanation of an error; None for one that this rule does not know."""
        match = next(filter(None, (pattern.search(case.error) for pattern in self.patterns)), None)
        if match is None:
            return None
        try:
            found = self.explain(case, **{name: read(text) for name, text in match.groupdict().items()})
        except Uncertain:
            return None
        return found and found._replace(key=found.key or self.key)


RULES: dict[str, list[Rule]] = {}  # by module, in the order of its source
SLOT = re.compile(r"\{(\w+)\}")


def rule(key: str, *patterns: str) -> Callable[[F], F]:
    """A function that explains errors in whose text one of `patterns` is found. In a pattern, `{name}` stands
    for a number, a shape or a word, which the function is given by that name."""

    def declare(explain: F) -> F:
        written = (SLOT.sub(r"(?P<\1>\[[-\\d, ]*\]|[-\\w]+(?:\\.\\w+)*)", pattern) for pattern in patterns)
        known = Rule(key, explain, tuple(re.compile(pattern, re.DOTALL) for pattern in written))
        RULES.setdefault(explain.__module__, []).append(known)
        return explain

    return declare


def read(text: str | None) -> Any:
    """What a group of a pattern found: a whole number, a shape as `[4, 2]` or `4x2`, or text."""
    if text is not None and re.fullmatch(r"-?\d+", text):
        return int(text)
    return numbers(text) if text is not None and re.fullmatch(r"\[[-\d, ]*\]|\d+(x\d+)+", text) else text


def numbers(text: str) -> tuple[int, ...]:
    """The whole numbers in a text, as a shape."""
    return tuple(int(number) for number in re.findall(r"-?\d+", text))
