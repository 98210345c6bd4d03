"""What each step shows of tensors whose value or `.grad` changes in the course of a call.

See Note [True at this moment] in `model.moments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.moments import NEVER
from ..model.stage import Stage
from ..trace.graph import Card
from .told import Shown


def shown_at(stage: Stage, times: Sequence[tuple[int, int]]) -> list[Shown]:
    """For each step, whose first and last event are given, the cards that stand at another moment than in the
    step before. A step shows how things stand when the next one begins; what was there before the story
    begins stands as it does then."""
    shows: list[dict[str, int]] = [{} for _ in times]
    begin, end = stage.scene.span
    ends = [*(first - 1 for first, _ in times[1:]), end]
    until = [max(begin - 1, last, end) for (_, last), end in zip(times, ends)]
    for part, card in changing(stage):
        numbers = {pair: i for i, pair in enumerate(card.stood)}
        now = numbers.get((card.value, card.grad))
        for step, time in zip(shows, until):
            moment = stage.scene.index.moments.at(card.id, time)
            grad = moment.grad if card.is_leaf else card.grad
            number = numbers.get((moment.value, grad), now)
            if moment is not NEVER and number is not None and number != now:
                step[part] = now = number
    return [tuple(step.items()) for step in shows]


def changing(stage: Stage) -> Iterator[tuple[str, Card]]:
    """The cards that do not stay as they are, with their parts of the picture."""
    for station in stage.stations.values():
        for i, card in enumerate(station.cards):
            if card.stood:
                yield f"{station.id}-c{i}", card
    for fold in stage.graph.folds:
        last = len(stage.stations[fold.station].cards) - 1
        for i, (_, card) in enumerate(fold.parameters):
            if card.stood:
                yield f"{fold.station}-c{last}-p{i}", card
