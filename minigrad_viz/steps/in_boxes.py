"""The steps of a picture as they show inside one of its closed boxes."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.scene import Scene
from ..model.stage import Stage
from ..trace.graph import Graph, Update
from .grouping import grouped, limited
from .showing import shown_at
from .story import Step, Story
from .timeline import Frame
from .updating import cards


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
        yield Frame(steps[-1].phase, tuple(marks), "", "", shows=shown)


def _marks(stage: Stage, step: Step) -> tuple[str, ...]:
    """What a step marks."""
    if isinstance(step.event, Update):
        return cards(stage, tuple(change.tensor for change in step.event.changes))
    return stage.marks(step.event)
