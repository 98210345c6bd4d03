"""Scenes → views: one picture for each backward call of a cell, and what it shows where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..number_text import one_line, value_in_sentence
from ..trace.events import NodeRan, TensorState
from ..trace.graph import MODULE, Explanation, Fold, Graph, Station
from ..trace.source_positions import Span
from ..words import clean, shorten, shorten_name, text
from .fold import close_groups, leading_to_them, main_part, part_of, with_chain_groups
from .groups import groups_of
from .naming import drawn_routes, name_cards, plain_name
from .scene import Scene, Scenes
from .schedule import STOPPED, with_failed_operation
from .stations import LIBRARY, Place

# ─── What stands where in a picture, and what to call it


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
        """Where the backward call is in the cell."""
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
        """Where the expression that made a place is."""
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
            write = one_line if named else value_in_sentence
            value = text("unknown", self.lang) if state.value is None else write(state.value)
            name = self.name(state.id)
            parts.append(f"{name} = {value}" if named else value)
        return ", ".join(parts + ["…"] * (len(states) > LISTED))

    def is_named(self, tensor: str) -> bool:
        """Whether a tensor has a name in the cell, or a letter in the picture."""
        return tensor in self.scene.named or tensor in self.letters

    def expression(self, place: Place) -> str:
        """The expression that made a place, or the module if that alone made it."""
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


def first_names(names: Sequence[str]) -> str:
    """Names with commas between; of many the first."""
    return ", ".join([*names[:LISTED], *["…"] * (len(names) > LISTED)])


def in_cell(span: Span | None) -> Where | None:
    """A span as plain numbers, if it is in the cell."""
    if span is None or span.origin:
        return None
    return span.line, span.column, span.end_line, span.end_column


def quoted_span(span: Span) -> str:
    """An expression of the source, as a sentence quotes it."""
    return shorten(clean(LIBRARY.sub("", span.flat)), EXPR)


# ─── Scenes → views: one picture for each backward call of a cell, marked, narrowed and folded


LONGEST = 40  # columns of the call's source in a label


class View(NamedTuple):
    """A scene as it is shown: what to call it, the graph that is drawn of it, and the whole graph, in which
    no group is closed. `aside` has what is aside, and without nodes the stations of the picture that it
    uses or that use it."""

    scene: Scene
    label: str
    graph: Graph
    whole: Graph
    aside: Graph = Graph((), ())

    @property
    def call(self) -> int:
        """The backward call (0 where there is none)."""
        return self.scene.call


def views_of(
    scenes: Scenes,
    *,
    roots: tuple[str, ...] = (),
    fold: bool = True,
    lang: str | None = None,
    explained: Sequence[Explanation] = (),
) -> tuple[View, ...]:
    """One view per backward call that was kept, in order; one without any call. The last is shown first.

    `roots` limits each picture to what these variables were computed from; UnknownRoots if the cell has none
    of that name. What is `explained` is marked: in the picture of its call, or in the last.
    """
    last = scenes.calls[-1]
    count = max(last, len(scenes.trace.rounds))
    views = [
        View(scene, view_label(scene, count, lang), scene.graph, scene.graph)
        for scene in map(scenes.of, scenes.calls)
    ]
    views = [mark_view(view, explained, view.call == last) for view in views]
    parts = [main_part(view.scene, view.graph, whole=not fold) for view in views]
    views = [
        view._replace(graph=graph, aside=aside) for view, (graph, aside) in zip(views, parts, strict=True)
    ]
    if roots:
        views = leading_to(roots, views)
    views = [close_view_groups(view) if fold else view._replace(whole=view.graph) for view in views]
    last_view = views[-1]
    shown = with_failed_operation(last_view.graph, last_view.whole, scenes.trace, lang)
    views[-1] = last_view._replace(graph=shown)
    return tuple(views)


def close_view_groups(view: View) -> View:
    """A view of a whole graph, with its groups closed."""
    whole = with_chain_groups(replace(view.graph, groups=groups_of(view.scene, view.graph)))
    return view._replace(graph=close_groups(whole), whole=whole)


def mark_view(view: View, explained: Sequence[Explanation], last: bool) -> View:
    """A view with the marks of what is explained there."""
    mine = [each for each in explained if each.call == view.call or (last and not each.call)]
    marks = tuple(dict.fromkeys(mark for each in mine for mark in each.marks))
    return view._replace(graph=replace(view.graph, marks=marks)) if marks else view


def view_label(scene: Scene, count: int, lang: str | None) -> str:
    """What to call the picture of a call: `backward 3 of 20: loss.backward()`."""
    started = scene.now.started
    if started is None:
        return text("scene_none", lang)
    source = "" if started.span is None else shorten(clean(started.span.flat), LONGEST)
    return text("scene", lang, i=scene.call, n=count, source=source)


class UnknownRoots(ValueError):
    """The names `missing` stand for no tensor of a cell; `known` do."""

    def __init__(self, missing: list[str], known: list[str]) -> None:
        there = ", ".join(known) or "none"
        super().__init__(f"no tensor of this cell is called {missing[0]!r}; there are: {there}")
        self.missing, self.known = missing, known


def leading_to(roots: tuple[str, ...], views: list[View]) -> list[View]:
    """The views in which tensors named in `roots` occur, limited to what those were computed from."""
    names = [names_in(view.graph) for view in views]
    known = dict.fromkeys(name for each in names for name in each)
    missing = [root for root in roots if root not in known]
    if missing:
        raise UnknownRoots(missing, list(known))
    found = [{each[root] for root in roots if root in each} for each in names]
    return [
        v._replace(graph=narrow_graph(v.graph, keep)) for v, keep in zip(views, found, strict=True) if keep
    ]


def names_in(graph: Graph) -> dict[str, str]:
    """The stations by name; a name that stood for several tensors means the last of them."""
    names = {card.name: station.id for station, card in graph.cards() if card.name}
    last = {plain_name(name): id for name, id in names.items()}
    return last | names


def narrow_graph(graph: Graph, keep: set[str]) -> Graph:
    """The part of the picture that leads to the stations `keep`."""
    return part_of(graph, leading_to_them(graph, keep))
