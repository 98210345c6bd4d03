"""Loops of a forward pass as a film: each round is a card, named by the state that it computes.

Note [What is a film]
    Rounds of a loop of the cell, or of a loop in the `forward` of a module, that use the same parameters are
    steps in time; rounds with parameters of their own are layers, which are depth. A module that contains
    nothing but such a loop is shown as its rounds. The state is the variable that the round assigns last:
    `h = …` gives `h₁`, `h₂`, and what it was before the loop is `h₀`. Of many rounds the first and the last
    are cards; those between are one card with a bar for each, so the profile is whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..trace.graph import JOINED, MODULE, ROUND, Graph, Group, Station
from ..trace.source_positions import SourceText
from ..trace.statements import find, nodes_of
from ..words import clean
from .fold import close_some
from .naming import SUBSCRIPTS, plain_name
from .stations import Place
from .views import View

FILM = 7  # rounds of a loop that are cards of their own
ENDS = 2  # the same of more rounds, at the beginning and at the end
LONGEST = 64  # rounds that have a bar
SUBSCRIPTED = tuple("₀₁₂₃₄₅₆₇₈₉")
FIRST = re.compile("[^₀-₉]₀$")  # at the end of the name of the state that a loop begins with
LOOP = re.compile(r"(async )?for |while ")


class Film(NamedTuple):
    """The `loops` whose rounds are cards, the boxes of these `rounds`, and by stations what states are called
    that have no other name."""

    loops: tuple[Group, ...]
    rounds: tuple[str, ...]
    names: Mapping[str, str]


def film_of(view: View, whole: Graph, shown: Graph) -> Film:
    """The film of a view, of which `whole` is the graph and `shown` the picture."""
    shut = {fold.station for fold in shown.folds}
    loops = [g for g in whole.groups if 1 < g.times <= LONGEST and in_time(g, whole, shut)]
    runs = [[g for g in whole.groups if g.parent == loop.id] for loop in loops]
    calls = calls_in_a_row(whole, shut)
    if not runs + calls:
        return Film((), (), {})
    states = StateNames(view, whole)
    named = [(run, states.of(run)) for run in runs + calls]
    rounds = [g.id for run, names in named for g in run if run in runs or names]
    return Film(tuple(loops), tuple(rounds), {id: name for _, names in named for id, name in names.items()})


def in_time(group: Group, whole: Graph, shut: set[str]) -> bool:
    """Whether a repetition is a loop of the cell itself, one module that is called again and again, or a loop
    in time of a module that is open or has nothing else inside."""
    rounds = [g for g in whole.groups if g.parent == group.id]
    if group.kind == ROUND and not group.parent:
        return group.times <= FILM or not own_leaves(rounds, whole)
    same = group.kind == MODULE and all(g.path == group.path for g in rounds)
    if not (same or LOOP.match(group.title)) or any(g.parameters for g in rounds):
        return False
    return all(g.id not in shut or is_alone(group, g, whole) for g in boxes_around(group, whole))


def own_leaves(rounds: Sequence[Group], whole: Graph) -> bool:
    """Whether rounds use leaves that learn, each its own: they are layers then."""
    learns = {s.id for s in whole.stations if s.cards[0].is_leaf and s.cards[0].requires_grad}
    inside = {member: g.id for g in rounds for member in g.members}
    found: dict[str, set[str]] = {g.id: set() for g in rounds}
    for route in whole.routes:
        if route.source in learns and route.target in inside:
            found[inside[route.target]].add(route.source)
    return any(found.values()) and not set.intersection(*found.values())


def boxes_around(group: Group, whole: Graph) -> Iterator[Group]:
    """The boxes around a box."""
    known = {g.id: g for g in whole.groups}
    while group.parent:
        group = known[group.parent]
        yield group


def is_alone(group: Group, box: Group, whole: Graph) -> bool:
    """Whether a box computes nothing with a graph outside of one of the boxes in it."""
    rest = set(box.members) - set(group.members)
    made = {route.target for route in whole.routes}
    return all(s.deck is None or s.id not in made for s in whole.stations if s.id in rest)


def calls_in_a_row(whole: Graph, shut: set[str]) -> list[list[Group]]:
    """Modules that are called several times, as a cell of an RNN in a loop is."""
    calls: dict[tuple[str, str], list[Group]] = {}
    for group in whole.groups:
        if group.kind == MODULE and group.times == 1 and group.path and group.id in shut:
            calls.setdefault((group.parent, group.path), []).append(group)
    return [each for each in calls.values() if 1 < len(each) <= LONGEST]


class StateNames:
    """Finds what states are called, by the source of the cell."""

    def __init__(self, view: View, whole: Graph) -> None:
        self.whole = whole
        self.tree = SourceText(view.scene.trace.source).tree
        self.places = {place.id: place for place in view.scene.shown}
        loops = ast.For | ast.AsyncFor | ast.While
        self.loops = [n for n in nodes_of(self.tree) if isinstance(n, loops)] if self.tree else []

    def of(self, rounds: Sequence[Group]) -> dict[str, str]:
        """The names of the states that rounds compute, and of the first, by stations; none where the rounds
        do not all end with the same assignment in a loop."""
        last = [self.last_result(group) for group in rounds]
        assigned = [None if place is None else self.assignment(place) for place in last]
        first = assigned[0]
        if first is None or any(each is None or each[1] is not first[1] for each in assigned):
            return {}
        variable, statement = first
        if not any(loop.lineno <= statement.lineno <= (loop.end_lineno or 0) for loop in self.loops):
            return {}
        found = {place.id: state_name(variable, i) for i, place in enumerate(last, 1) if place is not None}
        members = set(rounds[0].members)
        for route in self.whole.routes:
            place = self.places.get(route.source)
            if place is None or route.target not in members:
                continue
            before = self.assignment(place)
            assigned_there = before is not None and before[1] is not statement and before[0] == variable
            if assigned_there or (place.event is None and place.name == variable):
                found[route.source] = state_name(variable, 0)
        return found

    def last_result(self, group: Group) -> Place | None:
        """What a round computed last with a graph."""
        tracked = {s.id for s in self.whole.stations if s.deck is not None and not s.cards[0].is_leaf}
        ids = [id for id in group.members if id in tracked and id in self.places]
        return max((self.places[id] for id in ids), key=lambda place: place.time, default=None)

    def assignment(self, place: Place) -> tuple[str, ast.stmt] | None:
        """The variable, the first of several, to which the statement of a place assigns; its statement."""
        span = place.span
        found = None if span is None or span.origin else find(self.tree, span.line, span.column)
        if found is None or not isinstance(found.statement, ast.Assign):
            return None
        target = found.statement.targets[0]
        target = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
        return (target.id, found.statement) if isinstance(target, ast.Name) else None


def state_name(variable: str, i: int) -> str:
    """`h₁₂`"""
    return variable + str(i).translate(SUBSCRIPTS)


def with_long_films(whole: Graph, film: Film) -> tuple[Graph, Film]:
    """The graph with a box around the rounds of a long loop that are no cards of their own, and the film with
    these boxes in their place."""
    rounds = {
        id: [g for g in whole.groups if g.id in film.rounds and g.parent == id] for id in parents(whole, film)
    }
    groups, shown = list(whole.groups), list(film.rounds)
    for parent, run in rounds.items():
        between = run[ENDS:-ENDS]
        if len(run) <= FILM:
            continue
        members = tuple(member for each in between for member in each.members)
        box = Group(f"g{len(groups)}", JOINED, "", members, parent, times=len(between))
        ids = {each.id for each in between}
        first = groups.index(between[0])
        groups = [replace(g, parent=box.id) if g.id in ids else g for g in groups]
        groups.insert(first, box)
        shown = [id for id in shown if id not in ids]
        shown.append(box.id)
    return replace(whole, groups=tuple(groups)), film._replace(rounds=tuple(shown))


def parents(whole: Graph, film: Film) -> list[str]:
    """The boxes around rounds."""
    return list(dict.fromkeys(g.parent for g in whole.groups if g.id in film.rounds))


def with_states(whole: Graph, film: Film) -> Graph:
    """The graph with the names of states, in which `h₀`, the state that a loop begins with, comes before its
    first round."""
    stations = tuple(named_state(s, film.names.get(s.id)) for s in whole.stations)
    inside = {member for g in whole.groups if g.id in film.rounds for member in g.members}
    first = {s.id for s in stations if s.id in inside and is_first_state(s)}
    groups = tuple(replace(g, members=tuple(m for m in g.members if m not in first)) for g in whole.groups)
    return replace(whole, stations=stations, groups=groups if first else whole.groups)


def named_state(station: Station, name: str | None) -> Station:
    """A station with the name of a state, if it has none but that of the variable."""
    card = station.cards[0]
    if name is None or (card.name and plain_name(card.name) != plain_name(name)):
        return station
    return replace(station, cards=(replace(card, name=name), *station.cards[1:]))


def is_first_state(station: Station) -> bool:
    """Whether a station is the state that a loop begins with."""
    card = station.cards[0]
    return station.deck is None and not card.requires_grad and FIRST.search(card.name or "") is not None


def unrolled_graph(graph: Graph, whole: Graph, film: Film) -> Graph:
    """The picture with the rounds of loops as boxes of their own."""
    if not film.rounds:
        return graph
    wound = {group.id for group in film.loops}
    opened = {g.id for group in film.loops for g in boxes_around(group, whole)}
    shut = {fold.station for fold in graph.folds} - wound - opened
    inner = wound | {id for id in opened if id in {fold.station for fold in graph.folds}}
    closed = [g for g in whole.groups if g.id in shut or (g.parent in inner and g.id not in wound | opened)]
    return close_some(whole, closed)


# ─── What rounds are called


def last_state(group: Group, whole: Graph) -> str:
    """The state that a round of a loop computes, or one of several calls of a module in a row, `h₂`; "" where
    it has no such name, and for other boxes."""
    calls = sum((g.parent, g.path, g.kind) == (group.parent, group.path, MODULE) for g in whole.groups)
    if not (group.kind == ROUND and group.times == 1) and calls < 2:
        return ""
    names = (whole.station(id).cards[0].name or "" for id in reversed(group.members))
    return clean(next((name for name in names if name[-1:] in SUBSCRIPTED), ""))


def round_name(group: Group, whole: Graph) -> str:
    """`t = 2`: one round of a loop, by its variable where the loop counts; else its number."""
    number = int(group.title.partition("/")[0])
    loop = next((each.title for each in whole.groups if each.id == group.parent), "")
    found = re.match(r"for (\w+) in range\((.*)\):?$", loop)
    try:
        bounds = ast.literal_eval(f"({found[2]},)") if found else ()
    except (ValueError, SyntaxError):  # bounds that are variables
        bounds = ()
    if found and all(isinstance(each, int) for each in bounds) and 1 <= len(bounds) <= 3:
        return f"{found[1]} = {range(*bounds)[number - 1]}"
    if found and "," not in found[2]:  # up to a variable, from 0 on
        return f"{found[1]} = {number - 1}"
    variable = re.match(r"for (\w+) in ", loop)
    return f"{variable[1]} #{number}" if variable else f"#{number}"
