"""Which wrong answers about a gradient are understood: what the faulty engines say, each with its hint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arithmetic.derivatives import label
from ..numbers import short
from ..words import clean
from . import faulty, faulty_nodes
from .backward_pass import Arrow, Pass
from .engine import ImaginedEngine
from .question import Part, Said, Wrong
from .typed import equal


def plain(value: Any) -> Any:
    """A gradient as a number or nested lists; None where it is unknown, complex or not finite."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        return None
    return array.tolist()


# The faulty engines in the order in which their hints are given: the most telling first.
FAULTY: tuple[type[Any], ...] = (
    faulty.OnePath, faulty.Once, faulty.Overwrites, faulty.ForgetsBefore, faulty.NoZero, faulty.IgnoresDetach,
    faulty_nodes.LosesMinus, faulty_nodes.NoDivision, faulty_nodes.NoBroadcastSum,
    faulty_nodes.WrongDimension,
    faulty_nodes.Transposes, faulty.NoSeed, faulty_nodes.KeepsPower, faulty_nodes.NoLocal,
    faulty_nodes.NoUpstream, faulty.AddsFirst, faulty_nodes.AddsFactors, faulty_nodes.ValueInstead,
)  # fmt: skip


class Teller:
    """Names for the tensors and nodes of a pass, as its pictures and formulas have them."""

    def __init__(self, walk: Pass) -> None:
        self.walk, self.scene = walk, walk.scene

    def made_by(self, node: str) -> str:
        """The tensor that a node belongs to."""
        state, place = self.walk.nodes[node], self.scene.by_node.get(node)
        tensor = state.variable or (place.states[0].id if place is not None else None)
        known = label(self.scene, tensor)
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


def hint_of(key: str, at: Any, tell: Teller, target: str) -> Said:
    """The sentence about what a faulty engine does at a place."""
    walk, leaf = tell.walk, tell.made_by(target)
    match key:
        case "quiz_one_path":
            edge, node = at
            others = {n: None for n, _ in faulty.meetings(walk, target)[edge] if n != node}
            said = {
                "x": tell.made_by(edge[0]),
                "taken": tell.made_by(node),
                "missing": ", ".join(map(tell.made_by, others)),
            }
            return (
                ("quiz_one_path", said)
                if len(others) == 1
                else ("quiz_many_paths", said | {"n": len(others) + 1})
            )
        case "quiz_once":
            return "quiz_once", {"x": tell.made_by(at[0][0]), "at": tell.made_by(at[1][0])}
        case "quiz_overwrites":
            edge = next(iter(faulty.meetings(walk, target)))
            return "quiz_overwrites", {"x": tell.made_by(edge[0])}
        case "quiz_forgets_before":
            return "quiz_forgets_before", {"x": leaf, "before": short(tell.scene.before[at])}
        case "quiz_no_zero":
            return "quiz_no_zero", {"x": leaf, "before": short(at)}
        case "quiz_ignores_detach":
            return "quiz_ignores_detach", {"x": label(tell.scene, at[0])}
        case "quiz_no_seed":
            return "quiz_no_seed", {}
        case "quiz_adds_first":
            return "quiz_adds_first", {"x": tell.made_by(at[0])}
        case "quiz_no_local":
            return ("quiz_no_local_all", {}) if at is None else ("quiz_no_local", tell.both(at))
        case "quiz_no_upstream":
            return (
                ("quiz_no_upstream_all", {"x": leaf}) if at is None else ("quiz_no_upstream", tell.both(at))
            )
        case "quiz_adds_factors":
            return ("quiz_adds_factors_all", {}) if at is None else ("quiz_adds_factors", tell.both(at))
        case "quiz_wrong_dimension":
            return "quiz_wrong_dimension", tell.both(at) | tell.sizes(at)
        case "quiz_no_broadcast_sum":
            return "quiz_no_broadcast_sum", tell.both(at) | tell.sizes(at)
        case "quiz_no_division":
            way = walk.way(*at)
            return "quiz_no_division", tell.both(at) | {"n": int(np.prod(way.shape)) if way else "n"}
        case "quiz_transposes":
            return "quiz_transposes", tell.both(at)
        case "quiz_keeps_power":
            return "quiz_keeps_power", tell.both(at)
        case "quiz_sign":
            return "quiz_sign", tell.both(at)
    return "quiz_value_instead", tell.both(at)


def arrows_of(key: str, at: Any, walk: Pass, target: str) -> tuple[tuple[Arrow, ...], tuple[Arrow, ...]]:
    """The arrows that a wrong answer follows, and those that it forgets, to be marked in the picture."""
    if key == "quiz_one_path":
        edge, node = at
        sides = [
            [a for a in faulty.meetings(walk, target)[edge] if (a[0] == node) == mine]
            for mine in (True, False)
        ]
        kept, lost = (back_to_fork(walk, side, other) for side, other in (sides, sides[::-1]))
        return kept, lost
    if isinstance(at, tuple) and len(at) == 2 and at[0] in walk.nodes and isinstance(at[1], int):
        return (), (at,) if key != "quiz_adds_first" else tuple(faulty.meetings(walk, target).get(at, ()))
    if key == "quiz_once":
        return (at[1],), tuple(a for a in faulty.meetings(walk, target)[at[0]] if a != at[1])
    return (), ()


def back_to_fork(walk: Pass, arrows: list[Arrow], others: list[Arrow]) -> tuple[Arrow, ...]:
    """The arrows that lead to these and not to the others, from the root's end."""
    mine, theirs = ({a for end in side for a in (*walk.leading(end[0]), end)} for side in (arrows, others))
    return tuple(sorted(mine - theirs, key=lambda arrow: (walk.order.index(arrow[0]), arrow[1])))


def faults_of(walk: Pass, target: str, truth: Any) -> Iterator[Wrong]:
    """The wrong answers of all faulty engines about the `.grad` of the leaf whose node is `target`; the right
    one is `truth`."""
    leaf, tell = walk.nodes[target].variable or "", Teller(walk)
    seen: list[tuple[str, Any]] = []
    for kind in FAULTY:
        for at in kind.places(walk, target):
            answer = plain(kind(walk, at).run().grads.get(leaf))
            if answer is None or equal(answer, truth) or (kind.key, answer) in seen:
                continue
            seen.append((kind.key, answer))
            taken, missing = arrows_of(kind.key, at, walk, target)
            yield Wrong(kind.key, answer, hint_of(kind.key, at, tell, target), taken, missing)


def others_of(walk: Pass, target: str, truth: Any, engine: ImaginedEngine) -> Iterator[Wrong]:
    """The gradients of other leaves, which somebody may have given instead."""
    tell = Teller(walk)
    for node in walk.order:
        leaf = walk.nodes[node].variable
        answer = None if leaf is None or node == target else plain(engine.grads.get(leaf))
        if answer is not None and not equal(answer, truth):
            yield Wrong("quiz_other_leaf", answer, ("quiz_other_leaf", {"x": tell.made_by(node)}))


def parts_of(walk: Pass, target: str, engine: ImaginedEngine) -> Iterator[Part]:
    """The steps on the way to a gradient, in the order in which the nodes run; `engine` is the right one."""
    tell, sent = Teller(walk), {arrow: value for shares in engine.shares.values() for arrow, value in shares}
    for arrow in walk.leading(target):
        truth = plain(sent.get(arrow))
        if truth is not None:
            yield Part(arrow, tell.name(arrow[0]), tell.made_by(arrow[0]), tell.input(arrow), truth)


def arrival_of(walk: Pass, leaf: str) -> str | None:
    """The node at which the gradient of a leaf arrives, or would arrive."""
    return next((n for n in walk.order if walk.nodes[n].variable == leaf), walk.scene.accumulators.get(leaf))
