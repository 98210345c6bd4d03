"""Misconceptions about where gradients begin, meet, end, or must not pass; those in `faulty_nodes` are about
a node. Each is a few plain lines, which stand in for a step of the right engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from minigrad.observing import F

from ..arithmetic.derivatives import label
from ..model.place import Edge
from ..numbers import short
from ..trace.events import Detached, GradSet
from .backward_pass import Arrow, Pass
from .engine import Fault, ImaginedEngine, Marked, Share
from .question import Said
from .telling import Teller

# ── gradients that meet ─────────────────────────────────────────────────────────────────────────────────────


def meetings(walk: Pass, target: str) -> dict[Edge, list[Arrow]]:
    """Where gradients meet on the way, and over which arrows they come."""
    found: dict[Edge, list[Arrow]] = {}
    for node, i in walk.leading(target):
        edge = walk.nodes[node].edges[i]
        if edge is not None and walk.expects(node, i):
            found.setdefault(edge, []).append((node, i))
    return {edge: arrows for edge, arrows in found.items() if len(arrows) > 1}


def paths(walk: Pass, target: str) -> Iterator[tuple[Edge, str]]:
    """Each of the paths that meet, by the last node on it."""
    for edge, arrows in meetings(walk, target).items():
        nodes = dict.fromkeys(node for node, _ in arrows)
        yield from ((edge, node) for node in nodes if len(nodes) > 1)


def follow_one(engine: ImaginedEngine, right: Any, edge: Edge, shares: list[Share]) -> Any:
    """Follow one of the paths that meet, and forget the others."""
    kept = [share for share in shares if edge != engine.at[0] or share[0][0] == engine.at[1]]
    return right(edge, kept or shares)


def one_path(engine: ImaginedEngine, tell: Teller, target: str) -> Said:
    """Which path was followed, and which were forgotten."""
    edge, node = engine.at
    others = {n: None for n, _ in meetings(engine.walk, target)[edge] if n != node}
    missing = ", ".join(map(tell.made_by, others))
    said = {"x": tell.made_by(edge[0]), "taken": tell.made_by(node), "missing": missing, "n": len(others) + 1}
    return ("quiz_many_paths" if len(others) > 1 else "quiz_one_path"), said


def forked(engine: ImaginedEngine, target: str) -> Marked:
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


def uses(walk: Pass, target: str) -> Iterator[tuple[Edge, Arrow]]:
    """Each use of a tensor that the same operation uses several times."""
    for edge, arrows in meetings(walk, target).items():
        nodes = [node for node, _ in arrows]
        yield from ((edge, arrow) for arrow in arrows if nodes.count(arrow[0]) > 1)


def count_one(engine: ImaginedEngine, right: Any, edge: Edge, shares: list[Share]) -> Any:
    """Count one of several uses."""
    wrong, (node, i) = engine.at
    return right(edge, [s for s in shares if edge != wrong or s[0][0] != node or s[0][1] == i])


def once(engine: ImaginedEngine, tell: Teller, target: str) -> Said:
    """Which operation uses which tensor."""
    edge, (node, _) = engine.at
    return "quiz_once", {"x": tell.made_by(edge[0]), "at": tell.made_by(node)}


def other_uses(engine: ImaginedEngine, target: str) -> Marked:
    """The use that was counted, and the others."""
    edge, arrow = engine.at
    return (arrow,), tuple(a for a in meetings(engine.walk, target)[edge] if a != arrow)


def keep_last(engine: ImaginedEngine, right: Any, edge: Edge, shares: list[Share]) -> Any:
    """Let the gradient that comes last replace those that came before."""
    return shares[-1][1]


def add_first(engine: ImaginedEngine, right: Any, edge: Edge, shares: list[Share]) -> Any:
    """Add where paths meet before multiplying: all that came in times all local derivatives."""
    if edge != engine.at:
        return right(edge, shares)
    factors: Any = [engine.walk.factor(*arrow) for arrow, _ in shares]
    incoming: Any = [engine.received.get(arrow[0]) for arrow, _ in shares]
    if any(part is None for part in (*factors, *incoming)):
        return None
    return F.sum_to(np.asarray(sum(incoming) * sum(factors)), np.shape(right(edge, shares)))


# ── what .grad holds ────────────────────────────────────────────────────────────────────────────────────────


def held_before(walk: Pass, target: str) -> list[Any]:
    """What the `.grad` of a tensor held."""
    before = walk.held(walk.owner(target) or "")
    return [before] if before is not None else []


def cleared(walk: Pass, target: str) -> Iterator[Any]:
    """What the cell has cleared from `.grad` before."""
    leaf, begin = walk.owner(target), walk.scene.now.begin
    for event in walk.scene.trace.events[: int(min(begin, len(walk.scene.trace.events)))]:
        if isinstance(event, GradSet) and event.tensor == leaf and event.how in ("zero", "none"):
            yield from [event.before] if event.before else []


def still_there(engine: ImaginedEngine, right: Any, leaf: str, new: Any) -> Any:
    """Add to a gradient that was cleared."""
    at = engine.at
    return new + np.array(at.items, np.float64).reshape(at.shape) if at.items else None


# ── detach() ────────────────────────────────────────────────────────────────────────────────────────────────


def detached(walk: Pass, target: str) -> Iterable[tuple[str, str]]:
    """What `detach()` was called on, and what it gave."""
    events = [event for event in walk.scene.trace.events if isinstance(event, Detached)]
    return [(e.source, e.tensor.id) for e in events if e.source != e.tensor.id]


def order_through(engine: ImaginedEngine, right: Any) -> list[str]:
    """The order if `detach()` were an operation: a tensor that was made a leaf then has a node of its own."""
    walk, (_, tensor) = engine.walk, engine.at
    nodes, made = walk.nodes, walk.scene.by_node
    times = {id: made[id].time for id in nodes if nodes[id].variable is None and id in made}
    cut = walk.scene.accumulators.get(tensor)
    if cut is not None:
        times[cut] = walk.scene.at[tensor][0].time
    newest = sorted(times, key=lambda id: times[id], reverse=True)
    return newest + [id for id in nodes if nodes[id].variable is not None and id != cut]


def edges_through(engine: ImaginedEngine, right: Any, node: str) -> tuple[Edge | None, ...]:
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


ONE_PATH = Fault("quiz_one_path", paths, {"met": follow_one}, one_path, forked)
ONCE = Fault("quiz_once", uses, {"met": count_one}, once, other_uses)
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
    lambda engine, tell, at: ("quiz_forgets_before", {"x": tell.made_by(at), "before": short(engine.at)}),
)
NO_ZERO = Fault(
    "quiz_no_zero",
    cleared,
    {"stored": still_there},
    lambda engine, tell, at: ("quiz_no_zero", {"x": tell.made_by(at), "before": short(engine.at)}),
)
NO_SEED = Fault(
    "quiz_no_seed",
    lambda walk, target: [None] if walk.scene.now.seeds else [],
    {"start": lambda engine, right, root: np.ones(np.shape(right(root)))},
    lambda engine, tell, target: ("quiz_no_seed", {}),
)
IGNORES_DETACH = Fault(
    "quiz_ignores_detach",
    detached,
    {"order": order_through, "edges": edges_through},
    lambda engine, tell, target: ("quiz_ignores_detach", {"x": label(tell.scene, engine.at[0])}),
)
