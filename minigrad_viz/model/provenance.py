"""Where tensors came from, and where the path of a gradient ends although a tensor requires one.

Note [What is a cut]
    A route is cut if its source required gradients when it was used, or had a path to a tensor that did, and
    no gradient can flow back along the route. So in a chain only the first route is cut: the later ones have
    no path that could end. A cut that the cell did not make itself, as inside a transform, is not shown.

    A tensor is in the fog if a mode without gradients computed it from a tensor that requires gradients, or
    from one in the fog: without the mode it, too, would have a node.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..trace.events import (
    Forward,
    InPlaceWrite,
    NumberRead,
    NumbersReturned,
    TensorCreated,
    TensorDetached,
    TensorState,
    Trace,
)
from ..trace.graph_walk import reachable
from .stations import Lookup, Place

# ─── By which events tensors came to be, and what they came from


NUMBERS = 64  # that left the graph and went into no tensor yet
Birth = TensorCreated | Forward | TensorDetached | NumbersReturned | InPlaceWrite


def numbers_taken(trace: Trace) -> dict[int, list[str]]:
    """By the id of an event, the tensors whose numbers are in its expression, as x in `2 * math.log(x)`,
    and in that of no earlier event."""
    found: dict[int, list[str]] = {}
    given: list[NumberRead] = []
    for event in trace.events:
        if isinstance(event, NumberRead):
            given.append(event)
        elif isinstance(event, Birth) and event.span is not None:
            mine = [each for each in given if each.span is not None and event.span.holds(each.span)]
            found[id(event)] = [each.tensor for each in mine]
            given = [each for each in given if each not in mine][-NUMBERS:]
    return found


def upstream(
    born: dict[str, Birth], roots: Iterable[str], through: Callable[[Birth], bool] = lambda event: True
) -> Iterator[tuple[str, Birth | None]]:
    """Some tensors and all that they were computed from `through` events, nearest first, each once and with
    its event."""

    def sources(id: str) -> list[str]:
        event = born.get(id)
        return list(event.read) if event is not None and through(event) else []

    return ((id, born.get(id)) for id in reachable(roots, sources))


def op_behind(born: dict[str, Birth], tensor: str | None, *ops: str) -> Forward | None:
    """The op whose result a tensor is, if it is one of `ops` (without these any)."""
    event = None if tensor is None else born.get(tensor)
    return event if isinstance(event, Forward) and (not ops or event.op in ops) else None


def sources_of(born: dict[str, Birth], root: str) -> set[str]:
    """All tensors that a tensor was computed from, itself included."""
    return {id for id, _ in upstream(born, [root])}


def by_number(ids: Iterable[str]) -> list[str]:
    """The ids of tensors, the oldest first: they are numbered as they come up."""
    return sorted(ids, key=lambda id: int(id[1:]))


# ─── Where the path of a gradient ends although a tensor asks for one


WHOLE = ("int", "uint", "bool")  # how the names of dtypes begin that no gradient can have
# Functions of PyTorch whose node has the same name for all arguments: for these tensors, or a number too.
SAME = {
    "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sin": "Sin", "cos": "Cos", "tanh": "Tanh", "relu": "Relu",
    "sigmoid": "Sigmoid", "neg": "Neg", "abs": "Abs", "clone": "Clone", "mul": "Mul", "rmul": "Mul",
    "add": "Add", "radd": "Add", "sub": "Sub", "div": "Div",
}  # fmt: skip
WHOLE_TENSOR = ("sum", "mean")  # those of which the same holds without a dimension


class Cuts:
    """Finds the cuts of a trace while its tensors come into `found`, later the nodes that would have been.

    `asked` are the tensors whose `requires_grad` the cell has set; `twins` those that show the same memory in
    the same way, and whether they count versions together.
    """

    def __init__(self, found: Lookup) -> None:
        self.found = found
        self.asked: set[str] = set()
        self.twins: dict[str, dict[str, bool]] = {}

    def note(self, place: Place, event: Any, mode: str) -> None:
        """Note at a new place what `event`, by which it was made in a `mode` ("" with gradients), says about
        it."""
        at = self.found.at
        place.asking = {id for id in place.inputs or () if id is not None and self.carries(id)}
        place.shares = event.shares
        if not isinstance(event, Forward) and place.shares in at and self.same_shape(place):
            own = place.states[0].id
            together = event.how == "detach"
            self.twins.setdefault(own, {})[place.shares] = together
            self.twins.setdefault(place.shares, {})[own] = together
        match event:
            case NumbersReturned():
                place.cut = event.how
            case TensorDetached():
                place.cut = "" if event.span is None else event.how
            case Forward() if not any(state.requires_grad for state in event.outputs):
                whole = all(map(is_whole, event.outputs))
                place.cut = mode or ("integer" if whole else "")
                foggy = any(at[id][0].fog for id in event.inputs if id in at)
                place.fog = mode if not whole and (place.asking or foggy) else ""
            case Forward() if mode and place.node is None:
                place.cut = place.fog = (
                    mode  # a view, of which PyTorch says that it requires what its base does
                )

    def carries(self, id: str) -> bool:
        """Whether a tensor in its present state is to get a gradient: it has a path, or asks itself. A view
        without a path says that it asks where its base does."""
        if id not in self.found.at:
            return False
        place, state = self.found.at[id][0], self.found.last(id)
        view = place.event is not None and place.shares and id not in self.asked
        return state.node is not None or (state.requires_grad and not view)

    def same_shape(self, place: Place) -> bool:
        """Whether a tensor has the shape and the numbers of the one whose memory it uses."""
        value = place.states[0].value
        return value is not None and value == self.found.last(place.shares).value

    def same_numbers(self, id: str) -> dict[str, bool]:
        """The other tensors that show all of the memory of a tensor just as it does, by `detach()` and the
        like; and whether they count versions together."""
        found, todo = {id: True}, [id]
        while todo:
            current = todo.pop()
            for other, together in self.twins.get(current, {}).items():
                if other not in found:
                    found[other] = together and found[current]
                    todo.append(other)
        return {other: together for other, together in found.items() if other != id}

    def ghost_of(self, place: Place) -> str:
        """The name of the node that an op in the fog would have left; "" where that is not certain."""
        event = place.event
        if event is None or not place.fog:
            return ""
        known = self.nodes_of_ops.get(self.signature(event), set())
        others = [name for name in known if name is not None]
        return event.ghost or (others[0] if len(known) == 1 and others else node_name_of(event))

    @functools.cached_property
    def nodes_of_ops(self) -> dict[tuple[Any, ...], set[str | None]]:
        """The names of the nodes that the ops of the trace left, by their signatures."""
        found: dict[tuple[Any, ...], set[str | None]] = defaultdict(set)
        for place in self.found.places:
            if place.event is not None and place.states[0].node is not None:
                found[self.signature(place.event)].add(place.states[0].grad_fn)
        return found

    def signature(self, event: Forward) -> tuple[Any, ...]:
        """What decides which node an op leaves: the op, and of each argument whether it is a tensor, its
        number of dimensions, and the kind of its dtype."""
        kinds: list[Any] = []
        for id in event.inputs:
            value = self.found.last(id).value if id is not None and id in self.found.at else None
            kinds.append(None if id is None else (len(value.shape), value.dtype[:3]) if value else id)
        return (event.op, *kinds)


def is_whole(state: TensorState) -> bool:
    """Whether a tensor's dtype is one that no gradient can have."""
    return state.value is not None and state.value.dtype.startswith(WHOLE)


def memory_of(lookup: Lookup, place: Place) -> str:
    """The tensor whose memory those at a place use, through all tensors in between; "" for their own."""
    shares = place.shares
    while shares in lookup.at and lookup.at[shares][0].shares:
        shares = lookup.at[shares][0].shares
    return shares if shares in lookup.at else ""


def node_name_of(event: Forward) -> str:
    """The name of PyTorch's node, where the op alone decides it."""
    if event.op == "pow" and len(event.inputs) == 2:
        return "PowBackward0" if event.inputs[1] is None else "PowBackward1"
    if event.op in WHOLE_TENSOR and len(event.inputs) == 1:
        return f"{event.op.capitalize()}Backward0"
    return f"{SAME[event.op]}Backward0" if event.op in SAME else ""
