"""Trace → Frames: the steps that a reader walks through, forward and backward."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..arithmetic import Line
from ..model.card_names import name_cards
from ..model.scene import Scene
from ..model.schedule import Moment, Schedule, edges_into
from ..model.stage import Stage
from ..numbers import short
from ..trace.events import NodeRan, NodeState
from ..trace.explained import Explanation
from ..trace.graph import ROOT, Graph
from ..words import clean, columns, text
from .narrate import Narrator
from .recursion import meeting, recursion_of
from .story import BACKWARD, FORWARD, Story, grouped, limited
from .told import Told

LABEL = 18  # columns up to which the labels of lines are aligned


class Frame(NamedTuple):
    """One step.

    `phase` is "forward" or "backward"; `marks` are the parts of the picture that are active in it, by the ids
    of the SVG without its prefix (`s1-c0` a card, `s1-d` a deck, `r2` a forward arrow, `r2-g` its gradient
    arrow, `r2-p` the pill). `label` says where in its phase it stands, `text` what happens, with its numbers;
    `lines` are the arithmetic. `span` is what is marked in the cell's source: first line (from 1), first
    column (from 0, in characters), last line, column after the last character; None where it does not stand
    in the cell. After the step the stations `ready` run next, in this order, and those in `waiting` miss so
    many arrows. `failed`: the text is the error that ended the call or the cell, and what is marked is where
    it stopped, and in the source, by `cause`, what led to that. `recursion` says where the queue has waited
    for several arrows, and what plain recursion does.
    """

    phase: str
    marks: tuple[str, ...]
    label: str
    text: str
    lines: tuple[Line, ...] = ()
    span: tuple[int, int, int, int] | None = None
    ready: tuple[str, ...] = ()
    waiting: tuple[tuple[str, int], ...] = ()
    failed: bool = False
    recursion: str = ""
    cause: tuple[int, int, int, int] | None = None

    @property
    def latex(self) -> str:
        """The lines of arithmetic in LaTeX, one below the other; empty without any."""
        return r" \\ ".join(line.latex for line in self.lines if line.latex)


Draft = tuple[str, Told, int]  # phase, the step in words, how many nodes have run after it


def frames_of(
    scene: Scene, graph: Graph, lang: str | None = None, explained: Sequence[Explanation] = ()
) -> tuple[Frame, ...]:
    """The steps of a scene: what the cell computed, and the nodes of the backward call, as far as they are in
    `graph`; at most `story.LIMIT`. The error that ended it is told with what is `explained` of it."""
    stage = Stage(scene, graph, lang)
    story = Story(stage)
    narrator = Narrator(stage, story, explained)
    recursion = recursion_of(scene)
    groups = grouped(story.steps())
    drafts: list[Draft] = []
    for places in limited([group[0].phase for group in groups]):
        steps = [step for place in places for step in groups[place]]
        if len(places) > 1:
            told = summary((mark for step in steps for mark in stage.marks(step.event)), len(steps), lang)
        else:
            told, event = narrator.tell(steps), steps[0].event
            if recursion is not None and isinstance(event, NodeRan) and len(steps) == 1:
                told = told._replace(recursion=meeting(scene, recursion, event.node, lang))
        drafts.append((steps[-1].phase, told, steps[-1].ran))
    nodes = story.schedule.order if story.schedule is not None else ()
    shown = ((node, stage.station(stage.place_of(node))) for node in nodes)
    stations = {node: station.id for node, station in shown if station is not None}
    return labelled(drafts, story.schedule, stations, lang)


def summary(marks: Iterable[str], count: int, lang: str | None) -> Told:
    """So many steps that are not shown one by one, with all their marks."""
    return Told(tuple(dict.fromkeys(marks)), text("step_summary", lang, n=count))


def labelled(
    drafts: Sequence[Draft], schedule: Schedule | None, stations: dict[str, str], lang: str | None
) -> tuple[Frame, ...]:
    """Frames of steps, each with its number in its phase and, in the backward phase, the queue after it.

    `stations` has the station of every node that is shown.
    """
    size = {phase: sum(draft[0] == phase for draft in drafts) for phase in (FORWARD, BACKWARD)}
    wanted = {ran for phase, _, ran in drafts if phase == BACKWARD}
    moments = {} if schedule is None else schedule.moments(wanted)
    count = dict.fromkeys(size, 0)
    frames = []
    for phase, told, ran in drafts:
        count[phase] += 1
        label = text(
            "forward_step" if phase == FORWARD else "backward_step", lang, i=count[phase], n=size[phase]
        )
        ready, waiting = queue(moments.get(ran) if phase == BACKWARD else None, stations)
        shown = (
            told.marks,
            label,
            told.text,
            told.lines,
            told.span,
            ready,
            waiting,
            told.failed,
            told.recursion,
            told.cause,
        )
        frames.append(Frame(phase, *shown))
    return tuple(frames)


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


# ── a graph that nobody recorded ────────────────────────────────────────────────────────────────────────────


def frames_of_graph(graph: Graph, lang: str | None = None) -> tuple[Frame, ...]:
    """The steps of a graph that nobody recorded: its stations in order, then its nodes in the order in which
    the engine would run them, with what is known of their values."""
    drafts: list[Draft] = []
    into: dict[str, list[str]] = {}
    for route in graph.routes:
        into.setdefault(route.target, []).append(route.id)
    names = name_cards(graph, lang)
    for station in graph.stations:
        card = station.cards[0]
        value = text("unknown", lang) if card.value is None else short(card.value)
        made = f"{names[station.id, 0]} = {value}"
        marks = (*(f"{station.id}-c{i}" for i in range(len(station.cards))), *into.get(station.id, ()))
        if card.is_leaf and card.requires_grad:
            said = text("step_leaf", lang, made=made)
        elif card.expr is None:
            said = made
        else:
            said = text("step_forward", lang, expr=card.expr, made=made)
        drafts.append((FORWARD, Told(marks, clean(said)), 0))
    nodes = nodes_of(graph)
    roots = [s.deck.id for s in graph.stations if s.deck and any(c.role == ROOT for c in s.cards)]
    reached = edges_into(nodes)
    schedule = Schedule(nodes, roots or [node.id for node in nodes if not reached[node.id]])
    decks = {s.deck.id: (s.id, s.deck) for s in graph.stations if s.deck is not None}
    for ran, node in enumerate(schedule.order, 1):
        at, deck = decks[node]
        sent = (part for r in deck.inputs if r is not None for part in (f"{r}-g", f"{r}-p"))
        ready = clean(text("step_ready", lang, node=deck.name, name=names[at, 0]))
        drafts.append((BACKWARD, Told((f"{at}-d", *sent), ready), ran))
    few: list[Draft] = []
    for places in limited([draft[0] for draft in drafts]):
        phase, told, ran = drafts[places[-1]]
        if len(places) > 1:
            told = summary((mark for i in places for mark in drafts[i][1].marks), len(places), lang)
        few.append((phase, told, ran))
    return labelled(few, schedule, {node: at for node, (at, _) in decks.items()}, lang)


def nodes_of(graph: Graph) -> list[NodeState]:
    """The backward nodes of a graph with their edges; an unknown age is that of the station."""
    source = {route.id: (route.source, route.card) for route in graph.routes}
    deck = {station.id: station.deck.id for station in graph.stations if station.deck is not None}
    aged = any(station.deck.sequence for station in graph.stations if station.deck is not None)
    nodes = []
    for i, station in enumerate(graph.stations):
        if station.deck is None:
            continue
        ends = [None if route is None else source[route] for route in station.deck.inputs]
        edges = tuple((deck[end[0]], end[1]) if end is not None and end[0] in deck else None for end in ends)
        leaf = station.deck.name == "AccumulateGrad"
        age = station.deck.sequence if aged else len(graph.stations) if leaf else i
        variable = station.cards[0].id if leaf else None
        nodes.append(NodeState(station.deck.id, station.deck.name, (), edges, variable, 0, age))
    return nodes


# ── steps as text ───────────────────────────────────────────────────────────────────────────────────────────


def to_text(frames: Sequence[Frame], lang: str | None = None) -> str:
    """The steps for a terminal: numbered, with their lines of arithmetic below, labels and texts aligned."""
    if not frames:
        return text("steps_none", lang)
    number = len(str(len(frames)))
    wide = max(columns(frame.label) for frame in frames)
    labels = (columns(line.label) for frame in frames for line in all_lines(frame, lang))
    label = max((width for width in labels if width <= LABEL), default=0)
    shown = []
    for i, frame in enumerate(frames, 1):
        shown.append(f"{i:>{number}}  {padded(frame.label, wide)}  {frame.text}")
        lines = all_lines(frame, lang)
        shown += [f"{'':{number + 4}}{padded(line.label, label)}  {line.text}" for line in lines]
    return "\n".join(line.rstrip() for line in shown)


def all_lines(frame: Frame, lang: str | None) -> list[Line]:
    """The lines of a step with what plain recursion would do, which the player tells beside the queue."""
    said = (
        [Line("recursion", text("recursion_label", lang), (("", frame.recursion),))]
        if frame.recursion
        else []
    )
    return [*frame.lines, *said]


def padded(content: str, width: int) -> str:
    """`content` with blanks up to `width` columns, if it is shorter."""
    return content + " " * (width - columns(content))


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


def verbatim(content: str) -> str:
    """Text in which Markdown, HTML and LaTeX find nothing of theirs: what could mean something to them is
    written as entities, which a backslash before it would not keep from MathJax."""
    return re.sub(r"[\\`*_\[\]<>&$~|{}@^]|:(?=//)", lambda found: f"&#{ord(found[0])};", clean(content))
