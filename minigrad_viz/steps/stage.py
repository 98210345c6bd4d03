"""What stands where in the picture, and what to call it: what a step needs to know of graph and trace."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..arithmetic import Line
from ..drawing.boxes import PARALLEL, name_cards
from ..model.build import Builder
from ..model.place import LIBRARY, Place
from ..numbers import short
from ..protocol import Value
from ..trace.events import (
    BackwardStarted,
    Deposited,
    Forward,
    Freed,
    HookRan,
    ModeChanged,
    NodeRan,
    TensorState,
    Trace,
    Unpacked,
)
from ..trace.graph import Graph, Station
from ..trace.where import Span
from ..words import clean, shorten, text

NAME, EXPR = 32, 72  # columns of a tensor's name and of an expression in a sentence
LISTED = 4  # values that are listed in a sentence

Where = tuple[int, int, int, int]


class Told(NamedTuple):
    """A step in words; the fields are those of `timeline.Frame`."""

    marks: tuple[str, ...]
    text: str
    lines: tuple[Line, ...] = ()
    span: Where | None = None
    failed: bool = False
    recursion: str = ""
    cause: Where | None = None


class Stage:
    """The picture `graph` of a backward call of `trace`, and the `builder` that knows the call."""

    def __init__(self, trace: Trace, graph: Graph, builder: Builder, lang: str | None) -> None:
        self.trace, self.builder, self.lang = trace, builder, lang
        self.folds = {member: fold.station for fold in graph.folds for member in fold.members}
        self.stations = {station.id: station for station in graph.stations}
        self.cards = {
            card.id: name
            for (_, card), name in zip(graph.cards(), name_cards(graph, lang).values(), strict=True)
        }
        self.drawn = drawn_routes(graph)
        self.into: dict[str, list[str]] = {}
        for route in graph.routes:
            if route.id in self.drawn:
                self.into.setdefault(route.target, []).append(route.id)
        self.started: BackwardStarted | None = None
        self.hooks: dict[str, list[HookRan]] = {}
        self.deposits: dict[str, Deposited] = {}
        self.freed: dict[str, list[str]] = {}
        self.unpacked: dict[str, list[Unpacked]] = {}
        self.used: dict[Span, list[Forward]] = {}  # the ops by where they stand in the source
        self.switches: dict[str, list[tuple[int, bool]]] = {}  # of each mode: when, and on or off
        self.began = 0  # when the call began
        for time, event in enumerate(trace.events):
            if isinstance(event, BackwardStarted | HookRan | Deposited | Freed | Unpacked):
                self.index(event)
                self.began = time if event is self.started else self.began
            elif isinstance(event, ModeChanged):
                self.switches.setdefault(event.mode, []).append((time, event.enabled))
            elif isinstance(event, Forward) and event.span is not None:
                self.used.setdefault(event.span, []).append(event)

    def index(self, event: BackwardStarted | HookRan | Deposited | Freed | Unpacked) -> None:
        """Keep an event of the call that is told by the node that it belongs to."""
        if event.call != self.builder.call:
            return
        if isinstance(event, BackwardStarted):
            self.started = event
        elif isinstance(event, HookRan):
            self.hooks.setdefault(event.node, []).append(event)
        elif isinstance(event, Deposited):
            self.deposits[event.node] = event
        elif isinstance(event, Unpacked):
            self.unpacked.setdefault(event.node, []).append(event)
        else:
            self.freed.setdefault(event.node, []).extend(event.names)

    def switched(self, mode: str, time: int) -> bool:
        """Whether a mode was on when so many events had happened."""
        before = self.switches.get(mode, [])
        place = bisect(before, time, key=lambda switch: switch[0])
        return place > 0 and before[place - 1][1]

    @property
    def call_at(self) -> Where | None:
        """Where the backward call stands in the cell."""
        return None if self.started is None else in_cell(self.started.span)

    # ── where things stand ──────────────────────────────────────────────────────────────────────────────────

    def station(self, place: Place | None) -> Station | None:
        """The station of the picture that shows a place, itself or in a fold."""
        return None if place is None else self.stations.get(self.folds.get(place.id, place.id))

    def at(self, tensor: str) -> tuple[Place, int] | None:
        """The place of a tensor and its number there."""
        return self.builder.at.get(tensor)

    def place_of(self, node: str) -> Place | None:
        """The place above a node, be it the leaf of an AccumulateGrad."""
        state = self.builder.nodes.get(node)
        if state is not None and state.variable is not None:
            where = self.at(state.variable)
            return None if where is None else where[0]
        return self.builder.by_node.get(node)

    def card_marks(self, tensors: Iterable[str]) -> tuple[str, ...]:
        """The cards of tensors, and the arrows that lead to them."""
        marks: dict[str, None] = {}
        arrows: dict[str, None] = {}
        for tensor in tensors:
            where = self.at(tensor)
            station = None if where is None else self.station(where[0])
            if where is not None and station is not None:
                marks[f"{station.id}-c{min(where[1], len(station.cards) - 1)}"] = None
                arrows |= dict.fromkeys(self.into.get(station.id, ()))
        return (*marks, *arrows)

    def deck_marks(self, station: Station | None) -> tuple[str, ...]:
        """A deck and the gradient arrows that leave it."""
        if station is None or station.deck is None:
            return ()
        routes = [route for route in station.deck.inputs if route in self.drawn]
        return (f"{station.id}-d", *(part for r in routes for part in (f"{r}-g", f"{r}-p")))

    def has(self, part: str) -> bool:
        """Whether a part is in the picture, or its station is."""
        of = part.partition("-")[0]
        return of in self.stations or of in self.drawn

    def written_at(self, place: Place | None) -> Where | None:
        """Where the expression stands that made a place."""
        return None if place is None else in_cell(getattr(self.trace.events[place.time], "span", None))

    # ── names and values ────────────────────────────────────────────────────────────────────────────────────

    def name(self, tensor: str) -> str:
        """What to call a tensor: its variable, its expression, or its number in the picture."""
        known = self.builder.named.get(tensor) or self.cards.get(tensor)
        where = self.at(tensor)
        if known is None and where is not None:
            known = where[0].expr or self.builder.expression(where[0])
        return shorten(clean(known or "…"), NAME)

    def made(self, states: Sequence[TensorState]) -> str:
        """`y = 125.`, or the value alone of a tensor without a name; several with commas between."""
        parts = []
        for state in states[:LISTED]:
            value = text("unknown", self.lang) if state.value is None else short(state.value)
            named = state.id in self.builder.named
            name = self.name(state.id)
            parts.append(f"{name} = {value}" if named else value)
        return ", ".join(parts + ["…"] * (len(states) > LISTED))

    def expression(self, place: Place) -> str:
        """The expression that made a place."""
        return shorten(clean(place.expr or self.builder.expression(place) or "…"), EXPR)

    def list(self, values: Iterable[Value | None]) -> str:
        """Values in one line, with commas between."""
        return ", ".join("None" if value is None else short(value) for value in values)

    def line(self, kind: str, label: str, content: str) -> Line:
        """A line of words, without a formula."""
        return Line(kind, clean(label), (("", clean(content)),))

    def marks(self, event: Any) -> tuple[str, ...]:
        """The parts of the picture that an event is about."""
        if isinstance(event, NodeRan):
            return self.deck_marks(self.station(self.place_of(event.node)))
        states = getattr(event, "outputs", None) or (getattr(event, "tensor", None),)
        return self.card_marks(state.id for state in states if state is not None)

    def say(self, key: str, **values: object) -> str:
        """A text of the catalogue."""
        return text(key, self.lang, **values)


def drawn_routes(graph: Graph) -> set[str]:
    """The routes that have arrows of their own: of many between two stations only the first has."""
    bundles: dict[tuple[str, str], list[str]] = {}
    for route in graph.routes:
        bundles.setdefault((route.source, route.target), []).append(route.id)
    return {id for bundle in bundles.values() for id in bundle[: 1 if len(bundle) > PARALLEL else None]}


def in_cell(span: Span | None) -> Where | None:
    """A span as plain numbers, if it stands in the cell."""
    if span is None or span.origin:
        return None
    return span.line, span.column, span.end_line, span.end_column


def written(span: Span) -> str:
    """An expression of the source, as a sentence quotes it."""
    return shorten(clean(LIBRARY.sub("", span.flat)), EXPR)


def shown(value: Any) -> str:
    """A saved value in a sentence."""
    return short(value) if isinstance(value, Value) else shorten(clean(str(value)), NAME)
