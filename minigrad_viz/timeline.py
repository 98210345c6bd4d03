"""Trace → Frames: the steps that a reader walks through, forward and backward."""

from __future__ import annotations

from typing import NamedTuple

from .build import Builder
from .events import BackwardEnded, Created, Deposited, Forward, NodeRan, Trace
from .graph import Graph
from .numbers import short
from .words import text


class Frame(NamedTuple):
    """One step. `phase` is "forward" or "backward"; `marks` are the parts of the picture that are active in it, `past`
    those that the earlier steps have shown, by the ids of the SVG without its prefix (`s1-c0` a card, `s1-d` a deck, `r2`
    a forward arrow, `r2-g` its gradient arrow, `r2-p` the pill). `label` says where in its phase it stands, `text` what
    happens, with its numbers."""

    phase: str
    marks: tuple[str, ...]
    label: str
    text: str


def frames_of(trace: Trace, graph: Graph, call: int | None = None, lang: str | None = None) -> tuple[Frame, ...]:
    """The steps of a recorded cell: its forward ops, then the nodes of its `call`-th backward call (the last one)."""
    builder = Builder(trace, call)
    forward: list[tuple[tuple[str, ...], str]] = []
    backward: list[tuple[tuple[str, ...], str]] = []
    into = {s.id: tuple(r.id for r in graph.routes if r.target == s.id) for s in graph.stations}
    names = {card.id: card.name or card.expr or card.id for _, card in graph.cards()}
    decks = {s.deck.id: s for s in graph.stations if s.deck is not None}
    for event in trace.events:
        if isinstance(event, Created | Forward):
            states = (event.tensor,) if isinstance(event, Created) else event.outputs
            place = builder.at[states[0].id][0]
            card = graph.station(place.id).cards[0]
            marks = (*(f"{place.id}-c{i}" for i in range(len(states))), *into[place.id])
            value = text("unknown", lang) if states[0].value is None else short(states[0].value)
            expr = card.expr or card.name or ""
            forward.append((marks, text("step_forward", lang, expr=expr, name=names[card.id], value=value)))
        elif isinstance(event, NodeRan) and event.call == builder.call and event.node in decks:
            station = decks[event.node]
            assert station.deck is not None
            sent = tuple(part for r in station.deck.inputs if r is not None for part in (f"{r}-g", f"{r}-p"))
            got = ", ".join("None" if v is None else short(v) for v in event.received)
            if station.deck.name == "AccumulateGrad":
                said = text("step_deposit", lang, value=got, name=names[station.cards[0].id])
            else:
                said = text("step_backward", lang, node=station.deck.name, value=got)
            backward.append(((f"{station.id}-d", *sent), said))
        elif isinstance(event, Deposited) and event.call == builder.call and backward and event.before is not None:
            marks, said = backward[-1]
            backward[-1] = (marks, f"{said} ({short(event.before)} + {short(event.added)} = {short(event.after)})")
        elif isinstance(event, BackwardEnded) and event.call == builder.call and event.error:
            backward.append(((), event.error))
    return tuple(
        Frame(phase, marks, text(f"{phase}_step", lang, i=i + 1, n=len(steps)), said)
        for phase, steps in (("forward", forward), ("backward", backward))
        for i, (marks, said) in enumerate(steps)
    )


def frames_of_graph(graph: Graph, lang: str | None = None) -> tuple[Frame, ...]:
    """The steps of a graph that nobody recorded: its stations in order, then its decks, latest first (the engine's order
    where nothing but age decides), with what is known of their values."""
    steps: list[tuple[str, tuple[str, ...], str]] = []
    for station in graph.stations:
        card = station.cards[0]
        incoming = tuple(r.id for r in graph.routes if r.target == station.id)
        value = text("unknown", lang) if card.value is None else short(card.value)
        name = card.name or card.id
        marks = (*(f"{station.id}-c{i}" for i in range(len(station.cards))), *incoming)
        made = text("step_forward", lang, expr=card.expr or (station.deck.name if station.deck else name), name=name, value=value)
        steps.append(("forward", marks, made))
    for station in reversed(graph.stations):
        if station.deck is not None:
            sent = tuple(p for r in station.deck.inputs if r is not None for p in (f"{r}-g", f"{r}-p"))
            steps.append(("backward", (f"{station.id}-d", *sent), text("step_ready", lang, node=station.deck.name)))
    count = {p: sum(s[0] == p for s in steps) for p in ("forward", "backward")}
    seen = {"forward": 0, "backward": 0}
    frames = []
    for phase, marks, said in steps:
        seen[phase] += 1
        frames.append(Frame(phase, marks, text(f"{phase}_step", lang, i=seen[phase], n=count[phase]), said))
    return tuple(frames)
