"""Trace → Frames: the steps that a reader walks through, forward and backward."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..arithmetic import Line
from ..flow.engine import Recursion, recursion_of
from ..model.scene import Scene
from ..model.schedule import Moment, Schedule
from ..model.views import Stage, each_once
from ..number_text import one_line
from ..trace import events
from ..trace.graph import Card, Explanation, Graph, Update
from ..words import clean, columns, pad, text
from . import backward, forward
from .frames import Frame, recomputation_text
from .recursion import wait_text
from .story import (
    BACKWARD,
    FORWARD,
    UPDATE,
    Step,
    Story,
    group_steps,
    limit_steps,
    shown_at,
    together,
    update_text,
)

LABELS = {FORWARD: "forward_step", BACKWARD: "backward_step", UPDATE: "update_step"}
LABEL = 18  # columns up to which the labels of lines are aligned
TOLD: dict[type, Callable[[Stage, Any], Frame]] = {  # by the event alone
    Update: update_text,
    events.TensorDetached: forward.detach_text,
    events.NumbersReturned: forward.number_exit_text,
    events.RequiresGradSet: forward.requires_grad_text,
    events.InPlaceWrite: forward.write_text,
    events.Recomputation: recomputation_text,
}


class Draft(NamedTuple):
    """A step before its text is written: `size` events that the reader sees as one, the parts of the picture
    that they concern (marks of several together), and how many nodes have run after it."""

    phase: str
    ran: int
    tell: Callable[[], Frame]
    marks: Iterable[tuple[str, ...]]
    size: int = 1
    times: tuple[int, int] = (0, 0)  # of its first event and its last


def frames_of(
    scene: Scene,
    graph: Graph,
    lang: str | None = None,
    explained: Sequence[Explanation] = (),
    only: Container[int] | None = None,
) -> tuple[Frame, ...]:
    """The steps of a scene that concern `graph`; at most `grouping.LIMIT`. For a recorded cell these are
    its ops and the nodes of the backward call; an error that ended the cell is shown with its explanation
    from `explained`. For a finished graph these are its tensors, and its nodes in the order in which the
    engine would run them. With `only`, the other steps, counted from 1, are empty, and none has a label, a
    queue or plain recursion."""
    stage = Stage(scene, graph, lang, lettered=True)
    finished = scene.trace.roots is not None
    recursion = None if finished or only is not None else recursion_of(scene)
    drafts = list(of_graph(stage) if finished else of_cell(stage, explained, recursion))
    told: list[tuple[str, Frame, int]] = []
    times: list[tuple[int, int]] = []
    for places in limit_steps([draft.phase for draft in drafts]):
        some = [drafts[place] for place in places]
        count = sum(draft.size for draft in some)
        times.append((some[0].times[0], some[-1].times[1]))
        marks = each_once(same for draft in some for same in draft.marks)
        if only is not None and len(times) not in only:
            frame = Frame((), "")
        else:
            frame = summary(marks, count, lang) if some[1:] else some[0].tell()
        told.append((some[-1].phase, frame, some[-1].ran))
    if only is not None:
        return tuple(frame for _, frame, _ in told)
    nodes = scene.schedule.order if scene.schedule is not None else ()
    shown = ((node, stage.station(stage.place_of(node))) for node in nodes)
    stations = {node: station.id for node, station in shown if station is not None}
    frames = label_frames(told, scene.schedule, stations, lang)
    if finished:
        return frames
    return tuple(frame._replace(shows=shows) for frame, shows in zip(frames, shown_at(stage, times)))


def of_cell(stage: Stage, explained: Sequence[Explanation], recursion: Recursion | None) -> Iterator[Draft]:
    """The steps of a recorded cell."""
    story = Story(stage)

    def told(steps: list[Step]) -> Frame:
        frame, event = tell(story, explained, steps), steps[0].event
        if recursion is not None and isinstance(event, events.NodeRan) and len(steps) == 1:
            return frame._replace(recursion=wait_text(stage.scene, recursion, event.node, stage.lang))
        return frame

    for group in group_steps(story.steps()):
        marks = map(stage.marks, [step.event for step in group])
        times = group[0].begin, group[-1].time
        yield Draft(group[0].phase, group[-1].ran, partial(told, group), marks, len(group), times)


def tell(story: Story, explained: Sequence[Explanation], steps: Sequence[Step]) -> Frame:
    """Steps that are one to the reader, in words; `explained` says why errors occurred."""
    said = [step.event for step in steps]
    told = together(story.stage, said) if len(said) > 1 else single_step(story, explained, steps[0])
    if steps[-1].time < story.scene.span[0]:  # there before this round: what uses it here is marked
        told = told._replace(span=story.used_at(steps), earlier=True)
    modes = forward.modes(story.stage, (mode for step in steps for mode in step.modes))
    return told._replace(lines=(*modes, *told.lines))


def single_step(story: Story, explained: Sequence[Explanation], step: Step) -> Frame:
    """A single step."""
    stage, event = story.stage, step.event
    match event:
        case events.TensorCreated():
            return forward.creation_text(stage, event, step.state or event.tensor, story.is_seed(event))
        case events.Forward() if step.time < story.scene.span[0]:
            return forward.earlier_op_text(stage, event)
        case events.Forward():
            return forward.op_text(stage, event, step.owner, step.opens)
        case events.NodeRan():
            return backward.node_lines(stage, event, step.ran == 1, story.so_far.get(event.node, ()))
        case events.HookRan():
            return backward.hook_lines_at(stage, event.node)
        case events.Statement():
            return forward.statement_text(stage, event, step.tensor)
        case events.BackwardEnded(error=None):
            return backward.capture_text(stage, event)
        case events.BackwardEnded() | events.CellFailed():
            return backward.error_text(stage, event, step.ran, story.total, explained)
    return TOLD[type(event)](stage, event)


def of_graph(stage: Stage) -> Iterator[Draft]:
    """The steps of a finished graph, with those of its values that are available."""
    for station in stage.stations.values():
        marks = (*(f"{station.id}-c{i}" for i in range(len(station.cards))), *stage.into.get(station.id, ()))
        yield Draft(FORWARD, 0, partial(Frame, marks, made_here(stage, station.cards[0])), (marks,))
    order = () if stage.scene.schedule is None else stage.scene.schedule.order
    ran = 0
    for runs, nodes in itertools.groupby(order, lambda node: stage.station(stage.place_of(node))):
        ran += len(list(nodes))
        if runs is not None and runs.deck is not None:
            said = stage.say("step_ready", node=runs.deck.name, name=stage.cards[runs.cards[0].id])
            marks = stage.deck_marks(runs)
            yield Draft(BACKWARD, ran, partial(Frame, marks, clean(said)), (marks,))


def made_here(stage: Stage, card: Card) -> str:
    """The sentence for a tensor of a finished graph."""
    value = stage.say("unknown") if card.value is None else one_line(card.value)
    made = f"{stage.cards[card.id]} = {value}"
    if card.is_leaf and card.requires_grad:
        return clean(stage.say("step_leaf", made=made))
    return clean(made if card.expr is None else stage.say("step_forward", expr=card.expr, made=made))


def summary(marks: Iterable[str], count: int, lang: str | None) -> Frame:
    """So many steps that are not shown one by one, with all their marks."""
    return Frame(tuple(marks), text("step_summary", lang, n=count))


def label_frames(
    drafts: Sequence[tuple[str, Frame, int]],
    schedule: Schedule | None,
    stations: dict[str, str],
    lang: str | None,
) -> tuple[Frame, ...]:
    """Frames of steps, each with its number in its phase and, in the backward phase, the queue after it.

    `stations` has the station of every node that is shown.
    """
    wanted = {ran for phase, _, ran in drafts if phase == BACKWARD}
    moments = {} if schedule is None else schedule.moments(wanted)
    frames = []
    for phase, told, ran in drafts:
        ready, waiting = queue(moments.get(ran) if phase == BACKWARD else None, stations)
        frames.append(told._replace(phase=phase, ready=ready, waiting=waiting))
    return numbered_frames(frames, lang)


def numbered_frames(frames: Sequence[Frame], lang: str | None) -> tuple[Frame, ...]:
    """Frames, each with its number in its phase."""
    size = Counter(frame.phase for frame in frames)
    count: Counter[str] = Counter()
    found = []
    for frame in frames:
        count[frame.phase] += 1
        label = text(LABELS[frame.phase], lang, i=count[frame.phase], n=size[frame.phase])
        found.append(frame._replace(label=label))
    return tuple(found)


def queue(
    moment: Moment | None, stations: dict[str, str]
) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...]]:
    """A moment of the queue in stations; one that stands for many waits as the first of them to run does."""
    if moment is None:
        return (), ()
    ready = dict.fromkeys(stations[node] for node in moment.ready if node in stations)
    waiting: dict[str, int] = {}
    for node, missing in moment.waiting:
        if node in stations and stations[node] not in ready:
            waiting.setdefault(stations[node], missing)
    return tuple(ready), tuple(waiting.items())


# ── steps as text ───────────────────────────────────────────────────────────────────────────────────────────


def steps_text(frames: Sequence[Frame], lang: str | None = None) -> str:
    """The steps for a terminal: numbered, with their lines of arithmetic below, labels and texts aligned."""
    if not frames:
        return text("steps_none", lang)
    number = len(str(len(frames)))
    wide = max(columns(frame.label) for frame in frames)
    labels = (columns(line.label) for frame in frames for line in all_lines(frame, lang))
    label = max((width for width in labels if width <= LABEL), default=0)
    shown = []
    for i, frame in enumerate(frames, 1):
        shown.append(f"{i:>{number}}  {pad(frame.label, wide)}  {frame.text}")
        lines = all_lines(frame, lang)
        shown += [f"{'':{number + 4}}{pad(line.label, label)}  {line.text}" for line in lines]
    return "\n".join(line.rstrip() for line in shown)


def all_lines(frame: Frame, lang: str | None) -> list[Line]:
    """The lines of a step with what plain recursion would do, which the player tells beside the queue."""
    said = (
        [Line("recursion", text("recursion_label", lang), (("", frame.recursion),))]
        if frame.recursion
        else []
    )
    return [*frame.lines, *said]


def to_markdown(frames: Sequence[Frame], lang: str | None = None) -> str:
    """The steps for a notebook: a numbered list, in which formulas are LaTeX."""
    if not frames:
        return text("steps_none", lang)
    shown = []
    for i, frame in enumerate(frames, 1):
        shown.append(f"{i}. *{verbatim(frame.label)}*: {verbatim(frame.text)}")
        for line in all_lines(frame, lang):
            content = f"${line.latex}$" if line.latex else verbatim(line.text)
            shown.append(f"    - {verbatim(line.label)}: {content}")
    return "\n".join(shown)


class Steps:
    """Steps as text, numbered, with their arithmetic; in a notebook the arithmetic is LaTeX."""

    def __init__(self, frames: tuple[Frame, ...], lang: str | None = None) -> None:
        self.frames = frames
        self.lang = lang

    def __repr__(self) -> str:
        return steps_text(self.frames, self.lang)

    def _repr_markdown_(self) -> str:
        return to_markdown(self.frames, self.lang)


def verbatim(content: str) -> str:
    """Text in which Markdown, HTML and LaTeX find nothing of theirs: what could mean something to them is
    written as entities, which a backslash before it would not keep from MathJax."""
    return re.sub(r"[\\`*_\[\]<>&$~|{}@^]|:(?=//)", lambda found: f"&#{ord(found[0])};", clean(content))
