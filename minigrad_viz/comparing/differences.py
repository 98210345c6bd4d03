"""The first thing that two runs did not do alike, and which tensors of both are the same.

Note [What counts as the same]
    Two runs are read side by side, in the order of time. Two deeds are the same if the op, its inputs, its
    arguments, the nodes that it left and the numbers that came of it are. Inputs are the same if what made
    them was. Numbers are the same if they agree as far as the less precise dtype of both can say: a float32
    and a float64 that differ by rounding count as equal, and so do minigrad and PyTorch. Two libraries may
    use the parameters of a layer in another order: what no line of the cell made comes first in both. After
    the first difference the runs may go different ways; what follows is matched op by op, to draw both alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, NamedTuple

from ..protocol import Value
from .deeds import CREATED, RAN, UNSEEN, Deed

# What differs: what was done, on what, with what, the node that it left, or the numbers.
DEED, INPUTS, ARGUMENTS, NODE, VALUE = "deed", "inputs", "arguments", "node", "value"
DIGITS = {"float16": 2, "bfloat16": 1, "float32": 5, "complex64": 5, "float64": 10, "complex128": 10}
MATCHED = 4000  # deeds of both runs; of longer runs what follows the first difference is not matched
FORM = re.compile(r"_(scalar|tensor|self|other)$")  # of one op in one library, by the kind of its arguments
KIND = re.compile(r"\d+$")


class Difference(NamedTuple):
    """The first difference: the deeds of both runs (None where one of them had ended), `what` differs, and of
    a difference in numbers which of the `values` (`at`)."""

    what: str
    a: Deed | None
    b: Deed | None
    at: int = 0


class Aligned(NamedTuple):
    """Two runs: `alike` deeds at the beginning are the same, then comes the `difference`, if there is one.
    `pairs` has for tensors of the first run those of the second."""

    alike: int
    difference: Difference | None
    pairs: dict[str, str]


class Pairs:
    """Which tensor of the second run is which of the first."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        self.taken: set[str] = set()

    def take(self, x: Deed, y: Deed) -> None:
        """What two deeds made is the same, unless one of it is known as another."""
        for mine, other in zip(x.outputs, y.outputs, strict=False):
            if mine.id not in self.of and other.id not in self.taken:
                self.of[mine.id] = other.id
                self.taken.add(other.id)

    def same(self, mine: str | None, other: str | None) -> bool:
        """Whether two inputs are the same; so they are taken to be where nobody saw how they were made."""
        if mine is None or other is None:
            return mine is other
        return self.of.get(mine) == other or (mine not in self.of and other not in self.taken)


def aligned(a: Sequence[Deed], b: Sequence[Deed]) -> Aligned:
    """Where two runs first differ."""
    pairs = Pairs()
    for i, (x, y) in enumerate(zip_longest(a, b)):
        found = (DEED, 0) if x is None or y is None else unlike(x, y, pairs)
        if found is None or found[0] != DEED:
            pairs.take(x, y)
        if found is not None:
            follow(a[i:], b[i:], pairs)
            return Aligned(i, Difference(found[0], x, y, found[1]), pairs.of)
    return Aligned(len(a), None, pairs.of)


def given_first(deeds: Sequence[Deed]) -> tuple[Deed, ...]:
    """Deeds with those first by which tensors were found that no line made, in the order of their numbers."""
    given: list[Deed] = []
    others: list[Deed] = []
    for deed in deeds:
        found = deed.kind == CREATED and deed.span is None and not deed.inputs
        (given if found else others).append(deed)
    given.sort(key=lambda deed: repr([(v.shape, v.items, v.low) for v in deed.values if v]))
    return (*given, *others)


def follow(a: Sequence[Deed], b: Sequence[Deed], pairs: Pairs) -> None:
    """Match what follows the first difference, by what was done alone."""
    if len(a) + len(b) > MATCHED:
        return
    keys = [[(deed.kind, plain(deed.op)) for deed in run] for run in (a, b)]
    for i, j, count in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks():
        for x, y in zip(a[i : i + count], b[j : j + count], strict=True):
            pairs.take(x, y)


def unlike(x: Deed, y: Deed, pairs: Pairs) -> tuple[str, int] | None:
    """What differs between two deeds, and which of their numbers; None if they are the same."""
    if x.kind != y.kind or not same_op(x, y):
        return DEED, 0
    if plain(x.op) == plain(y.op) and UNSEEN not in (x.inputs, y.inputs):
        if len(x.inputs) != len(y.inputs) or not all(map(pairs.same, x.inputs, y.inputs)):
            return INPUTS, 0
        if [*map(number_in, x.arguments)] != [*map(number_in, y.arguments)]:
            return ARGUMENTS, 0
    asking = [[state.requires_grad for state in deed.outputs] for deed in (x, y)]
    if x.nodes != y.nodes or asking[0] != asking[1]:
        return NODE, 0
    seen = UNSEEN not in (x.inputs, y.inputs)  # else nobody may have seen what came of it, either
    values = enumerate(zip_longest(x.values, y.values))
    return next(((VALUE, i) for i, (p, q) in values if (seen or (p and q)) and not near(p, q)), None)


def same_op(x: Deed, y: Deed) -> bool:
    """Whether two deeds are of one op. Two libraries may call an op differently, with other arguments; then
    its node tells, and without a node its source."""
    if plain(x.op) == plain(y.op):
        return True
    text = [deed.span and deed.span.flat for deed in (x, y)]
    same = all(x.nodes) or (x.kind == RAN and not any(x.nodes) and text[0] is not None and text[0] == text[1])
    return bool(x.outputs) and x.nodes == y.nodes and same


def plain(op: str) -> str:
    """The name of an op without the form that a library chose by the kind of the arguments."""
    return FORM.sub("", op)


def number_in(argument: str | None) -> Any:
    """An argument as a number, where it is one: 2 and 2.0 are the same."""
    try:
        return argument if argument is None else float(argument)
    except ValueError:
        return argument


def near(p: Value | None, q: Value | None) -> bool:
    """Whether two snapshots are the same numbers, as far as the less precise dtype can say."""
    if p is None or q is None:
        return p is q
    if p.shape != q.shape or KIND.sub("", p.dtype) != KIND.sub("", q.dtype):
        return False
    if p == q:
        return True
    mine, other = (list(numbers_of(value)) for value in (p, q))
    tolerance = 10.0 ** -min(DIGITS.get(value.dtype, 15) for value in (p, q))
    largest = max((abs(n) for n in (*mine, *other) if n == n and abs(n) != float("inf")), default=0.0)
    return len(mine) == len(other) and all(
        n == m or (n != n and m != m) or abs(n - m) <= tolerance * max(largest, tolerance)
        for n, m in zip(mine, other, strict=True)
    )


def numbers_of(value: Value) -> Iterator[Any]:
    """The numbers of a snapshot; of a large one the extremes."""
    if value.items is not None:
        yield from value.items
        return
    yield from (n for n in (value.low, value.high) if n is not None)
