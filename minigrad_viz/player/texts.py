"""Tables of texts: many variants of one thing that differ in their numbers, each number stored once.

Rounds of a loop and states of live values are such variants. The same number occurs in several texts: in a
station, on an arrow, in a formula. So a text is stored as the parts around its numbers, with the column of
each number:

    columns  ["1. 1.2 1.4", …]: the numbers of one place in all variants
    text     [part, column, part, column, …, part], or, where the words change as well,
             {"forms": [text or "the same", …], "at": [which of them in each variant]}

A table says how variants differ from one of them, the whole, and `stepper_texts.js` makes them of it:

    table    {"columns": […], "texts": difference}
    difference  a text; {"values": [value, …], "at": [which of them in each variant]}; or by key, or by place
             in a list or among the tags and texts of a piece of SVG, what differs there
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

NUMBER = re.compile(r"(-?\d+\.?\d*(?:e[-+]?\d+)?|\bnan\b|-?\binf\b)")
OWN = frozenset({"forms", "values"})  # keys of the table itself
NONE = "."  # in a column, where a variant has another form
PIECE = re.compile(r"""<g class=["']heat["']>.*?</g>|<[^>]*>|[^<]+""")  # of SVG: a map, a tag, or a text


class Columns:
    """The columns of `count` variants."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.known: dict[str, int] = {}

    def number(self, numbers: Sequence[str]) -> int:
        """The column with these numbers."""
        return self.known.setdefault(" ".join(numbers), len(self.known))

    def text(self, variants: Sequence[str]) -> Any:
        """A text of which all variants are given; itself where they are the same."""
        if all(each == variants[0] for each in variants):
            return variants[0]
        split = [NUMBER.split(each) for each in variants]
        forms = list(dict.fromkeys(tuple(parts[::2]) for parts in split))
        at = [forms.index(tuple(parts[::2])) for parts in split]
        made = [self.form(parts, split, at, i) for i, parts in enumerate(forms)]
        return made[0] if len(made) == 1 else {"forms": made, "at": at}

    def form(self, parts: Sequence[str], split: Sequence[list[str]], at: Sequence[int], i: int) -> Any:
        """One form of a text; numbers that never change stay in its parts."""
        made: list[Any] = [parts[0]]
        absent = [NONE] * (len(parts) - 1)
        rows = [each[1::2] if which == i else absent for each, which in zip(split, at, strict=True)]
        for numbers, part in zip(zip(*rows, strict=True), parts[1:], strict=True):
            found = {*numbers} - {NONE}
            if len(found) == 1:
                made[-1] += found.pop() + part
            else:
                made += [self.number(numbers), part]
        return made if len(made) > 1 else made[0]

    def difference(self, variants: Sequence[Any]) -> Any:
        """In what values differ, which are data as JSON has it; None where they do not."""
        first = variants[0]
        if all(each == first for each in variants):
            return None
        if all(isinstance(each, str) for each in variants):
            pieces = [pieces_of(each) for each in variants] if first.startswith("<") else []
            if len({len(each) for each in pieces}) == 1 and len(pieces[0]) > 1:
                return self._by_place(pieces)
            return self.text(variants)
        if all(isinstance(each, list) and len(each) == len(first) for each in variants):
            return self._by_place(variants)
        if all(isinstance(each, dict) and each.keys() == first.keys() for each in variants):
            assert first.keys().isdisjoint(OWN), "a key would be read as one of the table"
            parts = {key: self.difference([each[key] for each in variants]) for key in first}
            return {key: part for key, part in parts.items() if part is not None}
        values = list(dict.fromkeys(json.dumps(each) for each in variants))
        at = [values.index(json.dumps(each)) for each in variants]
        return {"values": [json.loads(each) for each in values], "at": at}

    def _by_place(self, variants: Sequence[Sequence[Any]]) -> Any:
        parts = [self.difference(each) for each in zip(*variants, strict=True)]
        return {str(i): part for i, part in enumerate(parts) if part is not None}


def pieces_of(svg: str) -> list[str]:
    """The tags and texts of a piece of SVG."""
    return PIECE.findall(svg)


def table_of(variants: Sequence[Any]) -> dict[str, Any]:
    """The table of some variants, any of which is the whole."""
    columns = Columns(len(variants))
    texts = columns.difference(variants)
    return {"columns": list(columns.known), "texts": texts or {}}


def store_states(states: Sequence[Mapping[str, Mapping[str, str]]]) -> dict[str, Any]:
    """States as {kind: {id: text}}, with the same kinds and ids in each, as columns and texts. What never
    changes is left out."""
    columns = Columns(len(states))
    texts: dict[str, dict[str, Any]] = {}
    for kind, ids in states[0].items():
        told = {id: columns.text([state[kind][id] for state in states]) for id in ids}
        texts[kind] = {id: text for id, text in told.items() if not isinstance(text, str)}
    return {"columns": list(columns.known), "texts": texts}
