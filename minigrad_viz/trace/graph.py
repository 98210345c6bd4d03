"""The picture's model: stations, routes and what is on them; updates; explanations, as plain data.

A `Graph` is plain data: numbers, shapes, names and ids, never a live tensor or node. It is made either by
walking a graph from its roots (`walk.py`) or from a recorded `Trace`, and everything that is shown
(outline, DOT, SVG, table) is made from it and from nothing else.

    station   one tensor and, below it, the backward node that made it (a node with several outputs
              stretches under the cards of all of them; a leaf is on its AccumulateGrad; a tensor without
              a graph on nothing)
    route     one use of a tensor by the op of another station: a forward arrow from card to card and, when
              the node keeps an edge for it, a gradient arrow back from deck to deck

Ids are stable: `s0, s1, …` for stations and `r0, r1, …` for routes, counted in program order (or in
visiting order where only the roots are known).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..fields import Count
from ..protocol import Value
from .source_positions import Span

# ─── What a cell writes outside the graph, as the picture's model has it


@dataclass(frozen=True, slots=True)
class Change:
    """One line of an update: what `tensor`, called `name`, was, the gradient that it had, and what it became;
    a value is None where it is not known or where the gradient is None. In a "zero" and a "clip" that is the
    gradient itself, which has no gradient. `settings` are those of the optimizer for it (`lr`), or the
    numbers that a hand-written update names; `state` the optimizer's own tensors before and after."""

    id: str
    tensor: str
    name: str
    before: Value | None
    gradient: Value | None
    after: Value | None
    settings: tuple[tuple[str, float], ...] = ()
    state: tuple[tuple[str, Value | None, Value | None], ...] = ()


@dataclass(slots=True)
class Update:
    """Writes outside the graph that belong together: a step of an optimizer, `zero_grad`, clipping, or a
    hand-written update. `kind` is "step", "zero", "clip" or "written"; `title` is the call or the statement
    as written in the source (`opt.step()`), `about` the class of the optimizer ("" without one); `span` is
    where it is. `times` are the places of its events in the trace, in order; `of_gradients`: they change
    `.grad`, and not the tensors. It belongs to the backward `call`, and was `early` if it ran before that. In
    a picture it has an `id`, and what it changes has names."""

    kind: str
    title: str
    about: str
    span: Span | None
    times: list[int]
    changes: list[Change]
    call: int = 0
    early: bool = False
    of_gradients: bool = False
    id: str = ""


# ─── The picture's model: stations, routes and what stands on them


# What a tensor is in the graph that is shown. The role decides the color; border and text show it too.
LEAF, PARAMETER, CONSTANT, RESULT, ROOT = "leaf", "parameter", "constant", "result", "root"


class SavedChip(NamedTuple):
    """One value that a node keeps for its backward: a chip on the lower deck.

    `value` is a snapshot for tensors and a short text for anything else (`3`, `(2, 3)`); None when it was
    freed before anybody looked. `version` is the tensor's version when it was saved; `freed` says that
    backward released it; `packed` what a saved-tensor hook made of it ("" if none did, `RECOMPUTED` if it is
    not kept but computed again). `now` is the version that its memory has come to, where that is another:
    then it cannot be used any more. `nbytes` are the bytes of the memory that a saved tensor keeps (0 where
    it stands for a Python number), None for anything else and where that is not known; values with the same
    `memory` share it.
    """

    name: str
    value: Value | str | None
    version: Count | None = None
    freed: bool = False
    packed: str = ""
    now: Count | None = None
    nbytes: Count | None = None
    memory: Count | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """Upper deck: a tensor as it was when the picture was taken.

    `name` is the variable, `expr` the source expression that made it; either may be unknown; `letter` stands
    for a name in formulas where there is none. In a `loop`, `expr` is the loop's head instead, which is not
    an expression. `grad` is the gradient that flowed into the tensor; `grad_kept` tells whether it was also
    stored in `.grad`, and `before` is what that held already. `held` says that a variable still stands for
    the tensor in the end; `asked` that the call that is shown was to find its gradient. `tangent` is that of
    a dual tensor. `fog` is the mode ("no_grad", "inference") in which it was computed from tensors that
    require gradients, so that no node was made; `ghost` the name of the node that it would have had ("" where
    that is not certain). `shares` is the id of the tensor whose memory it uses ("" for its own). `stood` has
    its value and its `.grad` at all moments of the call, where they changed (see Note [True at this moment]
    in `stations`). `seed` is the gradient that the call was given for it, unless that is the usual 1;
    `returned` the one that `grad()` returned for it. A call that is shown as a whole has made a tensor that
    is `compiled`, or for which so many ops were only `counted`.
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
    held: bool = False
    before: Value | None = None
    asked: bool = False
    tangent: Value | None = None
    fog: str = ""
    ghost: str = ""
    shares: str = ""
    stood: tuple[tuple[Value | None, Value | None], ...] = ()
    seed: Value | None = None
    returned: Value | None = None
    letter: str = ""
    loop: bool = False
    compiled: bool = False
    counted: int = 0

    def titled(self, name: str) -> str:
        """`y = log(x)`: a name of the tensor with what made it; `h (for t in range(6))` after a loop."""
        if not self.expr:
            return name
        return f"{name} ({self.expr})" if self.loop else f"{name} = {self.expr}"


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook that ran with a node: its `kind` ("tensor", "pre", "post", "post_accumulate", "multi") and own
    name, and the gradients before it and after it. One that was `removed` before the call did not run.
    `gave` says whether it returned anything but None (None where that is not known)."""

    kind: str
    name: str
    before: tuple[Value | None, ...]
    after: tuple[Value | None, ...]
    removed: bool = False
    gave: bool | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """A method of a custom Function, as written in the source: its name, its text without indent, and its
    first line in the cell (0 where it is elsewhere)."""

    name: str
    text: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Deck:
    """Lower deck: a backward node.

    `inputs` has one entry per entry of `next_functions`: the id of the route it belongs to, or None where
    the entry is None (the input needs no gradient; drawn as ∅). `hooks` counts the user's hooks that run
    with the node. `sequence` is the rank of the node's age, by which the engine runs it (an AccumulateGrad's
    is the highest); 0 where nobody asked. `ran` are the hooks that ran in the call that is shown, in order;
    `skipped`: the call left the node out, because no gradient behind it was asked for. `code` has the
    forward and the backward of a custom Function; `kinds` says of each argument of the op whether it was a
    "tensor" or a "number" (empty where that is not known).
    """

    id: str
    name: str
    saved: tuple[SavedChip, ...] = ()
    inputs: tuple[str | None, ...] = ()
    hooks: int = 0
    sequence: int = 0
    ran: tuple[Hook, ...] = ()
    skipped: bool = False
    code: tuple[Code, ...] = ()
    kinds: tuple[str, ...] = ()


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
    in the backward call that is shown, in order: usually one, none if nothing flowed (yet). `times` is more
    than 1 for all uses of a tensor by the members of one fold. `cut` says what ended the path of the gradient
    here although the source asks for one: "detach", "data", "no_grad", "inference", "numpy", "item", "tensor"
    or "integer".
    """

    id: str
    source: str
    target: str
    card: int = 0
    input: int = 0
    tracked: bool = True
    gradients: tuple[Value, ...] = ()
    times: int = 1
    cut: str = ""


GUILTY, CAUSE = "guilty", "cause"


@dataclass(frozen=True, slots=True)
class Mark:
    """What an explanation points at: `part` is a part of the picture by its id in the SVG without the prefix
    (`s1-c0` a card, `s1-d` a deck, `s1-k0` a chip, `r2` a forward arrow, `r2-g` its gradient arrow). `kind`
    is GUILTY (where it failed) or CAUSE (what led to that); `label` is short text to be written there."""

    part: str
    kind: str = GUILTY
    label: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """A station that stands for many, whose ids in the whole graph are `members`.

    Its card is that of the last of them; `counts` has the names of their backward nodes, most frequent first.
    `parameters` are those that are inside, under their names there (`weight`).
    """

    station: str
    members: tuple[str, ...]
    counts: tuple[tuple[str, int], ...] = ()
    parameters: tuple[tuple[str, Card], ...] = ()

    @property
    def operations(self) -> int:
        """How many operations it stands for; without backward nodes, how many stations."""
        return sum(count for _, count in self.counts) or len(self.members)


# What a group of stations is: a call of a module, a call of a library function, one statement of the cell,
# one round of a loop in the forward pass, a long chain of operations, several that are one card of a strip,
# or all that stands aside.
MODULE, FUNCTION, LINE, ROUND = "module", "function", "line", "round"
CHAIN, JOINED, ASIDE = "chain", "joined", "aside"


@dataclass(frozen=True, slots=True)
class Group:
    """Stations that are one box until a reader opens it.

    `members` are all stations inside, those of inner groups included; `parent` is the group around it ("" at
    the top). `title` is what the box is called (`0 Linear 2→4`, `cross_entropy`), `path` the module's place
    in its model (`model.0`). `parameters` has the parameters that are inside the box: (`weight`, id of the
    station). `times` is more than 1 for a box that stands for so many like it (`× 12`).
    """

    id: str
    kind: str
    title: str
    members: tuple[str, ...]
    parent: str = ""
    path: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    times: int = 1

    @property
    def loop(self) -> bool:
        """Whether it is the rounds of a loop: its title is the loop's head, which is not an expression."""
        return self.kind == ROUND


@dataclass(frozen=True, slots=True)
class Graph:
    """Stations in program order, the routes between them, and a sentence for the reader where one is due.

    `folds` says which of the stations stand for many. `note` is a key of the catalogue of texts with its
    values, e.g. ("no_graph_unused", {"names": "x, y"}). `omitted` counts stations left out because the
    graph was larger than the limit. `marks` are the parts that an explanation points at. `unseen`: nobody
    recorded whether gradients flowed here, and there are some. `groups` are the boxes that the stations can
    be gathered in, outer ones before inner ones; `updates` what was written around the call, in order;
    `aside` counts, by kind, what the cell computed that has no part in the call (a key of the catalogue, how
    many); `counted` the ops without gradients that were not recorded, `passed` those of any kind, `light` the
    backward calls of which only the value of the root and the norm of the gradients were.
    """

    stations: tuple[Station, ...]
    routes: tuple[Route, ...]
    note: tuple[str, dict[str, str]] | None = None
    omitted: int = 0
    folds: tuple[Fold, ...] = ()
    marks: tuple[Mark, ...] = ()
    unseen: bool = False
    groups: tuple[Group, ...] = ()
    updates: tuple[Update, ...] = ()
    aside: tuple[tuple[str, int], ...] = ()
    counted: int = 0
    passed: int = 0
    light: int = 0

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
    def has_gradients(self) -> bool:
        """True when a tensor that nobody computed has a gradient in its `.grad`."""
        return any(card.grad is not None and card.grad_kept and card.is_leaf for _, card in self.cards())

    @property
    def tracked(self) -> bool:
        """True when there is anything to run backward through."""
        return any(station.deck is not None for station in self.stations)


# ─── The data of an explanation


class Matrix(NamedTuple):
    """One matrix with its title: `items` row by row, and what its rows and columns stand for. `wrong` are the
    places (row, column) that an error is about, the worst first; `sign` is what is between it and the
    matrix before."""

    title: str
    items: tuple[tuple[Any, ...], ...]
    dtype: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    wrong: tuple[tuple[int, int], ...] = ()
    sign: str = ""


class Matrices(NamedTuple):
    """Matrices that are looked at side by side, and a title for them all."""

    title: str
    side_by_side: tuple[Matrix, ...]


class Explanation(NamedTuple):
    """An error, word for word, and under it why it came and what to do.

    `key` says which of the known errors it is ("" for any other: then `why` and `fix` are empty, and so is
    each of them wherever nothing is certain). `call` is the backward call that failed (0: what failed was
    none). `marks` are the parts of that call's picture that are guilty, or led to it. `span` is where the
    error occurred, `cause` the place in the source that led to it, if that is another. `matrices` are
    numbers that show what is explained. `time` is the number of the event with which that was certain (0: not
    said).
    """

    key: str
    error: str
    why: str = ""
    fix: str = ""
    marks: tuple[Mark, ...] = ()
    call: int = 0
    span: Span | None = None
    cause: Span | None = None
    matrices: tuple[Matrices, ...] = ()
    time: int = 0
