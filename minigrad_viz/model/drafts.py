"""Groups while they are put together: what repeats in a sequence, and which groups hold what was not
computed in them, leaves and results that nobody saw being computed. See Note [What is one box] in
`groups`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..trace.graph import FUNCTION, MODULE, PARAMETER, Graph, Station
from .main_part import leading_to_them
from .module_calls import ModuleCall
from .place import Place
from .scene import Scene

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
    kinds: dict[Hashable, int] = {}
    numbers = np.array([kinds.setdefault(element, len(kinds)) for element in sequence], dtype=np.int64)
    found = [
        repeat
        for length in range(1, min(n // ROUNDS, WORK // max(n, 1)) + 1)
        for repeat in of_length(numbers, length)
    ]
    taken: list[Repeat] = []
    for repeat in sorted(found, key=lambda r: (-r.length * r.rounds, r.length, r.start)):
        if all(repeat.end <= other.start or other.end <= repeat.start for other in taken):
            taken.append(repeat)
    return sorted(taken)


def of_length(numbers: NDArray[np.int64], length: int) -> Iterator[Repeat]:
    """The repetitions of so many elements, each as long as it goes. Equal elements have equal numbers."""
    differ = np.flatnonzero(numbers[:-length] != numbers[length:])
    begins, ends = np.append(0, differ + 1), np.append(differ, len(numbers) - length)
    free = 0
    for run in np.flatnonzero(ends - begins >= length * (ROUNDS - 1)):
        start = max(free, int(begins[run]))
        rounds = (int(ends[run]) - start) // length + 1
        if rounds >= ROUNDS:
            yield Repeat(start, length, rounds)
            free = start + length * rounds


class GroupDraft:
    """A group while it is being put together; the outermost has no kind. `items` are boxes and places of the
    scene, in the order in which they ran; `given` the tensors that it received."""

    def __init__(self, kind: str, title: str, items: list[Any], call: ModuleCall | None = None) -> None:
        self.kind, self.title, self.items, self.call = kind, title, items, call
        self.path = call.event.path if call is not None else ""
        self.around: GroupDraft | None = None
        self.times = 1
        self.leaves: list[Place] = []  # what nobody computed and stands inside
        self.given: set[str] = set() if call is None else set(call.inputs)

    def places(self) -> Iterator[Place]:
        """All places inside that were computed there."""
        for item in self.items:
            yield from item.places() if isinstance(item, GroupDraft) else (item,)

    def boxes(self) -> Iterator[GroupDraft]:
        """The boxes inside, outer ones first."""
        for item in self.items:
            if isinstance(item, GroupDraft):
                yield item
                yield from item.boxes()

    def chain(self) -> list[GroupDraft]:
        """This box and those around it, innermost first."""
        found, box = [], self
        while box.around is not None:
            found.append(box)
            box = box.around
        return [*found, box]


def absorb(
    scene: Scene, graph: Graph, root: GroupDraft, calls: dict[int, GroupDraft], here: list[Place]
) -> None:
    """Put leaves, and results that nobody saw, into the boxes that alone use them."""
    at: dict[str, GroupDraft] = {
        p.id: box for box in (root, *root.boxes()) for p in box.items if isinstance(p, Place)
    }
    stations = {station.id: station for station in graph.stations}
    users: dict[str, set[str]] = {}
    main = leading_to_them(graph, [scene.at[root][0].id for root in scene.now.roots if root in scene.at])
    for route in graph.routes:
        if route.target in main or route.source not in main:
            users.setdefault(route.source, set()).add(route.target)
    for place in reversed(here):
        if place.id in at:
            continue
        if place.id in scene.given:
            continue  # another call's
        used = [at[id] for id in users.get(place.id, ()) if id in at]
        box = root
        call = scene.index.module_calls.at(place.time) if place.brought and place.node and not used else None
        if call is not None and call.event.number in calls:
            box = calls[call.event.number]  # a result that nobody used
        elif used and place.order == 1:
            box = home(place, stations[place.id], common(used), scene)
        at[place.id] = box
        box.leaves.append(place)


def common(boxes: list[GroupDraft]) -> GroupDraft:
    """The innermost box around all of these."""
    chains = [box.chain() for box in boxes]
    return next(box for box in chains[0] if all(box in chain for chain in chains))


def home(place: Place, station: Station, box: GroupDraft, scene: Scene) -> GroupDraft:
    """The box in which something stands that is used in `box` alone: that or one around it."""
    card = station.cards[0]
    ids = {state.id for state in place.states}
    chain = box.chain()
    if card.role == PARAMETER:
        chain = [each for each in chain if each.kind in ("", MODULE)]
    elif card.requires_grad and card.is_leaf:
        return chain[-1]
    elif card.held and card.name:
        target = box.kind == FUNCTION and place.node is None and ids.isdisjoint(first_inputs(box))
        return box if target else chain[-1]
    given = (i + 1 for i, each in enumerate(chain) if not ids.isdisjoint(each.given))
    return chain[max(given, default=0)]


def first_inputs(box: GroupDraft) -> set[str | None]:
    """The first input of each result in a box."""
    return {place.inputs[0] for place in box.places() if place.inputs}
