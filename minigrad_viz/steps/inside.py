"""The steps of a picture inside of its boxes: what each marks there, and the steps that are one step outside.

Note [Steps inside a box]
    To the whole picture a box is one station, and all that happens in it in a row is one step. Inside of it
    that is several: `inner_steps` has them for each step of the whole, with their own sentences, so that a
    player can go through them while the box is open. The steps that nothing inside is about stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from ..model.scene import Scene
from ..model.views import Stage, each_once
from ..trace.events import Forward, InPlaceWrite, NodeRan
from ..trace.graph import Graph, Update
from .frames import Frame
from .story import Step, Story, group_steps, limit_steps, shown_at
from .timeline import tell

FORMULAS = 2  # of one of these steps
TOLD = (Forward, InPlaceWrite, NodeRan)  # events that are steps of their own inside a box


def whole_steps(scene: Scene, graph: Graph) -> list[list[Step]]:
    """The steps of a graph, each with all that happens in it."""
    groups = group_steps(Story(Stage(scene, graph, None)).steps())
    runs = limit_steps([group[0].phase for group in groups])
    return [[step for place in places for step in groups[place]] for places in runs]


def frames_inside(scene: Scene, wholes: Sequence[list[Step]], part: Graph) -> tuple[Frame, ...]:
    """For each step of the whole, see `whole_steps`, what it marks and shows in a `part` inside a box. These
    frames have no text, because the text describes the box as a whole."""
    stage = Stage(scene, part, None)
    shows = shown_at(stage, [(steps[0].begin, steps[-1].time) for steps in wholes])
    coming = gradients_from_outside(part)
    return tuple(
        Frame(marks_of(stage, steps, coming), "", phase=steps[-1].phase, shows=shown)
        for steps, shown in zip(wholes, shows)
    )


class InnerSteps(NamedTuple):
    """The steps of a part: the first `ends[i]` of them are over when step `i` of the whole is, from 0."""

    frames: tuple[Frame, ...]
    ends: tuple[int, ...]


def inner_steps(
    scene: Scene, wholes: Sequence[list[Step]], part: Graph, outside: Collection[str], lang: str | None
) -> InnerSteps:
    """The steps of a `part` inside a box, some of whose stations are `outside` of it, for the steps of the
    whole, see `whole_steps`."""
    stage = Stage(scene, part, lang, lettered=True)
    story = Story(stage)
    coming = gradients_from_outside(part)
    groups = [group for group in group_steps(story.steps()) if is_inside(stage, group, outside)]
    frames: list[Frame] = []
    ends: list[int] = []
    times: list[tuple[int, int]] = []
    for steps in wholes:
        begin, end, phase = steps[0].begin, steps[-1].time, steps[-1].phase
        mine = [g for g in groups if begin <= g[0].begin and g[-1].time <= end and g[0].phase == phase]
        all_marks = marks_of(stage, steps, coming)
        if len(mine) > 1:
            told = [brief_frame(tell(story, (), g), marks_of(stage, g, coming), phase) for g in mine]
            rest = dict.fromkeys(all_marks).keys() - {mark for frame in told for mark in frame.marks}
            told[-1] = told[-1]._replace(marks=(*told[-1].marks, *sorted(rest)))
            frames += told
            times += [(group[0].begin, group[-1].time) for group in mine]
        else:
            frames.append(Frame(all_marks, "", phase=phase))
            times.append((begin, end))
        ends.append(len(frames))
    shows = shown_at(stage, times)
    return InnerSteps(tuple(f._replace(shows=s) for f, s in zip(frames, shows)), tuple(ends))


def brief_frame(frame: Frame, marks: tuple[str, ...], phase: str) -> Frame:
    """A step with the marks that it has in a part; of its formulas the first ones."""
    formulas = [each for each in frame.lines if each.formula is not None][:FORMULAS]
    lines = tuple(each for each in frame.lines if each.formula is None or each in formulas)
    return frame._replace(marks=marks, phase=phase, lines=lines)


def is_inside(stage: Stage, group: Sequence[Step], outside: Collection[str]) -> bool:
    """Whether steps that are one are about a station of the part itself."""
    first = next((step for step in group if isinstance(step.event, TOLD)), None)
    marks = () if first is None else marks_of_step(stage, first)
    return bool(marks) and marks[0].partition("-")[0] not in outside


def marks_of(stage: Stage, steps: Iterable[Step], coming: dict[str, list[str]]) -> tuple[str, ...]:
    """What steps mark, with the gradients that come from outside."""
    marks = [*each_once(map(partial(marks_of_step, stage), steps))]
    return (*marks, *(part for mark in marks for part in coming.get(mark, ())))


def marks_of_step(stage: Stage, step: Step) -> tuple[str, ...]:
    """What a step marks."""
    if isinstance(step.event, Update):
        return stage.card_marks((change.tensor for change in step.event.changes), arrows=False)
    return stage.marks(step.event)


def gradients_from_outside(graph: Graph) -> dict[str, list[str]]:
    """By the node that receives them, the gradients from stations whose own nodes are not in a graph:
    they are there when the node runs."""
    decks = {station.id for station in graph.stations if station.deck is not None}
    found: dict[str, list[str]] = {}
    for route in graph.routes:
        if route.tracked and route.target not in decks:
            found.setdefault(f"{route.source}-d", []).extend((f"{route.id}-g", f"{route.id}-p"))
    return found
