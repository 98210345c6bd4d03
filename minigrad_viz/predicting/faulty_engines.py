"""The engine that a learner runs in their head, with one misconception; which wrong answers it gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.observing import F

from ..arithmetic.derivatives import tensor_label
from ..flow.backward_pass import Arrow, Flow
from ..flow.engine import BackwardEngine, Share, Steps
from ..model.stations import Edge
from ..number_text import one_line
from ..trace.events import GradSet, TensorDetached, of_kinds
from ..words import clean
from .question import Part, Said, Wrong, equal, wrong

# ─── What the tensors and nodes of a pass are called


class Teller:
    """Names for the tensors and nodes of a pass, as in its pictures and formulas."""

    def __init__(self, walk: Flow) -> None:
        self.walk, self.scene = walk, walk.scene

    def made_by(self, node: str) -> str:
        """The tensor that a node belongs to."""
        state, place = self.walk.nodes[node], self.scene.by_node.get(node)
        tensor = state.variable or (place.states[0].id if place is not None else None)
        known = tensor_label(self.scene, tensor)
        return self.name(node) if known == "…" else known

    def name(self, node: str) -> str:
        """The node's own name."""
        return clean(self.walk.nodes[node].name)

    def input(self, arrow: Arrow) -> str:
        """The tensor that an arrow leads to."""
        edge = self.walk.nodes[arrow[0]].edges[arrow[1]]
        return self.made_by(edge[0]) if edge is not None and edge[0] in self.walk.nodes else "…"

    def both(self, arrow: Arrow) -> dict[str, Any]:
        """What most hints say: the node, its tensor, and the tensor that it sends a gradient to."""
        return {"node": self.name(arrow[0]), "at": self.made_by(arrow[0]), "to": self.input(arrow)}

    def sizes(self, arrow: Arrow) -> dict[str, Any]:
        """The shapes on both sides of a node."""
        way = self.walk.way(*arrow)
        place = self.scene.by_node.get(arrow[0])
        value = place.states[0].value if place is not None else None
        return {"small": way.shape if way else "?", "large": value.shape if value else "?"}


# ─── The engine that a learner runs in their head


Marked = tuple[tuple[Arrow, ...], tuple[Arrow, ...]]  # arrows that an answer follows, and that it forgets


class Fault(NamedTuple):
    """A misconception. An engine that has it goes wrong at one place, or everywhere (None).

    `places` names the places of a pass at which it could go wrong on the way to a node, at which the gradient
    that is asked for arrives. `steps` has what it does instead of methods of the engine: a function of the
    engine, the right method, and what that is given. Of the engine that went wrong and that node, `hint` says
    what it does wrong, and `arrows` is what is to be marked in the picture.
    """

    key: str
    places: Callable[[Flow, str], Iterable[Any]]
    steps: Steps
    hint: Callable[[BackwardEngine, Teller, str], Said]
    arrows: Callable[[BackwardEngine, str], Marked] = lambda engine, target: ((), ())


# ─── Misconceptions about where gradients begin, meet, end, or must not pass


# ── gradients that meet ─────────────────────────────────────────────────────────────────────────────────────


def meetings(walk: Flow, target: str) -> dict[Edge, list[Arrow]]:
    """Where gradients meet on the way, and over which arrows they come."""
    found: dict[Edge, list[Arrow]] = {}
    for node, i in walk.leading(target):
        edge = walk.nodes[node].edges[i]
        if edge is not None and walk.expects(node, i):
            found.setdefault(edge, []).append((node, i))
    return {edge: arrows for edge, arrows in found.items() if len(arrows) > 1}


def paths(walk: Flow, target: str) -> Iterator[tuple[Edge, str]]:
    """Each of the paths that meet, by the last node on it."""
    for edge, arrows in meetings(walk, target).items():
        nodes = dict.fromkeys(node for node, _ in arrows)
        yield from ((edge, node) for node in nodes if len(nodes) > 1)


def follow_one(engine: BackwardEngine, right: Any, edge: Edge, shares: list[Share]) -> Any:
    """Follow one of the paths that meet, and forget the others."""
    kept = [share for share in shares if edge != engine.at[0] or share[0][0] == engine.at[1]]
    return right(edge, kept or shares)


def one_path(engine: BackwardEngine, tell: Teller, target: str) -> Said:
    """Which path was followed, and which were forgotten."""
    edge, node = engine.at
    others = {n: None for n, _ in meetings(engine.walk, target)[edge] if n != node}
    missing = ", ".join(map(tell.made_by, others))
    said = {"x": tell.made_by(edge[0]), "taken": tell.made_by(node), "missing": missing, "n": len(others) + 1}
    return ("quiz_many_paths" if len(others) > 1 else "quiz_one_path"), said


def fork_arrows(engine: BackwardEngine, target: str) -> Marked:
    """The arrows of the path that was followed, and those of the others, each back to where they part."""
    edge, node = engine.at
    there, walk = meetings(engine.walk, target)[edge], engine.walk
    taken, missing = (
        {arrow for end in there if (end[0] == node) == mine for arrow in (*walk.leading(end[0]), end)}
        for mine in (True, False)
    )

    def place(arrow: Arrow) -> tuple[int, int]:
        return walk.order.index(arrow[0]), arrow[1]

    return tuple(sorted(taken - missing, key=place)), tuple(sorted(missing - taken, key=place))


def uses(walk: Flow, target: str) -> Iterator[tuple[Edge, Arrow]]:
    """Each use of a tensor that the same operation uses several times."""
    for edge, arrows in meetings(walk, target).items():
        nodes = [node for node, _ in arrows]
        yield from ((edge, arrow) for arrow in arrows if nodes.count(arrow[0]) > 1)


def count_one(engine: BackwardEngine, right: Any, edge: Edge, shares: list[Share]) -> Any:
    """Count one of several uses."""
    wrong, (node, i) = engine.at
    return right(edge, [s for s in shares if edge != wrong or s[0][0] != node or s[0][1] == i])


def repeated_use(engine: BackwardEngine, tell: Teller, target: str) -> Said:
    """Which operation uses which tensor."""
    edge, (node, _) = engine.at
    return "quiz_once", {"x": tell.made_by(edge[0]), "at": tell.made_by(node)}


def other_uses(engine: BackwardEngine, target: str) -> Marked:
    """The use that was counted, and the others."""
    edge, arrow = engine.at
    return (arrow,), tuple(a for a in meetings(engine.walk, target)[edge] if a != arrow)


def keep_last(engine: BackwardEngine, right: Any, edge: Edge, shares: list[Share]) -> Any:
    """Let the gradient that comes last replace those that came before."""
    return shares[-1][1]


def add_first(engine: BackwardEngine, right: Any, edge: Edge, shares: list[Share]) -> Any:
    """Add where paths meet before multiplying: all that came in times all local derivatives."""
    if edge != engine.at:
        return right(edge, shares)
    factors: Any = [engine.walk.factor(*arrow) for arrow, _ in shares]
    incoming: Any = [engine.received.get(arrow[0]) for arrow, _ in shares]
    if any(part is None for part in (*factors, *incoming)):
        return None
    return F.sum_to(np.asarray(sum(incoming) * sum(factors)), np.shape(right(edge, shares)))


# ── what .grad holds ────────────────────────────────────────────────────────────────────────────────────────


def held_before(walk: Flow, target: str) -> list[Any]:
    """What the `.grad` of a tensor held."""
    before = walk.held(walk.owner(target) or "")
    return [before] if before is not None else []


def cleared_gradient(walk: Flow, target: str) -> Iterator[Any]:
    """What the cell has cleared from `.grad` before."""
    leaf, begin = walk.owner(target), walk.scene.now.begin
    earlier = walk.scene.trace.events[: int(min(begin, len(walk.scene.trace.events)))]
    for event in of_kinds(earlier, GradSet):
        if event.tensor == leaf and event.how in ("zero", "none"):
            yield from [event.before] if event.before else []


def still_there(engine: BackwardEngine, right: Any, leaf: str, new: Any) -> Any:
    """Add to a gradient that was cleared."""
    at = engine.at
    return new + np.array(at.items, np.float64).reshape(at.shape) if at.items else None


# ── detach() ────────────────────────────────────────────────────────────────────────────────────────────────


def detach_ends(walk: Flow, target: str) -> Iterable[tuple[str, str]]:
    """What `detach()` was called on, and its result."""
    events = walk.scene.trace.of(TensorDetached)
    return [(e.source, e.tensor.id) for e in events if e.source != e.tensor.id]


def order_through(engine: BackwardEngine, right: Any) -> list[str]:
    """The order if `detach()` were an operation: a tensor that was made a leaf then has a node of its own."""
    walk, (_, tensor) = engine.walk, engine.at
    nodes, made = walk.nodes, walk.scene.by_node
    times = {id: made[id].time for id in nodes if nodes[id].variable is None and id in made}
    cut = walk.scene.accumulators.get(tensor)
    if cut is not None:
        times[cut] = walk.scene.at[tensor][0].time
    newest = sorted(times, key=lambda id: times[id], reverse=True)
    return newest + [id for id in nodes if nodes[id].variable is not None and id != cut]


def edges_through(engine: BackwardEngine, right: Any, node: str) -> tuple[Edge | None, ...]:
    """The edges if `detach()` had one."""
    source, tensor = engine.at
    beyond, state = engine.walk.arrival(source), engine.walk.nodes[node]
    if state.variable == tensor:
        return (beyond,)
    tensors = engine.walk.inputs(state)
    return tuple(
        beyond if edge is None and i < len(tensors) and tensors[i] == tensor else edge
        for i, edge in enumerate(state.edges)
    )


ONE_PATH = Fault("quiz_one_path", paths, {"met": follow_one}, one_path, fork_arrows)
ONCE = Fault("quiz_once", uses, {"met": count_one}, repeated_use, other_uses)
OVERWRITES = Fault(
    "quiz_overwrites",
    lambda walk, target: [None] if meetings(walk, target) else [],
    {"met": keep_last},
    lambda engine, tell, target: (
        "quiz_overwrites", {"x": tell.made_by(next(iter(meetings(engine.walk, target)))[0])}
    ),
)  # fmt: skip
ADDS_FIRST = Fault(
    "quiz_adds_first",
    meetings,
    {"met": add_first},
    lambda engine, tell, target: ("quiz_adds_first", {"x": tell.made_by(engine.at[0])}),
    lambda engine, target: ((), tuple(meetings(engine.walk, target).get(engine.at, ()))),
)
FORGETS_BEFORE = Fault(
    "quiz_forgets_before",
    held_before,
    {"stored": lambda engine, right, leaf, new: new},
    lambda engine, tell, at: ("quiz_forgets_before", {"x": tell.made_by(at), "before": one_line(engine.at)}),
)
NO_ZERO = Fault(
    "quiz_no_zero",
    cleared_gradient,
    {"stored": still_there},
    lambda engine, tell, at: ("quiz_no_zero", {"x": tell.made_by(at), "before": one_line(engine.at)}),
)
NO_SEED = Fault(
    "quiz_no_seed",
    lambda walk, target: [None] if walk.scene.now.seeds else [],
    {"start": lambda engine, right, root: np.ones(np.shape(right(root)))},
    lambda engine, tell, target: ("quiz_no_seed", {}),
)
IGNORES_DETACH = Fault(
    "quiz_ignores_detach",
    detach_ends,
    {"order": order_through, "edges": edges_through},
    lambda engine, tell, target: ("quiz_ignores_detach", {"x": tensor_label(tell.scene, engine.at[0])}),
)


# ─── Misconceptions about what a node passes to one of its inputs


Fits = Callable[[Flow, Arrow], bool]


def fault(
    key: str,
    fits: Fits,
    wrong: Callable[[Flow, Arrow, Any, Any], Any],
    everywhere: str = "",
    told: Callable[[Teller, Arrow], dict[str, Any]] = Teller.both,
) -> Fault:
    """A fault at each arrow that `fits`, and with `everywhere`, which is the key of its hint then, at all of
    them. `wrong` is what the node passes, given the pass, the arrow, what was received and what is right."""

    def places(walk: Flow, target: str) -> list[Arrow | None]:
        found = [arrow for arrow in walk.leading(target) if fits(walk, arrow)]
        return [None, *found] if everywhere else [*found]

    def sent(engine: BackwardEngine, right: Any, node: str, i: int, received: Any) -> Any:
        passed = right(node, i, received)
        here = engine.at in (None, (node, i))
        return wrong(engine.walk, (node, i), received, passed) if here else passed

    def hint(engine: BackwardEngine, tell: Teller, target: str) -> Said:
        return (
            (everywhere, {"x": tell.made_by(target)}) if engine.at is None else (key, told(tell, engine.at))
        )

    return Fault(key, places, {"sent": sent}, hint, lambda e, _: ((), () if e.at is None else (e.at,)))


# ── where it can happen ─────────────────────────────────────────────────────────────────────────────────────


def at_every_node(walk: Flow, arrow: Arrow) -> bool:
    """At every node."""
    return True


def at_nodes(*names: str) -> Fits:
    """At nodes with these names, whatever the number at its end."""
    return lambda walk, arrow: walk.nodes[arrow[0]].name.rstrip("0123456789") in names


def at_elementwise_nodes(walk: Flow, arrow: Arrow) -> bool:
    """At nodes that multiply element by element."""
    return walk.factor(*arrow) is not None


def at_negative_factors(walk: Flow, arrow: Arrow) -> bool:
    """At those that multiply by negative numbers alone."""
    factor = walk.factor(*arrow)
    return factor is not None and bool(np.size(factor)) and bool(np.all(np.asarray(factor) < 0))


def saved_number(walk: Flow, arrow: Arrow, name: str) -> Any:
    """The value that a node saved, or could have saved, under a name."""
    way = walk.way(*arrow)
    return None if way is None else getattr(way.saved.get(name), "value", None)


# ── what is passed ──────────────────────────────────────────────────────────────────────────────────────────


def pass_on_unchanged(walk: Flow, arrow: Arrow, received: Any, right: Any) -> Any:
    """The gradient as it came, without the local derivative; None where the shapes do not allow that."""
    way = walk.way(*arrow)
    if way is None:
        return None
    smaller, larger = sorted((np.shape(received), tuple(way.shape)), key=math.prod)
    if not is_broadcast(smaller, larger):
        return None
    return np.broadcast_to(received, way.shape) if larger == way.shape else F.sum_to(received, way.shape)


def is_broadcast(shape: Sequence[int], to: Sequence[int]) -> bool:
    """Whether broadcasting leads from one shape to another."""
    pairs = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(size in (1, wanted) for size, wanted in pairs)


def local_alone(walk: Flow, arrow: Arrow, received: Any, right: Any) -> Any:
    """The local derivative, without what came in."""
    return walk.sent(*arrow, np.ones(np.shape(received)))


def add_local(walk: Flow, arrow: Arrow, received: Any, right: Any) -> Any:
    """What came in plus the local derivative."""
    factor = walk.factor(*arrow)
    return right if factor is None else F.sum_to(np.asarray(received + factor), np.shape(right))


def transpose_other(walk: Flow, arrow: Arrow, received: Any, right: Any) -> Any:
    """A matrix product with the other operand as it is, where it is square; else the transposed result."""
    if np.ndim(right) != 2:
        return right
    operand = saved_number(walk, arrow, "self" if arrow[1] else "mat2")
    if operand is not None and operand.shape[0] == operand.shape[1] and at_nodes("MmBackward")(walk, arrow):
        return operand @ received if arrow[1] else received @ operand
    return np.transpose(right)


def omit_sum(walk: Flow, arrow: Arrow, received: Any, right: Any) -> Any:
    """The gradients of all copies of a broadcast value."""
    if np.size(right) == np.size(received):
        return right
    return np.broadcast_to(received * walk.factor(*arrow), np.shape(received))


def summed_otherwise(walk: Flow, arrow: Arrow, received: Any, right: Any) -> Any:
    """Their sum over the other dimension."""
    if np.ndim(received) != 2 or np.size(right) == np.size(received) or not np.ndim(right):
        return right
    return omit_sum(walk, arrow, received, right).sum(axis=int(np.shape(right)[-1] == np.shape(received)[1]))


def by_value(walk: Flow, arrow: Arrow, received: Any, right: Any) -> Any:
    """What came in times the value of the operation."""
    value = saved_number(walk, arrow, "result")
    return right if value is None else F.sum_to(np.asarray(received * value), np.shape(right))


def same_exponent(walk: Flow, arrow: Arrow, received: Any, right: Any) -> Any:
    """n · xⁿ for the derivative of xⁿ."""
    base = saved_number(walk, arrow, "self")
    return right if base is None or arrow[1] else right * base


def with_sizes(tell: Teller, arrow: Arrow) -> dict[str, Any]:
    """The shapes on both sides."""
    return tell.both(arrow) | tell.sizes(arrow)


def with_count(tell: Teller, arrow: Arrow) -> dict[str, Any]:
    """How many elements the input has."""
    way = tell.walk.way(*arrow)
    return tell.both(arrow) | {"n": int(np.prod(way.shape)) if way else "n"}


PRODUCTS = at_nodes("MmBackward", "BmmBackward", "MvBackward", "AddmmBackward", "LinearBackward")

NO_LOCAL = fault("quiz_no_local", at_every_node, pass_on_unchanged, "quiz_no_local_all")
NO_UPSTREAM = fault("quiz_no_upstream", at_every_node, local_alone, "quiz_no_upstream_all")
ADDS_FACTORS = fault("quiz_adds_factors", at_every_node, add_local, "quiz_adds_factors_all")
TRANSPOSES = fault("quiz_transposes", PRODUCTS, transpose_other)
WRONG_DIMENSION = fault("quiz_wrong_dimension", at_elementwise_nodes, summed_otherwise, told=with_sizes)
NO_BROADCAST_SUM = fault("quiz_no_broadcast_sum", at_elementwise_nodes, omit_sum, told=with_sizes)
VALUE_INSTEAD = fault("quiz_value_instead", at_elementwise_nodes, by_value)
KEEPS_POWER = fault("quiz_keeps_power", at_nodes("PowBackward"), same_exponent)
LOSES_MINUS = fault("quiz_sign", at_negative_factors, lambda walk, arrow, received, right: -right)
NO_DIVISION = fault(
    "quiz_no_division",
    at_nodes("MeanBackward"),
    lambda walk, arrow, received, right: right * (np.size(right) / np.size(received)),
    told=with_count,
)


# ─── Which wrong answers about a gradient are understood


def gradient_answer(value: Any) -> Any:
    """A gradient as a number or nested lists; None where it is unknown, complex or not finite."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        return None
    return array.tolist()


# The misconceptions in the order in which their hints are given: the most telling first.
FAULTS = (
    ONE_PATH, ONCE, OVERWRITES, FORGETS_BEFORE, NO_ZERO,
    IGNORES_DETACH, LOSES_MINUS, NO_DIVISION, NO_BROADCAST_SUM,
    WRONG_DIMENSION, TRANSPOSES, NO_SEED, KEEPS_POWER,
    NO_LOCAL, NO_UPSTREAM, ADDS_FIRST, ADDS_FACTORS,
    VALUE_INSTEAD,
)  # fmt: skip


def faults_of(walk: Flow, target: str, truth: Any) -> Iterator[Wrong]:
    """The wrong answers of all faulty engines about the `.grad` of the leaf whose node is `target`; the right
    one is `truth`."""
    leaf, tell = walk.owner(target) or "", Teller(walk)
    seen: list[tuple[str, Any]] = []
    for fault in FAULTS:
        for at in fault.places(walk, target):
            engine = BackwardEngine(walk, fault.steps, at).run()
            answer = gradient_answer(engine.grads.get(leaf))
            if answer is None or equal(answer, truth) or (fault.key, answer) in seen:
                continue
            seen.append((fault.key, answer))
            hint, arrows = fault.hint(engine, tell, target), fault.arrows(engine, target)
            yield Wrong(fault.key, answer, hint, *arrows)


def others_of(walk: Flow, target: str, truth: Any, engine: BackwardEngine) -> Iterator[Wrong]:
    """The gradients of other leaves, which somebody may have given instead."""
    tell = Teller(walk)
    for node in walk.order:
        leaf = walk.nodes[node].variable
        answer = None if leaf is None or node == target else gradient_answer(engine.grads.get(leaf))
        if answer is not None and not equal(answer, truth):
            yield wrong("quiz_other_leaf", answer, x=tell.made_by(node))


def parts_of(walk: Flow, target: str, engine: BackwardEngine) -> Iterator[Part]:
    """The steps on the way to a gradient, in the order in which the nodes run; `engine` is the right one."""
    tell, sent = Teller(walk), {arrow: value for shares in engine.shares.values() for arrow, value in shares}
    for arrow in walk.leading(target):
        truth = gradient_answer(sent.get(arrow))
        if truth is not None:
            yield Part(arrow, tell.name(arrow[0]), tell.made_by(arrow[0]), tell.input(arrow), truth)


def arrival_of(walk: Flow, leaf: str) -> str | None:
    """The node at which the gradient of a leaf, or of a tensor that keeps it, arrives or would arrive."""
    return next((n for n in walk.order if walk.owner(n) == leaf), walk.scene.accumulators.get(leaf))
