"""Parts of a sequence that repeat: `a b c a b c a b c d` has three rounds of `a b c`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

ROUNDS = 3  # fewer are no repetition worth a box
WORK = 2_000_000  # comparisons that may be made for one sequence


class Repeat(NamedTuple):
    """`rounds` times the same `length` elements, from `start` on."""

    start: int
    length: int
    rounds: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + self.length * self.rounds


def repeats(sequence: Sequence[Hashable]) -> list[Repeat]:
    """The repetitions that cover most, none overlapping another, in order."""
    n = len(sequence)
    found = [
        repeat
        for length in range(1, min(n // ROUNDS, WORK // max(n, 1)) + 1)
        for repeat in of_length(sequence, length)
    ]
    taken: list[Repeat] = []
    for repeat in sorted(found, key=lambda r: (-r.length * r.rounds, r.length, r.start)):
        if all(repeat.end <= other.start or other.end <= repeat.start for other in taken):
            taken.append(repeat)
    return sorted(taken)


def of_length(sequence: Sequence[Hashable], length: int) -> Iterator[Repeat]:
    """The repetitions of so many elements, each as long as it goes."""
    start, n = 0, len(sequence)
    while start + length * ROUNDS <= n:
        end = start
        while end + length < n and sequence[end] == sequence[end + length]:
            end += 1
        rounds = (end - start) // length + 1
        if rounds >= ROUNDS:
            yield Repeat(start, length, rounds)
        start = end + 1 if rounds < ROUNDS else start + length * rounds
