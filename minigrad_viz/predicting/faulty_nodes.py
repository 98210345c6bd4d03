"""Misconceptions about what a node passes to one of its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.observing import F

from .backward_pass import Arrow, Pass
from .engine import Fault, ImaginedEngine
from .question import Said
from .telling import Teller

Fits = Callable[[Pass, Arrow], bool]


def fault(
    key: str,
    fits: Fits,
    wrong: Callable[[Pass, Arrow, Any, Any], Any],
    everywhere: str = "",
    told: Callable[[Teller, Arrow], dict[str, Any]] = Teller.both,
) -> Fault:
    """A fault at each arrow that `fits`, and with `everywhere`, which is the key of its hint then, at all of
    them. `wrong` is what the node passes, given the pass, the arrow, what was received and what is right."""

    def places(walk: Pass, target: str) -> list[Arrow | None]:
        found = [arrow for arrow in walk.leading(target) if fits(walk, arrow)]
        return [None, *found] if everywhere else [*found]

    def sent(engine: ImaginedEngine, right: Any, node: str, i: int, received: Any) -> Any:
        passed = right(node, i, received)
        here = engine.at in (None, (node, i))
        return wrong(engine.walk, (node, i), received, passed) if here else passed

    def hint(engine: ImaginedEngine, tell: Teller, target: str) -> Said:
        return (
            (everywhere, {"x": tell.made_by(target)}) if engine.at is None else (key, told(tell, engine.at))
        )

    return Fault(key, places, {"sent": sent}, hint, lambda e, _: ((), () if e.at is None else (e.at,)))


# ── where it can happen ─────────────────────────────────────────────────────────────────────────────────────


def anywhere(walk: Pass, arrow: Arrow) -> bool:
    """At every node."""
    return True


def of(*names: str) -> Fits:
    """At nodes with these names, whatever the number at its end."""
    return lambda walk, arrow: walk.nodes[arrow[0]].name.rstrip("0123456789") in names


def elementwise(walk: Pass, arrow: Arrow) -> bool:
    """At nodes that multiply element by element."""
    return walk.factor(*arrow) is not None


def negative(walk: Pass, arrow: Arrow) -> bool:
    """At those that multiply by negative numbers alone."""
    factor = walk.factor(*arrow)
    return factor is not None and bool(np.size(factor)) and bool(np.all(np.asarray(factor) < 0))


def saved(walk: Pass, arrow: Arrow, name: str) -> Any:
    """The value that a node saved, or could have saved, under a name."""
    way = walk.way(*arrow)
    return None if way is None else getattr(way.saved.get(name), "value", None)


# ── what is passed ──────────────────────────────────────────────────────────────────────────────────────────


def unchanged(walk: Pass, arrow: Arrow, received: Any, right: Any) -> Any:
    """The gradient as it came, without the local derivative."""
    way = walk.way(*arrow)
    if way is None or np.size(received) < np.prod(way.shape):
        return None if way is None else np.broadcast_to(received, way.shape)
    return F.sum_to(received, way.shape)


def local_alone(walk: Pass, arrow: Arrow, received: Any, right: Any) -> Any:
    """The local derivative, without what came in."""
    return walk.sent(*arrow, np.ones(np.shape(received)))


def added(walk: Pass, arrow: Arrow, received: Any, right: Any) -> Any:
    """What came in plus the local derivative."""
    factor = walk.factor(*arrow)
    return right if factor is None else F.sum_to(np.asarray(received + factor), np.shape(right))


def transposed(walk: Pass, arrow: Arrow, received: Any, right: Any) -> Any:
    """A matrix product with the other operand as it is, where it is square; else the transposed result."""
    if np.ndim(right) != 2:
        return right
    operand = saved(walk, arrow, "self" if arrow[1] else "mat2")
    if operand is not None and operand.shape[0] == operand.shape[1] and of("MmBackward")(walk, arrow):
        return operand @ received if arrow[1] else received @ operand
    return np.transpose(right)


def unsummed(walk: Pass, arrow: Arrow, received: Any, right: Any) -> Any:
    """The gradients of all copies of a broadcast value."""
    if np.size(right) == np.size(received):
        return right
    return np.broadcast_to(received * walk.factor(*arrow), np.shape(received))


def summed_otherwise(walk: Pass, arrow: Arrow, received: Any, right: Any) -> Any:
    """Their sum over the other dimension."""
    if np.ndim(received) != 2 or np.size(right) == np.size(received) or not np.ndim(right):
        return right
    return unsummed(walk, arrow, received, right).sum(axis=int(np.shape(right)[-1] == np.shape(received)[1]))


def by_value(walk: Pass, arrow: Arrow, received: Any, right: Any) -> Any:
    """What came in times the value of the operation."""
    value = saved(walk, arrow, "result")
    return right if value is None else F.sum_to(np.asarray(received * value), np.shape(right))


def same_exponent(walk: Pass, arrow: Arrow, received: Any, right: Any) -> Any:
    """n · xⁿ for the derivative of xⁿ."""
    base = saved(walk, arrow, "self")
    return right if base is None or arrow[1] else right * base


def with_sizes(tell: Teller, arrow: Arrow) -> dict[str, Any]:
    """The shapes on both sides."""
    return tell.both(arrow) | tell.sizes(arrow)


def with_count(tell: Teller, arrow: Arrow) -> dict[str, Any]:
    """How many elements the input has."""
    way = tell.walk.way(*arrow)
    return tell.both(arrow) | {"n": int(np.prod(way.shape)) if way else "n"}


PRODUCTS = of("MmBackward", "BmmBackward", "MvBackward", "AddmmBackward", "LinearBackward")

NO_LOCAL = fault("quiz_no_local", anywhere, unchanged, "quiz_no_local_all")
NO_UPSTREAM = fault("quiz_no_upstream", anywhere, local_alone, "quiz_no_upstream_all")
ADDS_FACTORS = fault("quiz_adds_factors", anywhere, added, "quiz_adds_factors_all")
TRANSPOSES = fault("quiz_transposes", PRODUCTS, transposed)
WRONG_DIMENSION = fault("quiz_wrong_dimension", elementwise, summed_otherwise, told=with_sizes)
NO_BROADCAST_SUM = fault("quiz_no_broadcast_sum", elementwise, unsummed, told=with_sizes)
VALUE_INSTEAD = fault("quiz_value_instead", elementwise, by_value)
KEEPS_POWER = fault("quiz_keeps_power", of("PowBackward"), same_exponent)
LOSES_MINUS = fault("quiz_sign", negative, lambda walk, arrow, received, right: -right)
NO_DIVISION = fault(
    "quiz_no_division",
    of("MeanBackward"),
    lambda walk, arrow, received, right: right * (np.size(right) / np.size(received)),
    told=with_count,
)
