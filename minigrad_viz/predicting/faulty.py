"""Engines that compute what a learner with a misconception would say, each in a few plain lines. These go
wrong where gradients begin, meet, end, or must not pass; those in `faulty_nodes` go wrong in a node.

A faulty engine goes wrong at one place (`at`) or everywhere. `places` names those of a pass at which it could
go wrong on the way to `target`, the node at which the gradient that is asked for arrives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.observing import F

from ..arithmetic.derivatives import label
from ..model.place import Edge
from ..numbers import short
from ..trace.events import Detached, GradSet
from .backward_pass import Arrow, Pass
from .engine import ImaginedEngine, Marked, Share
from .question import Said
from .telling import Teller


def meetings(walk: Pass, target: str) -> dict[Edge, list[Arrow]]:
    """Where gradients meet on the way, and over which arrows they come."""
    found: dict[Edge, list[Arrow]] = {}
    for node, i in walk.leading(target):
        edge = walk.nodes[node].edges[i]
        if edge is not None and walk.expects(node, i):
            found.setdefault(edge, []).append((node, i))
    return {edge: arrows for edge, arrows in found.items() if len(arrows) > 1}


def back_to_fork(walk: Pass, arrows: list[Arrow], others: list[Arrow]) -> tuple[Arrow, ...]:
    """The arrows that lead to these and not to the others, from the root's end."""
    mine, theirs = ({a for end in side for a in (*walk.leading(end[0]), end)} for side in (arrows, others))
    return tuple(sorted(mine - theirs, key=lambda arrow: (walk.order.index(arrow[0]), arrow[1])))


class OnePath(ImaginedEngine):
    """Follows one of the paths that meet, and forgets the others."""

    key = "quiz_one_path"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        for edge, arrows in meetings(walk, target).items():
            if len({node for node, _ in arrows}) > 1:
                yield from ((edge, node) for node in dict.fromkeys(node for node, _ in arrows))

    def met(self, edge: Edge, shares: list[Share]) -> Any:
        kept = [share for share in shares if edge != self.at[0] or share[0][0] == self.at[1]]
        return super().met(edge, kept or shares)

    def hint(self, tell: Teller, target: str) -> Said:
        edge, node = self.at
        others = {n: None for n, _ in meetings(self.walk, target)[edge] if n != node}
        missing = ", ".join(map(tell.made_by, others))
        said = {"x": tell.made_by(edge[0]), "taken": tell.made_by(node), "missing": missing}
        return ("quiz_many_paths", said | {"n": len(others) + 1}) if len(others) > 1 else (self.key, said)

    def arrows(self, target: str) -> Marked:
        edge, node = self.at
        there = meetings(self.walk, target)[edge]
        taken, missing = ([a for a in there if (a[0] == node) == mine] for mine in (True, False))
        return back_to_fork(self.walk, taken, missing), back_to_fork(self.walk, missing, taken)


class Once(ImaginedEngine):
    """Counts one use of a tensor that the same operation uses several times."""

    key = "quiz_once"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        for edge, arrows in meetings(walk, target).items():
            nodes = [node for node, _ in arrows]
            yield from ((edge, arrow) for arrow in arrows if nodes.count(arrow[0]) > 1)

    def met(self, edge: Edge, shares: list[Share]) -> Any:
        wrong, (node, i) = self.at
        kept = [s for s in shares if edge != wrong or s[0][0] != node or s[0][1] == i]
        return super().met(edge, kept)

    def hint(self, tell: Teller, target: str) -> Said:
        edge, (node, _) = self.at
        return self.key, {"x": tell.made_by(edge[0]), "at": tell.made_by(node)}

    def arrows(self, target: str) -> Marked:
        edge, arrow = self.at
        return (arrow,), tuple(a for a in meetings(self.walk, target)[edge] if a != arrow)


class Overwrites(ImaginedEngine):
    """Lets the gradient that comes last replace those that came before."""

    key = "quiz_overwrites"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        if meetings(walk, target):
            yield None

    def met(self, edge: Edge, shares: list[Share]) -> Any:
        return shares[-1][1]

    def hint(self, tell: Teller, target: str) -> Said:
        edge = next(iter(meetings(self.walk, target)))
        return self.key, {"x": tell.made_by(edge[0])}


class ForgetsBefore(ImaginedEngine):
    """Lets backward replace what `.grad` held, instead of adding to it."""

    key = "quiz_forgets_before"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        leaf = walk.nodes[target].variable
        if leaf is not None and walk.before(leaf) is not None:
            yield leaf

    def stored(self, leaf: str, new: Any) -> Any:
        return new

    def hint(self, tell: Teller, target: str) -> Said:
        return self.key, {"x": tell.made_by(target), "before": short(tell.scene.before[self.at])}

    def arrows(self, target: str) -> Marked:
        return (), ()


class NoZero(ImaginedEngine):
    """Adds to a gradient that the cell has set to zero, or to None, before."""

    key = "quiz_no_zero"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        leaf, begin = walk.nodes[target].variable, walk.scene.now.begin
        for time, event in enumerate(walk.scene.trace.events):
            if isinstance(event, GradSet) and event.tensor == leaf and time < begin:
                yield from [event.before] if event.how in ("zero", "none") and event.before else []

    def stored(self, leaf: str, new: Any) -> Any:
        return new + np.array(self.at.items, np.float64).reshape(self.at.shape) if self.at.items else None

    def hint(self, tell: Teller, target: str) -> Said:
        return self.key, {"x": tell.made_by(target), "before": short(self.at)}

    def arrows(self, target: str) -> Marked:
        return (), ()


class NoSeed(ImaginedEngine):
    """Starts with ones, whatever gradient backward was given."""

    key = "quiz_no_seed"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        if walk.scene.now.seeds:
            yield None

    def start(self, root: str) -> Any:
        return np.ones(np.shape(super().start(root)))

    def hint(self, tell: Teller, target: str) -> Said:
        return self.key, {}


class IgnoresDetach(ImaginedEngine):
    """Lets gradients pass through `detach()`."""

    key = "quiz_ignores_detach"

    def __init__(self, walk: Pass, at: Any = None) -> None:
        super().__init__(walk, at)
        source, self.detached = at
        scene = walk.scene
        where, node = scene.at.get(source), scene.node_at(source)
        self.beyond = None if where is None or node is None else (node, where[1] if where[0].node else 0)

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        for event in walk.scene.trace.events:
            if isinstance(event, Detached) and event.source != event.tensor.id:
                yield event.source, event.tensor.id

    def order(self) -> list[str]:
        nodes, made = self.walk.nodes, self.walk.scene.by_node
        times = {id: made[id].time for id in nodes if nodes[id].variable is None and id in made}
        cut = self.walk.scene.accumulators.get(self.detached)
        if cut is not None:  # of a tensor that was detached and then made a leaf
            times[cut] = self.walk.scene.at[self.detached][0].time
        newest = sorted(times, key=lambda id: times[id], reverse=True)
        return newest + [id for id in nodes if nodes[id].variable is not None and id != cut]

    def edges(self, node: str) -> tuple[Edge | None, ...]:
        state = self.walk.nodes[node]
        if state.variable == self.detached:
            return (self.beyond,)
        tensors = self.walk.inputs(state)
        return tuple(
            self.beyond if edge is None and i < len(tensors) and tensors[i] == self.detached else edge
            for i, edge in enumerate(state.edges)
        )

    def sent(self, node: str, i: int, received: Any) -> Any:
        leaf = self.walk.nodes[node].variable is not None
        return received if leaf else super().sent(node, i, received)

    def hint(self, tell: Teller, target: str) -> Said:
        return self.key, {"x": label(tell.scene, self.at[0])}

    def arrows(self, target: str) -> Marked:
        return (), ()


class AddsFirst(ImaginedEngine):
    """Adds where paths meet before it multiplies: all that came in times all local derivatives."""

    key = "quiz_adds_first"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        yield from meetings(walk, target)

    def met(self, edge: Edge, shares: list[Share]) -> Any:
        if edge != self.at:
            return super().met(edge, shares)
        factors: Any = [self.walk.factor(*arrow) for arrow, _ in shares]
        incoming: Any = [self.received.get(arrow[0]) for arrow, _ in shares]
        if any(part is None for part in (*factors, *incoming)):
            return None
        whole = np.asarray(sum(incoming) * sum(factors))
        return F.sum_to(whole, np.shape(super().met(edge, shares)))

    def hint(self, tell: Teller, target: str) -> Said:
        return self.key, {"x": tell.made_by(self.at[0])}

    def arrows(self, target: str) -> Marked:
        return (), tuple(meetings(self.walk, target).get(self.at, ()))
