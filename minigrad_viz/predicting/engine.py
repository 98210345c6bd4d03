"""The engine that a learner runs in their head. This one is right; those in `faulty` are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model.place import Edge
from .backward_pass import Arrow, Pass
from .question import Said
from .telling import Teller

Marked = tuple[tuple[Arrow, ...], tuple[Arrow, ...]]  # arrows that an answer follows, and that it forgets
Share = tuple[Arrow, Any]  # over which arrow a gradient came, and the gradient


class ImaginedEngine:
    """Runs a pass. What a faulty engine does otherwise is one of the methods below.

    `at` is where it does so (None: everywhere); `received` has the gradient of every node that has run,
    `arrived` that of every output of a node, `grads` what each leaf's `.grad` holds then. A gradient that
    nobody can compute is None.
    """

    key = ""  # of the hint

    def __init__(self, walk: Pass, at: Any = None) -> None:
        self.walk, self.at = walk, at
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
        """What a node passes to its input `i`."""
        return self.walk.sent(node, i, received)

    def met(self, edge: Edge, shares: list[Share]) -> Any:
        """What becomes of gradients that meet."""
        return sum((value for _, value in shares[1:]), shares[0][1])

    def stored(self, leaf: str, new: Any) -> Any:
        """What `.grad` holds when a gradient has come to a leaf."""
        before = self.walk.before(leaf)
        return new if before is None else before + new

    # ── what is said of it ──────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        """Where it could go wrong in a pass, on the way to the node `target`; nowhere, for this one."""
        yield from ()

    def hint(self, tell: Teller, target: str) -> Said:
        """What it does wrong, in a sentence."""
        return self.key, tell.both(self.at)

    def arrows(self, target: str) -> Marked:
        """What is to be marked in the picture."""
        return (), () if self.at is None else (self.at,)

    # ── the pass ────────────────────────────────────────────────────────────────────────────────────────────

    def order(self) -> list[str]:
        """The nodes, each after all from which gradients come to it."""
        return self.walk.order

    def run(self) -> ImaginedEngine:
        """Run the pass; gives the engine itself."""
        scene = self.walk.scene
        for root in scene.now.roots or scene.trace.roots or ():
            arrival = self.walk.arrival(root)
            if arrival is not None:
                self.shares.setdefault(arrival, []).append((("", 0), self.start(root)))
        with np.errstate(all="ignore"):
            for node in self.order():
                self.step(node)
        return self

    def step(self, node: str) -> None:
        """One node."""
        outputs = [edge for edge in self.shares if edge[0] == node]
        for edge in outputs:
            shares = self.shares[edge]
            known = all(value is not None for _, value in shares)
            self.arrived[edge] = attempted(self.met, edge, shares) if known else None
        state = self.walk.nodes.get(node)
        if state is None or not outputs:
            return
        received = self.arrived[outputs[0]] if len(outputs) == 1 and outputs[0][1] == 0 else None
        self.received[node] = received
        if state.variable is not None:
            self.grads[state.variable] = (
                None if received is None else attempted(self.stored, state.variable, received)
            )
        for i, target in enumerate(self.edges(node)):
            value = None if target is None or received is None else attempted(self.sent, node, i, received)
            if target is not None and (value is not None or self.walk.expects(node, i)):
                self.shares.setdefault(target, []).append(((node, i), value))


def attempted(work: Any, *args: Any) -> Any:
    """What `work` gives; None where the shapes, which a faulty engine may get wrong, do not fit."""
    try:
        return work(*args)
    except (ValueError, IndexError, TypeError):
        return None
