"""Many states of the same texts, stored so that each number stands there once.

From state to state only numbers change, and the same number stands in several texts: in a station, on an
arrow, in a formula. So a text is stored as the parts around its numbers, with the column of each number:

    columns  ["1. 1.2 1.4", …]: the numbers of one place in all states
    text     "the same in all states", or [part, column, part, column, …, part], or, where the words change as
             well, {"forms": [text, …], "at": [which of them in each state]}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

NUMBER = re.compile(r"(-?\d+\.?\d*(?:e[-+]?\d+)?|\bnan\b|-?\binf\b)")
NONE = "."  # in a column, where a state has another form


class Columns:
    """The columns of `count` states."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.known: dict[str, int] = {}

    def number(self, numbers: Sequence[str]) -> int:
        """The column with these numbers."""
        return self.known.setdefault(" ".join(numbers), len(self.known))

    def text(self, said: Sequence[str]) -> Any:
        """A text of which all states are given."""
        if all(each == said[0] for each in said):
            return said[0]
        split = [NUMBER.split(each) for each in said]
        forms = list(dict.fromkeys(tuple(parts[::2]) for parts in split))
        at = [forms.index(tuple(parts[::2])) for parts in split]
        made = [self.form(parts, split, at, i) for i, parts in enumerate(forms)]
        return made[0] if len(made) == 1 else {"forms": made, "at": at}

    def form(self, parts: Sequence[str], split: Sequence[list[str]], at: Sequence[int], i: int) -> Any:
        """One form of a text; numbers that never change stay in its parts."""
        made: list[Any] = [parts[0]]
        for place, part in enumerate(parts[1:]):
            numbers = [each[2 * place + 1] if which == i else NONE for each, which in zip(split, at)]
            found = {number for number in numbers if number != NONE}
            if len(found) == 1:
                made[-1] += found.pop() + part
            else:
                made += [self.number(numbers), part]
        return made if len(made) > 1 else made[0]


def stored(states: Sequence[Mapping[str, Mapping[str, str]]]) -> dict[str, Any]:
    """States as {kind: {id: text}}, with the same kinds and ids in each, as columns and texts. What never
    changes is left out."""
    columns = Columns(len(states))
    texts: dict[str, dict[str, Any]] = {}
    for kind, ids in states[0].items():
        told = {id: columns.text([state[kind][id] for state in states]) for id in ids}
        texts[kind] = {id: text for id, text in told.items() if not isinstance(text, str)}
    return {"columns": list(columns.known), "texts": texts}
