"""The picture's model: stations, routes and what stands on them.

A `Graph` is plain data: numbers, shapes, names and ids, never a live tensor or node. It is made either by
walking a graph from its roots (`walk.py`) or from a recorded `Trace`, and everything that is shown
(outline, DOT, SVG, table) is made from it and from nothing else.

    station   one tensor and, below it, the backward node that made it (a node with several outputs
              stretches under the cards of all of them; a leaf stands on its AccumulateGrad; a tensor without
              a graph on nothing)
    route     one use of a tensor by the op of another station: a forward arrow from card to card and, when
              the node keeps an edge for it, a gradient arrow back from deck to deck

Ids are stable: `s0, s1, …` for stations and `r0, r1, …` for routes, counted in program order (or in
visiting order where only the roots are known).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .protocol import Value

# What a tensor is in the graph that is shown. The role decides the colour; border and text say it too.
LEAF, PARAMETER, CONSTANT, RESULT, ROOT = "leaf", "parameter", "constant", "result", "root"


@dataclass(frozen=True, slots=True)
class Saved:
    """One value that a node keeps for its backward: a chip on the lower deck.

    `value` is a snapshot for tensors and a short text for anything else (`3`, `(2, 3)`); None when it was
    freed before anybody looked. `version` is the tensor's version when it was saved; `freed` says that
    backward released it.
    """

    name: str
    value: Value | str | None
    version: int | None = None
    freed: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """Upper deck: a tensor as it stood when the picture was taken.

    `name` is the variable, `expr` the source expression that made it; either may be unknown. `grad` is the
    gradient that flowed into the tensor; `grad_kept` tells whether it was also stored in `.grad`.
    """

    id: str
    role: str = RESULT
    name: str | None = None
    expr: str | None = None
    value: Value | None = None
    grad: Value | None = None
    grad_kept: bool = False
    requires_grad: bool = False
    is_leaf: bool = True
    retains_grad: bool | None = False
    version: int = 0


@dataclass(frozen=True, slots=True)
class Deck:
    """Lower deck: a backward node.

    `inputs` has one entry per entry of `next_functions`: the id of the route it belongs to, or None where
    the entry is None (the input needs no gradient; drawn as ∅). `hooks` counts the user's hooks that run
    with the node.
    """

    id: str
    name: str
    saved: tuple[Saved, ...] = ()
    inputs: tuple[str | None, ...] = ()
    hooks: int = 0


@dataclass(frozen=True, slots=True)
class Station:
    """One place in the picture: cards side by side above at most one deck.

    `order` is 1 for the graph of the forward pass and 2 for what `create_graph=True` built (3 for a third
    derivative …).
    """

    id: str
    cards: tuple[Card, ...]
    deck: Deck | None = None
    order: int = 1


@dataclass(frozen=True, slots=True)
class Route:
    """A tensor used by an op: card `card` of station `source` is input `input` of station `target`.

    `tracked` says that a gradient arrow runs back along it. `gradients` are the values that flowed over it
    in the backward call that is shown, in order: usually one, none if nothing flowed (yet).
    """

    id: str
    source: str
    target: str
    card: int = 0
    input: int = 0
    tracked: bool = True
    gradients: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Stations in program order, the routes between them, and a sentence for the reader where one is due.

    `note` is a key of the catalogue of texts with its values, e.g. ("no_graph_leaves", {"names": "x, y"}).
    `omitted` counts stations left out because the graph was larger than the limit.
    """

    stations: tuple[Station, ...]
    routes: tuple[Route, ...]
    note: tuple[str, dict[str, str]] | None = None
    omitted: int = 0

    def station(self, id: str) -> Station:
        """The station called `id` (KeyError if there is none)."""
        for station in self.stations:
            if station.id == id:
                return station
        raise KeyError(id)

    def cards(self) -> Iterator[tuple[Station, Card]]:
        """Every card with its station, in program order."""
        for station in self.stations:
            for card in station.cards:
                yield station, card

    @property
    def tracked(self) -> bool:
        """True when there is anything to run backward through."""
        return any(station.deck is not None for station in self.stations)
