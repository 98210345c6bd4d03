"""Trace → Frames: the steps that a reader walks through, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .arithmetic import chain_rule, sum_at
from .build import Builder
from .events import (
    BackwardEnded,
    Created,
    Deposited,
    Detached,
    Event,
    Forward,
    Mutated,
    NodeRan,
    TensorState,
    Trace,
)
from .graph import Graph, Station
from .numbers import short
from .words import clean, text

WRITTEN = 300  # stations; the chain rule of a larger graph is not written out, for nobody walks through it
FORWARD, BACKWARD = "forward", "backward"


class Frame(NamedTuple):
    """One step. `phase` is "forward" or "backward"; `marks` are the parts of the picture that are active
    in it, by the ids of the SVG without its prefix (`s1-c0` a card, `s1-d` a deck, `r2` a forward arrow,
    `r2-g` its gradient arrow, `r2-p` the pill). `label` says where in its phase it stands, `text` what
    happens, with its numbers; lines of arithmetic follow where there are any."""

    phase: str
    marks: tuple[str, ...]
    label: str
    text: str


Step = tuple[str, tuple[str, ...], str]  # phase, marks, text


def frames_of(
    trace: Trace, graph: Graph, call: int | None = None, lang: str | None = None
) -> tuple[Frame, ...]:
    """The steps of a recorded cell: what it computed, then the nodes of its `call`-th backward call (the
    last one).

    What is not in `graph` has no step. What a call with `create_graph=True` computes is a step of that call.
    """
    return labelled(_Steps(trace, graph, call, lang).steps(), lang)


def labelled(steps: list[Step], lang: str | None) -> tuple[Frame, ...]:
    """Frames of steps, forward ones first, each with its number in its phase."""
    frames = []
    for phase in (FORWARD, BACKWARD):
        mine = [step for step in steps if step[0] == phase]
        for i, (_, marks, said) in enumerate(mine, 1):
            frames.append(Frame(phase, marks, text(f"{phase}_step", lang, i=i, n=len(mine)), said))
    return tuple(frames)


class _Steps:
    """Turns the events of a trace into steps, one after the other."""

    def __init__(self, trace: Trace, graph: Graph, call: int | None, lang: str | None) -> None:
        self.trace, self.lang = trace, lang
        self.builder = Builder(trace, call)
        self.stations = {s.id: s for s in graph.stations}
        self.decks = {s.deck.id: s for s in graph.stations if s.deck is not None}
        self.names = {card.id: card.name or card.expr or card.id for _, card in graph.cards()}
        self.into: dict[str, list[str]] = {}
        for route in graph.routes:
            self.into.setdefault(route.target, []).append(route.id)
        self.written = len(graph.stations) <= WRITTEN

    def steps(self) -> list[Step]:
        """All steps, in the order in which things happened."""
        steps: list[Step] = []
        for event in self.trace.events:
            if isinstance(event, Deposited):
                if event.call == self.builder.call and event.before is not None and steps:
                    steps[-1] = (*steps[-1][:2], f"{steps[-1][2]}\n{self.sum(event)}")
            else:
                steps += self.step(event)
        return steps

    def step(self, event: Event) -> Iterator[Step]:
        """The step of one event, if it is one."""
        if isinstance(event, Created | Detached) or (
            isinstance(event, Mutated) and event.tensor.id != event.before
        ):
            yield from self.made((event.tensor,), FORWARD)
        elif isinstance(event, Forward):
            phase = BACKWARD if event.call and event.call == self.builder.call else FORWARD
            yield from self.made(event.outputs, phase)
        elif isinstance(event, NodeRan):
            station = self.decks.get(event.node)
            if event.call == self.builder.call and station is not None:
                yield self.ran(event, station)
        elif isinstance(event, BackwardEnded) and event.call == self.builder.call and event.error:
            yield BACKWARD, (), clean(event.error)

    def made(self, states: tuple[TensorState, ...], phase: str) -> Iterator[Step]:
        """Tensors came into being."""
        place, i = self.builder.at[states[0].id]
        station = self.stations.get(place.id)
        if station is None:
            return
        card = station.cards[i]
        marks = (*(f"{station.id}-c{i + k}" for k in range(len(states))), *self.into.get(station.id, ()))
        value = text("unknown", self.lang) if states[0].value is None else short(states[0].value)
        name = self.names[card.id]
        key = "step_given" if card.expr is None else "step_forward"
        yield phase, marks, clean(text(key, self.lang, expr=card.expr or name, name=name, value=value))

    def ran(self, event: NodeRan, station: Station) -> Step:
        """A node ran."""
        assert station.deck is not None
        routes = [r for r in station.deck.inputs if r is not None]
        marks = (f"{station.id}-d", *(part for r in routes for part in (f"{r}-g", f"{r}-p")))
        got = ", ".join("None" if v is None else short(v) for v in event.received)
        if station.deck.name == "AccumulateGrad":
            said = text("step_deposit", self.lang, value=got, name=self.names[station.cards[0].id])
            met = sum_at(self.builder, station.cards[0].id, self.lang) if self.written else None
            lines = [] if met is None else [met]
        else:
            said = text("step_backward", self.lang, node=station.deck.name, value=got)
            lines = chain_rule(self.builder, event, self.lang) if self.written else []
        return BACKWARD, marks, "\n".join(map(clean, [said, *lines]))

    def sum(self, event: Deposited) -> str:
        """A gradient was added to one that was there, as arithmetic."""
        assert event.before is not None
        name = clean(self.names.get(event.tensor, event.tensor))
        return f"{name}.grad = {short(event.before)} + {short(event.added)} = {short(event.after)}"


def frames_of_graph(graph: Graph, lang: str | None = None) -> tuple[Frame, ...]:
    """The steps of a graph that nobody recorded: its stations in order, then its decks, latest first (the
    engine's order where nothing but age decides), with what is known of their values."""
    steps: list[Step] = []
    into: dict[str, list[str]] = {}
    for route in graph.routes:
        into.setdefault(route.target, []).append(route.id)
    for station in graph.stations:
        card = station.cards[0]
        value = text("unknown", lang) if card.value is None else short(card.value)
        name = card.name or card.expr or card.id
        marks = (*(f"{station.id}-c{i}" for i in range(len(station.cards))), *into.get(station.id, ()))
        key = "step_given" if card.expr is None else "step_forward"
        said = clean(text(key, lang, expr=card.expr or name, name=name, value=value))
        steps.append((FORWARD, marks, said))
    for station in reversed(graph.stations):
        if station.deck is not None:
            sent = tuple(p for r in station.deck.inputs if r is not None for p in (f"{r}-g", f"{r}-p"))
            ready = clean(text("step_ready", lang, node=station.deck.name))
            steps.append((BACKWARD, (f"{station.id}-d", *sent), ready))
    return labelled(steps, lang)
