"""What a reader can open in a strip: the insides of its cards, boxes in these, and what is open at first."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace

from ..trace.graph import FUNCTION, MODULE, ROUND, Graph, Group
from .card_titles import DATA, LAYER, name_and_kind
from .detail import Detail, detail_of, is_view, only_views
from .film import state_name
from .fold import READABLE, cost_of, inside_of_group
from .strip import Strip

RECURRENT = (" RNN", " GRU", " LSTM")  # at the end of what such a module is called
OPENED = 15  # insides that can be opened
INSIDE = 300  # what the insides of cards may cost together, see `cost_of`

# How many levels are open below the strip at first, or which modules, by their paths.
Depth = int | Callable[[str], object]


def opened_cards(strip: Strip) -> Iterator[tuple[str, str, Detail]]:
    """What a reader can open in a strip, cards first, then what is inside these: the id of the box, the way
    to it and its inside. As many as are soon drawn; of what repeats the first and the last
    before those between."""
    whole = with_round_names(strip.whole)
    groups = {group.id: group for group in whole.groups}
    todo = [card.id for card in strip.cards if card.role != DATA]
    names = {card.id: card.name for card in strip.cards}
    room: float = INSIDE
    done = 0
    later: list[str] = []
    while todo or later:
        todo, later = (todo, later) if todo else (later, [])
        id = todo.pop(0)
        group = groups.get(id) or Group(id, FUNCTION, names[id], (id,))
        group = opened_box(group, whole)
        detail = detail_of(inside_of_group(whole, group), group.members, whole)
        detail = with_card_names(detail._replace(tokens=strip.tokens), strip)
        part = detail.graph
        inner = [fold.station for fold in part.folds if fold.station in groups]
        cost = cost_of(part)
        fits = 1 < len(part.stations) <= READABLE and cost <= room and done < OPENED
        if not fits and id not in names:
            continue
        if fits:
            title = names.get(id) or " ".join(name_and_kind(group.title.split(" "))).strip()
            way = [*group.path.split(".")[:-1], title] if group.path else [title]
            yield id, " › ".join(way), detail
            room, done = room - cost, done + 1
        repeated = group.times > 2
        todo += [inner[0], inner[-1]] if repeated and inner else inner
        later += inner[1:-1] if repeated else []


def with_round_names(whole: Graph) -> Graph:
    """The graph with names for the rounds of a loop over layers: those of the modules in each, `0 … 1`; for
    those of a loop of the library those of the states of an RNN, `h₁`."""
    inner: dict[str, list[Group]] = {}
    modules = {group.id: group.title for group in whole.groups if group.kind == MODULE}
    for group in whole.groups:
        inner.setdefault(group.parent, []).append(group)
    names: dict[str, str] = {}
    for loop in whole.groups:
        rounds = inner.get(loop.id, []) if loop.times > 1 else []
        if modules.get(loop.parent, "").endswith(RECURRENT):
            names |= {r.id: state_name("h", i) for i, r in enumerate(rounds, 1) if r.kind == ROUND}
            continue
        ends = [[g.title.partition(" ")[0] for g in inner.get(r.id, []) if g.kind == MODULE] for r in rounds]
        if all(ends) and len({each[0] for each in ends}) == len(ends):
            shown = (" … ".join(dict.fromkeys((each[0], each[-1]))) for each in ends)
            names |= {r.id: name for r, name in zip(rounds, shown) if r.kind == ROUND}
    if not names:
        return whole
    groups = (replace(g, title=names.get(g.id, g.title)) for g in whole.groups)
    return replace(whole, groups=tuple(groups))


def ways_to_modules(strip: Strip, boxes: Container[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The modules by their paths, each with the boxes to open for it, from its card on: as near as can be
    opened."""
    groups = {group.id: group for group in strip.whole.groups}
    for group in strip.whole.groups:
        way: list[str] = []
        each: Group | None = group
        while each is not None:
            way += [each.id] if each.id in boxes else []
            each = groups.get(each.parent)
        if way and group.kind == MODULE and "." in group.path:
            yield group.path, tuple(reversed(way))


def opened_first(strip: Strip, boxes: Sequence[str], depth: Depth) -> tuple[str, ...]:
    """The boxes that are open at first, from a card on."""
    ways = list(ways_to_modules(strip, boxes))
    if callable(depth):
        return next((way for path, way in ways if depth(path.partition(".")[2])), ())
    cards = [card for card in strip.cards if card.id in boxes]
    first = next((card.id for card in cards if card.role == LAYER), cards[0].id if cards else "")
    return next((way[:depth] for _, way in ways if len(way) >= depth > 1), (first,)[: depth * bool(first)])


def with_card_names(detail: Detail, strip: Strip) -> Detail:
    """A detail whose outside takes the name of its card where it would have the name of a part."""
    mine = {s.cards[0].name or s.cards[0].expr for s in detail.graph.stations if s.id not in detail.outside}
    groups = {group.id: group.members for group in strip.whole.groups}
    card_of = {m: card.name for card in strip.cards for m in groups.get(card.id, (card.id,))}
    stations = tuple(
        replace(s, cards=(replace(s.cards[0], expr=card_of[s.id]), *s.cards[1:]))
        if s.id in detail.outside and not s.cards[0].name and s.cards[0].expr in mine and s.id in card_of
        else s
        for s in detail.graph.stations
    )
    return detail._replace(graph=replace(detail.graph, stations=stations))


def opened_box(group: Group, whole: Graph) -> Group:
    """A group; what is inside of it, if that is one box and views."""
    known = {station.id: station for station in whole.stations}
    while True:
        inner = [each for each in whole.groups if each.parent == group.id]
        inner = [each for each in inner if not only_views(each.members, known)] or inner
        rest = set(group.members) - {member for each in inner for member in each.members}
        if len(inner) != 1 or any(
            known[id].deck is not None and not is_view(known[id]) for id in rest if id in known
        ):
            return group
        group = inner[0]
