"""Runs a backward pass again: as the engine does, with steps that go wrong, or by plain recursion.

Note [Plain recursion]
    The simplest walk calls itself for each input of a node. It runs a node once for every path that leads to
    it. If a node adds each incoming gradient to a sum, as `.grad` does, and passes the sum on each time, then
    the first gradient is passed on twice, and the results are wrong.
    Here such a walk only counts the paths, and computes the wrong numbers where each node scaled one number
    to another. Where that is not certain, it gives no numbers.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..model.scene import Scene
from ..model.stations import Edge
from ..protocol import Value, finite
from ..snapshots import array_of
from ..trace.events import NodeRan
from .backward_pass import Arrow, Flow, flow_of

# ─── The engine


Share = tuple[Arrow, Any]  # over which arrow a gradient came, and the gradient
Steps = Mapping[str, Callable[..., Any]]  # what is done instead of methods of the engine, by their names


class BackwardEngine:
    """Runs a pass, right or with `faulty` steps.

    `at` is where it goes wrong (None: everywhere); `received` has the gradient of every node that has run,
    `arrived` that of every output of a node, `grads` what each leaf's `.grad` holds then. A gradient that
    nobody can compute is None.
    """

    def __init__(self, walk: Flow, faulty: Steps = MappingProxyType({}), at: Any = None) -> None:
        self.walk, self.faulty, self.at = walk, faulty, at
        self.received: dict[str, Any] = {}
        self.shares: dict[Edge, list[Share]] = {}
        self.arrived: dict[Edge, Any] = {}
        self.grads: dict[str, Any] = {}

    # ── what can go wrong ───────────────────────────────────────────────────────────────────────────────────

    def start(self, root: str) -> Any:
        """The gradient at a root."""
        return self.walk.seed(root)

    def edges(self, node: str) -> tuple[Edge | None, ...]:
        """Where a node passes gradients to."""
        return self.walk.nodes[node].edges

    def sent(self, node: str, i: int, received: Any) -> Any:
        """What a node passes to its input `i`; only a faulty engine gives the node of a leaf one."""
        leaf = self.walk.nodes[node].variable is not None
        return received if leaf else self.walk.sent(node, i, received)

    def met(self, edge: Edge, shares: list[Share]) -> Any:
        """What becomes of gradients that meet."""
        return sum((value for _, value in shares[1:]), shares[0][1])

    def stored(self, leaf: str, new: Any) -> Any:
        """What `.grad` holds when a gradient has come to a leaf, or to a tensor that keeps it."""
        before = array_of(self.walk.held(leaf))
        return new if before is None else before + new

    def order(self) -> list[str]:
        """The nodes, each after all from which gradients come to it."""
        return self.walk.order

    # ── the pass ────────────────────────────────────────────────────────────────────────────────────────────

    def do(self, right: Callable[..., Any], *given: Any) -> Any:
        """One of these steps, as a fault has it. None where the shapes, which may be wrong then, do not
        fit."""
        wrong = self.faulty.get(right.__name__)
        try:
            return right(*given) if wrong is None else wrong(self, right, *given)
        except (ValueError, IndexError, TypeError):
            return None

    def run(self) -> BackwardEngine:
        """Run the pass; gives the engine itself."""
        scene = self.walk.scene
        for root in scene.now.roots or scene.trace.roots or ():
            arrival = self.walk.arrival(root)
            if arrival is not None:
                self.shares.setdefault(arrival, []).append((("", 0), self.do(self.start, root)))
        with np.errstate(all="ignore"):
            for node in self.do(self.order):
                self.step(node)
        return self

    def step(self, node: str) -> None:
        """One node."""
        outputs = [edge for edge in self.shares if edge[0] == node]
        for edge in outputs:
            shares = self.shares[edge]
            known = all(value is not None for _, value in shares)
            self.arrived[edge] = self.do(self.met, edge, shares) if known else None
        state = self.walk.nodes.get(node)
        if state is None or not outputs:
            return
        received = self.arrived[outputs[0]] if len(outputs) == 1 and outputs[0][1] == 0 else None
        self.received[node] = received
        tensor = self.walk.owner(node)
        if tensor is not None:
            self.grads[tensor] = None if received is None else self.do(self.stored, tensor, received)
        for i, target in enumerate(self.do(self.edges, node)):
            value = None if target is None or received is None else self.do(self.sent, node, i, received)
            if target is not None and (value is not None or self.walk.expects(node, i)):
                self.shares.setdefault(target, []).append(((node, i), value))


# ─── Plain recursion


RUNS = 10_000  # runs of nodes, up to which the wrong numbers are computed


class Recursion:
    """`arrows` lead to each node that ran, over which a gradient came; a walk would run each
    so many `times`."""

    def __init__(self, flow: Flow, arrows: dict[str, int], times: dict[str, int]) -> None:
        self.flow, self.arrows, self.times = flow, arrows, times

    @functools.cached_property
    def wrong(self) -> dict[str, tuple[float, Value]]:
        """For each leaf that would get a wrong gradient, this gradient and the right one."""
        return wrong_numbers(self.flow) if sum(self.times.values()) <= RUNS else {}

    @property
    def meets(self) -> dict[str, int]:
        """The nodes where paths meet, with the times that each would run."""
        return {node: times for node, times in self.times.items() if times > 1 and self.arrows[node] > 1}


def recursion_of(scene: Scene) -> Recursion | None:
    """What plain recursion would do in a call; None if it did not end well, or is not known in full."""
    schedule, started = scene.schedule, scene.now.started
    if schedule is None or started is None or scene.now.ended is None or scene.now.error is not None:
        return None
    ran = scene.now.ran
    arrows, times = Counter[str](), Counter(scene.node_at(root) or "" for root in started.roots)
    for node in schedule.order:
        for (target, _), _ in scene.now.sends(scene.nodes[node]):
            if target in ran:
                arrows[target] += 1
                times[target] += times[node]
    times = Counter({node: times[node] for node in schedule.order})
    return Recursion(flow_of(scene), arrows, times)


def wrong_numbers(flow: Flow) -> dict[str, tuple[float, Value]]:
    """What the leaves would get, where that is wrong; empty where the numbers are not certain."""
    scene, ran, nodes = flow.scene, flow.scene.now.ran, flow.scene.nodes
    started = scene.now.started
    if (
        started is None
        or started.wanted is not None
        or not all(scales(scene, event) for event in ran.values())
    ):
        return {}
    hooks = (hook for hooks in scene.now.hooks.values() for hook in hooks)
    if scene.now.again or any(hook.before != hook.after for hook in hooks):
        return {}
    held: dict[str, float] = {}
    starts = zip(started.roots, started.gradients, strict=True)
    todo = [(scene.node_at(root) or "", finite(given)) for root, given in starts][::-1]
    while todo:
        node, gradient = todo.pop()
        if gradient is None or node not in ran:
            return {}
        held[node] = held.get(node, 0.0) + gradient
        if nodes[node].variable is None:
            edges = [(i, edge[0]) for i, edge in enumerate(nodes[node].edges) if edge and flow.sends(node, i)]
            todo += [(target, held[node] * (flow.scale(node, i) or 0.0)) for i, target in reversed(edges)]
    leaves = {nodes[node].variable or "": node for node in ran if nodes[node].variable is not None}
    found = {}
    for leaf, node in leaves.items():
        right = ran[node].received[0]
        if right is not None and not math.isclose(held[node], finite(right) or 0.0, rel_tol=1e-4):
            found[leaf] = held[node], right
    return found


def scales(scene: Scene, event: NodeRan) -> bool:
    """Whether it is certain that a node multiplies one number by others: what it would send for another
    gradient is known then."""
    node = scene.nodes[event.node]
    own = node.code is not None or any(saved.name.startswith("saved[") for saved in node.saved)
    known = all(finite(value) is not None for value in event.sent if value is not None)
    return not own and known and len(event.received) == 1 and bool(finite(event.received[0]))
