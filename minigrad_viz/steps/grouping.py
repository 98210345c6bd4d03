"""Steps that a reader sees as one; what each shows of tensors whose value or `.grad` changes in the course of
a call, see Note [True at this moment] in `model.moments`; and how the steps of a picture show inside one of
its closed boxes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..model.scene import Scene
from ..model.stage import Stage, each_once
from ..trace.graph import Card, Graph, Update
from .story import BACKWARD, FORWARD, Step, Story
from .told import Frame, Shown

LIMIT = 1000  # steps; if there are more, the middle ones become one step


def grouped(steps: Iterable[Step]) -> list[list[Step]]:
    """Steps in a row that one station stands for, together."""
    groups: list[list[Step]] = []
    for step in steps:
        last = groups[-1][0] if groups else None
        if last is not None and step.fold and (step.fold, step.phase) == (last.fold, last.phase):
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def limited(phases: Sequence[str], limit: int = LIMIT) -> list[list[int]]:
    """The places of steps of these phases, each alone, at most `limit` of them: of a phase with too many the
    places in its middle together.

    Each phase has half the room, and what the other leaves.
    """
    size = Counter(phases)
    result: list[list[int]] = []
    middle: dict[str, list[int]] = {}
    seen: Counter[str] = Counter()
    for place, phase in enumerate(phases):
        room = max(limit - size[BACKWARD if phase == FORWARD else FORWARD], limit // 2)
        head = room // 2
        seen[phase] += 1
        if size[phase] <= room or seen[phase] <= head or seen[phase] > size[phase] - (room - head - 1):
            result.append([place])
        elif phase in middle:
            middle[phase].append(place)
        else:
            middle[phase] = [place]
            result.append(middle[phase])
    return result


def frames_inside(scene: Scene, graph: Graph, parts: Iterable[Graph]) -> list[tuple[Frame, ...]]:
    """For each of `parts`, graphs inside the boxes of `graph`: a frame for every frame of `graph`, with what
    it marks and shows there. They have no text, because the text describes the box as a whole."""
    parts = list(parts)
    if not parts:
        return []
    groups = grouped(Story(Stage(scene, graph, None)).steps())
    runs = limited([group[0].phase for group in groups])
    steps = [[step for place in places for step in groups[place]] for places in runs]
    return [tuple(_inside(Stage(scene, part, None), steps)) for part in parts]


def _inside(stage: Stage, frames: list[list[Step]]) -> Iterable[Frame]:
    shows = shown_at(stage, [(steps[0].begin, steps[-1].time) for steps in frames])
    for steps, shown in zip(frames, shows):
        marks = each_once(_marks(stage, step) for step in steps)
        yield Frame(tuple(marks), "", phase=steps[-1].phase, shows=shown)


def _marks(stage: Stage, step: Step) -> tuple[str, ...]:
    """What a step marks."""
    if isinstance(step.event, Update):
        return stage.card_marks((change.tensor for change in step.event.changes), arrows=False)
    return stage.marks(step.event)


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
        for i, moment in stage.scene.moments.changes(card.id, until):
            number = numbers.get((moment.value, moment.grad if card.is_leaf else card.grad), now)
            if number is not None and number != now:
                shows[i][part] = now = number
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
