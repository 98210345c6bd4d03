"""The engine that a learner runs in their head: right, or with one of the faults in `faulty`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..model.place import Edge
from ..snapshots import array_of
from .backward_pass import Arrow, Pass
from .question import Said
from .telling import Teller

Marked = tuple[tuple[Arrow, ...], tuple[Arrow, ...]]  # arrows that an answer follows, and that it forgets
Share = tuple[Arrow, Any]  # over which arrow a gradient came, and the gradient


class Fault(NamedTuple):
    """A misconception. An engine that has it goes wrong at one place, or everywhere (None).

    `places` names the places of a pass at which it could go wrong on the way to a node, at which the gradient
    that is asked for arrives. `steps` has what it does instead of methods of the engine: a function of the
    engine, the right method, and what that is given. Of the engine that went wrong and that node, `hint` says
    what it does wrong, and `arrows` is what is to be marked in the picture.
    """

    key: str
    places: Callable[[Pass, str], Iterable[Any]]
    steps: Mapping[str, Callable[..., Any]]
    hint: Callable[[ImaginedEngine, Teller, str], Said]
    arrows: Callable[[ImaginedEngine, str], Marked] = lambda engine, target: ((), ())


class ImaginedEngine:
    """Runs a pass, with a `fault` or right.

    `at` is where it goes wrong (None: everywhere); `received` has the gradient of every node that has run,
    `arrived` that of every output of a node, `grads` what each leaf's `.grad` holds then. A gradient that
    nobody can compute is None.
    """

    def __init__(self, walk: Pass, fault: Fault | None = None, at: Any = None) -> None:
        self.walk, self.fault, self.at = walk, fault, at
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
        """One of these steps, as the fault has it. None where the shapes, which may be wrong then, do not
        fit."""
        wrong = None if self.fault is None else self.fault.steps.get(right.__name__)
        try:
            return right(*given) if wrong is None else wrong(self, right, *given)
        except (ValueError, IndexError, TypeError):
            return None

    def run(self) -> ImaginedEngine:
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
