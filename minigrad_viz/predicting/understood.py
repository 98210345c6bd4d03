"""Which wrong answers about a gradient are understood: what faulty engines give, each with its hint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import faulty, faulty_nodes
from .backward_pass import Pass
from .engine import ImaginedEngine
from .question import Part, Wrong, wrong
from .telling import Teller
from .typed import equal


def plain(value: Any) -> Any:
    """A gradient as a number or nested lists; None where it is unknown, complex or not finite."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        return None
    return array.tolist()


# The misconceptions in the order in which their hints are given: the most telling first.
FAULTS = (
    faulty.ONE_PATH, faulty.ONCE, faulty.OVERWRITES, faulty.FORGETS_BEFORE, faulty.NO_ZERO,
    faulty.IGNORES_DETACH, faulty_nodes.LOSES_MINUS, faulty_nodes.NO_DIVISION, faulty_nodes.NO_BROADCAST_SUM,
    faulty_nodes.WRONG_DIMENSION, faulty_nodes.TRANSPOSES, faulty.NO_SEED, faulty_nodes.KEEPS_POWER,
    faulty_nodes.NO_LOCAL, faulty_nodes.NO_UPSTREAM, faulty.ADDS_FIRST, faulty_nodes.ADDS_FACTORS,
    faulty_nodes.VALUE_INSTEAD,
)  # fmt: skip


def faults_of(walk: Pass, target: str, truth: Any) -> Iterator[Wrong]:
    """The wrong answers of all faulty engines about the `.grad` of the leaf whose node is `target`; the right
    one is `truth`."""
    leaf, tell = walk.owner(target) or "", Teller(walk)
    seen: list[tuple[str, Any]] = []
    for fault in FAULTS:
        for at in fault.places(walk, target):
            engine = ImaginedEngine(walk, fault, at).run()
            answer = plain(engine.grads.get(leaf))
            if answer is None or equal(answer, truth) or (fault.key, answer) in seen:
                continue
            seen.append((fault.key, answer))
            hint, arrows = fault.hint(engine, tell, target), fault.arrows(engine, target)
            yield Wrong(fault.key, answer, hint, *arrows)


def others_of(walk: Pass, target: str, truth: Any, engine: ImaginedEngine) -> Iterator[Wrong]:
    """The gradients of other leaves, which somebody may have given instead."""
    tell = Teller(walk)
    for node in walk.order:
        leaf = walk.nodes[node].variable
        answer = None if leaf is None or node == target else plain(engine.grads.get(leaf))
        if answer is not None and not equal(answer, truth):
            yield wrong("quiz_other_leaf", answer, x=tell.made_by(node))


def parts_of(walk: Pass, target: str, engine: ImaginedEngine) -> Iterator[Part]:
    """The steps on the way to a gradient, in the order in which the nodes run; `engine` is the right one."""
    tell, sent = Teller(walk), {arrow: value for shares in engine.shares.values() for arrow, value in shares}
    for arrow in walk.leading(target):
        truth = plain(sent.get(arrow))
        if truth is not None:
            yield Part(arrow, tell.name(arrow[0]), tell.made_by(arrow[0]), tell.input(arrow), truth)


def arrival_of(walk: Pass, leaf: str) -> str | None:
    """The node at which the gradient of a leaf, or of a tensor that keeps it, arrives or would arrive."""
    return next((n for n in walk.order if walk.owner(n) == leaf), walk.scene.accumulators.get(leaf))
