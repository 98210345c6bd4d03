"""What stands where in a picture, and what to call it: what steps and explanations tell of a scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..numbers import brief, short
from ..trace.events import NodeRan, TensorState
from ..trace.graph import MODULE, Fold, Graph, Station
from ..trace.where import Span
from ..words import clean, shorten, shorten_name, text
from .card_names import drawn_routes, name_cards
from .place import LIBRARY, Place
from .scene import Scene
from .stopped import STOPPED

NAME, EXPR = 32, 72  # columns of a tensor's name and of an expression in a sentence
LISTED = 4  # values that are listed in a sentence

Where = tuple[int, int, int, int]


class Stage:
    """The picture `graph` of a scene; `cards` has what its cards are called. `lettered`: results without a
    variable are called by the letters that the picture and the formulas give them."""

    def __init__(self, scene: Scene, graph: Graph, lang: str | None, lettered: bool = False) -> None:
        self.scene, self.graph, self.lang = scene, graph, lang
        self.folds = {member: fold.station for fold in graph.folds for member in fold.members}
        self.stations = {station.id: station for station in graph.stations}
        names = name_cards(graph, lang).values()
        self.cards = {card.id: name for (_, card), name in zip(graph.cards(), names, strict=True)}
        cards = [card for _, card in graph.cards() if lettered]
        self.letters = {card.id: card.letter for card in cards if card.letter and not card.name}
        self._marks: dict[tuple[object, ...], tuple[str, ...]] = {}  # many steps have the same
        self.drawn = drawn_routes(graph)
        self.into: dict[str, list[str]] = {}
        for route in graph.routes:
            if route.id in self.drawn:
                self.into.setdefault(route.target, []).append(route.id)

    @property
    def call_at(self) -> Where | None:
        """Where the backward call stands in the cell."""
        started = self.scene.now.started
        return None if started is None else in_cell(started.span)

    def fold_of(self, station: str) -> Fold | None:
        """The fold that a station is."""
        return next((fold for fold in self.graph.folds if fold.station == station), None)

    def fold_at(self, tensor: str) -> Fold | None:
        """The fold that a tensor is in."""
        where = self.at(tensor)
        return None if where is None else self.fold_of(self.folds.get(where[0].id, ""))

    # ── where things stand ──────────────────────────────────────────────────────────────────────────────────

    def station(self, place: Place | None) -> Station | None:
        """The station of the picture that shows a place, itself or in a fold."""
        return None if place is None else self.stations.get(self.folds.get(place.id, place.id))

    def at(self, tensor: str) -> tuple[Place, int] | None:
        """The place of a tensor and its number there."""
        return self.scene.at.get(tensor)

    def place_of(self, node: str) -> Place | None:
        """The place above a node, be it the leaf of an AccumulateGrad."""
        state = self.scene.nodes.get(node)
        if state is not None and state.variable is not None:
            where = self.at(state.variable)
            return None if where is None else where[0]
        return self.scene.by_node.get(node)

    def card_marks(self, tensors: Iterable[str], arrows: bool = True) -> tuple[str, ...]:
        """The cards of tensors, and the arrows that lead to them."""
        marks: dict[str, str] = {}  # by card its station
        for where in filter(None, map(self.at, tensors)):
            station = self.station(where[0])
            if station is not None:
                marks[f"{station.id}-c{min(where[1], len(station.cards) - 1)}"] = station.id
        key = (*marks, arrows)
        if key not in self._marks:
            into = (self.into.get(station, ()) for station in marks.values() if arrows)
            self._marks[key] = tuple(dict.fromkeys((*marks, *(arrow for each in into for arrow in each))))
        return self._marks[key]

    def deck_marks(self, station: Station | None) -> tuple[str, ...]:
        """A deck and the gradient arrows that leave it."""
        if station is None or station.deck is None:
            return ()
        deck = f"{station.id}-d"
        if (deck,) not in self._marks:
            routes = [route for route in station.deck.inputs if route in self.drawn]
            self._marks[deck,] = (deck, *(part for r in routes for part in (f"{r}-g", f"{r}-p")))
        return self._marks[deck,]

    def stopped(self) -> tuple[str, ...]:
        """The station of the operation that failed, and the arrows that lead to it."""
        found = (station.id for station, card in self.graph.cards() if card.id == STOPPED)
        return tuple(part for id in found for part in (f"{id}-c0", *self.into.get(id, ())))

    def has(self, part: str) -> bool:
        """Whether a part is in the picture, or its station is."""
        of = part.partition("-")[0]
        return of in self.stations or of in self.drawn

    def written_at(self, place: Place | None) -> Where | None:
        """Where the expression stands that made a place."""
        return None if place is None else in_cell(place.span)

    # ── names and values ────────────────────────────────────────────────────────────────────────────────────

    def name(self, tensor: str) -> str:
        """What to call a tensor: its variable, its letter, its expression, or its number in the picture."""
        known = self.scene.named.get(tensor) or self.letters.get(tensor) or self.cards.get(tensor)
        where = self.at(tensor)
        if known is None and where is not None:
            known = where[0].expr or self.scene.expression(where[0])
        return shorten_name(clean(known or "…"), NAME)

    def made(self, states: Sequence[TensorState]) -> str:
        """`y = 125.`, or the value alone of a tensor without a name; several with commas between."""
        parts = []
        for state in states[:LISTED]:
            named = self.is_named(state.id)
            write = short if named else brief
            value = text("unknown", self.lang) if state.value is None else write(state.value)
            name = self.name(state.id)
            parts.append(f"{name} = {value}" if named else value)
        return ", ".join(parts + ["…"] * (len(states) > LISTED))

    def is_named(self, tensor: str) -> bool:
        """Whether a tensor has a name in the cell, or a letter in the picture."""
        return tensor in self.scene.named or tensor in self.letters

    def expression(self, place: Place) -> str:
        """The expression that made a place, or the module that is that alone."""
        boxes = (g for g in self.graph.groups if g.kind == MODULE and place.id == g.members[-1])
        alone = next((g.title for g in boxes if self.folds.get(place.id) == g.id), None)
        if alone is not None:
            return shorten(clean(alone), EXPR)
        return shorten(clean(place.expr or self.scene.expression(place) or "…"), EXPR)

    def marks(self, event: Any) -> tuple[str, ...]:
        """The parts of the picture that an event is about."""
        if isinstance(event, NodeRan):
            return self.deck_marks(self.station(self.place_of(event.node)))
        states = getattr(event, "outputs", None) or (getattr(event, "tensor", None),)
        return self.card_marks(state.id for state in states if state is not None)

    def say(self, key: str, **values: object) -> str:
        """A text of the catalogue."""
        return text(key, self.lang, **values)


def each_once(several: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """The marks of several steps, each once. Thousands of steps of a box have the same marks, and a box may
    have thousands of arrows, so the same tuple is read once."""
    same = {id(marks): marks for marks in several}
    yield from dict.fromkeys(mark for marks in same.values() for mark in marks)


def some(names: Sequence[str]) -> str:
    """Names with commas between; of many the first."""
    return ", ".join([*names[:LISTED], *["…"] * (len(names) > LISTED)])


def in_cell(span: Span | None) -> Where | None:
    """A span as plain numbers, if it stands in the cell."""
    if span is None or span.origin:
        return None
    return span.line, span.column, span.end_line, span.end_column


def written(span: Span) -> str:
    """An expression of the source, as a sentence quotes it."""
    return shorten(clean(LIBRARY.sub("", span.flat)), EXPR)
