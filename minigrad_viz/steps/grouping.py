"""Steps that a reader sees as one, and how the steps of a picture show inside one of its closed boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..model.scene import Scene
from ..model.stage import Stage
from ..trace.graph import Graph, Update
from .closed_box import cards
from .showing import shown_at
from .story import BACKWARD, FORWARD, Step, Story
from .told import Frame

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
    groups = grouped(Story(Stage(scene, graph, None)).steps())
    runs = limited([group[0].phase for group in groups])
    steps = [[step for place in places for step in groups[place]] for places in runs]
    return [tuple(_inside(Stage(scene, part, None), steps)) for part in parts]


def _inside(stage: Stage, frames: list[list[Step]]) -> Iterable[Frame]:
    shows = shown_at(stage, [(steps[0].begin, steps[-1].time) for steps in frames])
    for steps, shown in zip(frames, shows):
        marks = dict.fromkeys(mark for step in steps for mark in _marks(stage, step))
        yield Frame(tuple(marks), "", phase=steps[-1].phase, shows=shown)


def _marks(stage: Stage, step: Step) -> tuple[str, ...]:
    """What a step marks."""
    if isinstance(step.event, Update):
        return cards(stage, tuple(change.tensor for change in step.event.changes))
    return stage.marks(step.event)
