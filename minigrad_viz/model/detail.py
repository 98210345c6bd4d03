"""The inside of a card of the strip, as stations from left to right.

Note [What a detail leaves out]
    One `@` of the code is expand, view, transpose, bmm and view again to PyTorch. A view changes no number,
    so a detail shows none, unless there is nothing else: what used the view uses what it is a view of. The
    arrow keeps the gradient that went over it; at a leaf with one user it has the gradient in the shape of
    the leaf. What is outside of the card is a small box without numbers: these are in the strip.
    A leaf outside that many stations use is left out.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..protocol import op_of
from ..trace.graph import RESULT, ROOT, Card, Graph, Route, Station

# Ops that give the same numbers another shape, or a part of them, by the names of their nodes.
VIEWS = frozenset((
    "view", "unsafeview", "reshapealias", "alias", "t", "transpose", "permute", "expand", "squeeze",
    "unsqueeze", "split", "splitwithsizes", "unsafesplit", "chunk", "unbind", "slice", "select", "narrow",
    "asstrided", "detach", "clone", "flatten", "unflatten",
))  # fmt: skip


SHARED = 3  # stations that a leaf outside is drawn with at most


class Detail(NamedTuple):
    """What is inside a card: its graph, how many backward nodes that has with all views, and which of its
    stations are `outside` of the card. `tokens` is the text of the sequence that the model works on, where
    the source has it."""

    graph: Graph
    nodes: int
    outside: frozenset[str]
    tokens: tuple[str, ...] = ()


def detail_of(part: Graph, members: Sequence[str], whole: Graph | None = None) -> Detail:
    """What is inside a card, without views; the `whole` graph has the nodes of what is outside."""
    mine = set(members) | {fold.station for fold in part.folds}
    nodes = sum(fold.operations for fold in part.folds)
    boxes = {fold.station for fold in part.folds}
    nodes += sum(
        s.deck is not None and s.id in mine and s.id not in boxes and s.deck.name != "AccumulateGrad"
        for s in part.stations
    )
    graph = without_views(part, mine)
    stations = tuple(
        s if s.id in mine else replace(s, cards=tuple(map(bare_card, s.cards))) for s in graph.stations
    )
    outside = frozenset(s.id for s in stations) - mine
    graph = without_shared(replace(graph, stations=stations), outside)
    around = {s.id: s for s in (whole or part).stations}
    named = tuple(named_stations(graph, outside, boxes, around))
    return Detail(replace(graph, stations=named), nodes, outside)


def without_shared(graph: Graph, outside: Container[str]) -> Graph:
    """The graph without the leaves outside that many stations use, as the weights of an RNN are used by every
    round: their arrows would hide all others."""
    users: dict[str, set[str]] = {}
    for route in graph.routes:
        users.setdefault(route.source, set()).add(route.target)
    shared = {
        s.id for s in graph.stations
        if s.id in outside and s.cards[0].is_leaf and len(users.get(s.id, ())) > SHARED
    }  # fmt: skip
    stations = tuple(s for s in graph.stations if s.id not in shared)
    routes = tuple(r for r in graph.routes if r.source not in shared)
    return replace(graph, stations=stations, routes=routes) if shared else graph


def bare_card(card: Card) -> Card:
    """A tensor outside of a card: its name and its shape; a number as it is."""
    role = RESULT if card.role == ROOT else card.role
    value = card.value
    if value is not None and value.size > 1:
        value = value._replace(items=None, low=None, high=None, beyond="", summary=None)
    return replace(
        card, value=value, grad=None, stood=(), before=None, role=role, expr=None if card.name else card.expr
    )


def without_views(graph: Graph, mine: set[str]) -> Graph:
    """The graph without the views among `mine`; the graph itself where nothing else would be left."""
    boxes = {fold.station for fold in graph.folds}
    came: dict[str, list[Route]] = {}
    for route in graph.routes:
        came.setdefault(route.target, []).append(route)
    for id, entries in came.items():  # a call of a library may have given a view what it gave its tensor
        tracked = [route for route in entries if route.tracked]
        came[id] = tracked if len(tracked) == 1 else entries
    views = {
        s.id for s in graph.stations
        if s.id in mine and s.id not in boxes and is_view(s) and len(came.get(s.id, ())) == 1
    }  # fmt: skip
    rest = [s for s in graph.stations if s.id in mine and s.id not in views and s.deck is not None]
    if not views or all(s.deck is None or s.deck.name == "AccumulateGrad" for s in rest):
        return graph
    users: dict[str, int] = {}
    for route in graph.routes:
        users[route.source] = users.get(route.source, 0) + 1
    leaves = {s.id for s in graph.stations if s.cards[0].is_leaf and s.deck is not None}
    routes, renamed = [], {}
    for route in graph.routes:
        moved = route
        while moved.target in views and route not in came[moved.target]:
            moved = replace(moved, target=came[moved.target][0].source)
        if moved.target in views or (moved is not route and moved.target not in mine):
            continue
        while moved.source in views:
            before = came[moved.source][0]
            alone = before.source in leaves and users.get(moved.source) == 1 and before.gradients
            moved = replace(
                moved, source=before.source, card=before.card, tracked=moved.tracked and before.tracked,
                gradients=before.gradients if alone else moved.gradients,
            )  # fmt: skip
        routes.append(moved)
        renamed[route.id] = moved
    named = names_of_views(graph, views, came)
    stations = tuple(renamed_station(s, named, renamed) for s in graph.stations if s.id not in views)
    return replace(graph, stations=stations, routes=tuple(routes))


def is_view(station: Station) -> bool:
    """Whether a station only shows numbers of another tensor again."""
    return (
        station.deck is not None
        and op_of(station.deck.name).replace("_", "") in VIEWS
        and station.cards[0].role != ROOT
    )


def only_views(members: Sequence[str], known: Mapping[str, Station]) -> bool:
    """Whether all that a box or a station computes has the numbers of something else, as in a Flatten."""
    made = [known[id] for id in members if id in known and known[id].deck is not None]
    made = [station for station in made if not station.cards[0].is_leaf]
    return bool(made) and all(map(is_view, made))


def names_of_views(graph: Graph, views: set[str], came: Mapping[str, list[Route]]) -> dict[str, Card]:
    """By a station without a variable, the card of the view of it that has one; else of the first view that
    the code writes: the `q @ k` of which PyTorch makes several nodes."""
    named: dict[str, Card] = {}
    written: dict[str, Card] = {}
    for station in graph.stations:
        card = station.cards[0]
        if station.id in views and (card.name or is_code(card.expr)):
            source = came[station.id][0].source
            while source in views:
                source = came[source][0].source
            (named if card.name else written).setdefault(source, card)
    return written | named


INNER = re.compile(r"([\w.]+)(?: · |(?<=\d) )(\w+)")  # what an inner result of a module is called


def is_code(expr: str | None) -> bool:
    """Whether an expression is in the code."""
    return bool(expr) and INNER.fullmatch(expr or "") is None


def renamed_station(station: Station, named: Mapping[str, Card], routes: Mapping[str, Route]) -> Station:
    """A station with the name that the code has for a view of it, and with the entries that are left."""
    card, view = station.cards[0], named.get(station.id)
    if view is not None and len(station.cards) == 1 and not card.name and card.role == RESULT:
        if view.name:
            card = replace(card, name=view.name, letter="")
        elif not is_code(card.expr):
            card = replace(card, expr=view.expr, value=card.value or view.value)
        station = replace(station, cards=(card,))
    deck = station.deck
    gone = {id for id, route in routes.items() if not route.tracked}
    if deck is not None and not gone.isdisjoint(deck.inputs):
        entries = tuple(None if id in gone else id for id in deck.inputs)
        station = replace(station, deck=replace(deck, inputs=entries))
    return station


# ─── Names of what the code does not name


def named_stations(
    graph: Graph, outside: Container[str], boxes: Container[str], around: Mapping[str, Station]
) -> Iterator[Station]:
    """The stations, each with a name that no other has: an inner result of a module without an expression is
    called by the module's path, what PyTorch made by the function, a buffer by its name in the module, the
    states of an RNN as in books."""
    own_names = (s for s in graph.stations if s.id in boxes and s.id not in outside)
    used = {s.cards[0].name or s.cards[0].expr or "" for s in own_names}
    code = "\n".join(s.cards[0].expr or "" for s in graph.stations)
    for station in graph.stations:
        card, own = station.cards[0], station.id not in outside
        if len(station.cards) != 1 or card.name or station.id in boxes:
            used.add(card.name or card.expr or "")
            yield station
            continue
        expr, inner = card.expr, INNER.fullmatch(card.expr or "")
        if inner is not None:
            called = own and re.search(rf"(?<!self\.)\b{inner[1]}\(", code)
            expr = inner[2] if called else inner[1]
        elif not expr:
            expr = input_name(graph, station) or fused_function(around.get(station.id, station))
        if own and expr in used:  # the op tells them apart, or a number
            numbers = (f"{expr} ({i})" for i in range(2, len(graph.stations) + 3))
            choices = [card.expr or "", *numbers]
            expr = next(choice for choice in choices if choice and choice not in used)
        if own:
            used.add(expr or "")
        yield station if expr == card.expr else replace(station, cards=(replace(card, expr=expr),))


def fused_function(station: Station) -> str | None:
    """The function that a node is of: `log_softmax` of `LogSoftmaxBackward0`."""
    if station.deck is None or station.deck.name == "AccumulateGrad":
        return None
    name = station.deck.name.rstrip("0123456789").removesuffix("Backward")
    return re.sub(r"(?<=[a-z\d])(?=[A-Z])", "_", name).lower()


def input_name(graph: Graph, station: Station) -> str | None:
    """The name of what a module has besides its parameters: a buffer of a batch norm,
    `net.bn.running_mean`, or the zeros with which an RNN begins, as books call them."""
    known = {each.id: each for each in graph.stations}
    route = next((r for r in graph.routes if r.source == station.id), None)
    if station.deck is not None or route is None:
        return None
    function = fused_function(known[route.target]) or ""
    into = sorted((r for r in graph.routes if r.target == route.target), key=lambda r: r.input)
    sources = [known[r.source] for r in into]
    unnamed = [s.id for s in sources if s.deck is None and not (s.cards[0].name or s.cards[0].expr)]
    recurrent = any(
        re.search("rnn|lstm|gru", fused_function(s) or "") or (s.cards[0].name or "").endswith("weight_hh_l0")
        for s in graph.stations
    )
    if recurrent and len(unnamed) <= len(STATES):
        return STATES[unnamed.index(station.id)]
    if function != "native_batch_norm" or len(unnamed) != len(BUFFERS):
        return None
    names = (s.cards[0].name or "" for s in sources)
    module = next((name.rpartition(".")[0] for name in names if name.endswith(".weight")), "")
    buffer = BUFFERS[unnamed.index(station.id)]
    return f"{module}.{buffer}" if module else buffer


STATES = ("h₀", "c₀")
BUFFERS = ("running_mean", "running_var")
