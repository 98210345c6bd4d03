"""Faulty engines that go wrong in a node: what it passes to one of its inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.observing import F

from .backward_pass import Arrow, Pass
from .engine import ImaginedEngine
from .question import Said
from .telling import Teller

PRODUCTS = ("MmBackward", "BmmBackward", "MvBackward", "AddmmBackward", "LinearBackward")
POWERS = ("PowBackward",)
MEANS = ("MeanBackward",)


def named(walk: Pass, arrow: Arrow, names: tuple[str, ...]) -> bool:
    """Whether a node is one of these, whatever the number at its end."""
    return walk.nodes[arrow[0]].name.rstrip("0123456789") in names


class NoLocal(ImaginedEngine):
    """Passes the gradient on as it came: forgets the local derivative."""

    key = "quiz_no_local"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        yield from (None, *walk.leading(target))

    def sent(self, node: str, i: int, received: Any) -> Any:
        if self.at not in (None, (node, i)):
            return super().sent(node, i, received)
        way = self.walk.way(node, i)
        if way is None or np.size(received) < np.prod(way.shape):
            return None if way is None else np.broadcast_to(received, way.shape)
        return F.sum_to(received, way.shape)

    def hint(self, tell: Teller, target: str) -> Said:
        return ("quiz_no_local_all", {}) if self.at is None else super().hint(tell, target)


class NoUpstream(ImaginedEngine):
    """Takes the local derivative for the gradient: forgets to multiply by what came in."""

    key = "quiz_no_upstream"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        yield from (None, *walk.leading(target))

    def sent(self, node: str, i: int, received: Any) -> Any:
        wrong = self.at in (None, (node, i))
        return super().sent(node, i, np.ones(np.shape(received)) if wrong else received)

    def hint(self, tell: Teller, target: str) -> Said:
        if self.at is None:
            return "quiz_no_upstream_all", {"x": tell.made_by(target)}
        return super().hint(tell, target)


class AddsFactors(ImaginedEngine):
    """Adds the local derivative to what came in, instead of multiplying."""

    key = "quiz_adds_factors"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        yield from (None, *walk.leading(target))

    def sent(self, node: str, i: int, received: Any) -> Any:
        factor = self.walk.factor(node, i)
        if factor is None or self.at not in (None, (node, i)):
            return super().sent(node, i, received)
        return F.sum_to(np.asarray(received + factor), np.shape(super().sent(node, i, received)))

    def hint(self, tell: Teller, target: str) -> Said:
        return ("quiz_adds_factors_all", {}) if self.at is None else super().hint(tell, target)


class Transposes(ImaginedEngine):
    """Forgets to transpose the other operand of a matrix product, or transposes the result."""

    key = "quiz_transposes"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        yield from (arrow for arrow in walk.leading(target) if named(walk, arrow, PRODUCTS))

    def sent(self, node: str, i: int, received: Any) -> Any:
        right = super().sent(node, i, received)
        if self.at != (node, i) or np.ndim(right) != 2:
            return right
        way = self.walk.way(node, i)
        other = None if way is None else way.saved.get("mat2" if i == 0 else "self")
        operand = getattr(other, "value", None)
        if (
            operand is not None
            and operand.shape[0] == operand.shape[1]
            and named(self.walk, self.at, PRODUCTS[:1])
        ):
            return received @ operand if i == 0 else operand @ received
        return np.transpose(right)


class WrongDimension(ImaginedEngine):
    """Sums a gradient over another dimension than the one that was broadcast."""

    key = "quiz_wrong_dimension"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        for arrow in walk.leading(target):
            factor, way = walk.factor(*arrow), walk.way(*arrow)
            if factor is not None and way is not None and len(way.shape) > 0:
                yield arrow

    def sent(self, node: str, i: int, received: Any) -> Any:
        right = super().sent(node, i, received)
        if self.at != (node, i) or np.ndim(received) != 2 or np.size(right) == np.size(received):
            return right
        whole = np.broadcast_to(received * self.walk.factor(node, i), np.shape(received))
        over = 1 if np.shape(right)[-1] == np.shape(received)[1] else 0
        return whole.sum(axis=over)

    def hint(self, tell: Teller, target: str) -> Said:
        return self.key, tell.both(self.at) | tell.sizes(self.at)


class NoBroadcastSum(ImaginedEngine):
    """Forgets that the gradients of all copies of a broadcast value are summed."""

    key = "quiz_no_broadcast_sum"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        yield from (arrow for arrow in walk.leading(target) if walk.factor(*arrow) is not None)

    def sent(self, node: str, i: int, received: Any) -> Any:
        right = super().sent(node, i, received)
        if self.at != (node, i) or np.size(right) == np.size(received):
            return right
        return np.broadcast_to(received * self.walk.factor(node, i), np.shape(received))

    def hint(self, tell: Teller, target: str) -> Said:
        return self.key, tell.both(self.at) | tell.sizes(self.at)


class ValueInstead(ImaginedEngine):
    """Multiplies by the value of the operation instead of its derivative."""

    key = "quiz_value_instead"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        yield from (arrow for arrow in walk.leading(target) if walk.factor(*arrow) is not None)

    def sent(self, node: str, i: int, received: Any) -> Any:
        right = super().sent(node, i, received)
        way = self.walk.way(node, i)
        value = getattr(way.saved.get("result"), "value", None) if way is not None else None
        if self.at != (node, i) or value is None:
            return right
        return F.sum_to(np.asarray(received * value), np.shape(right))


class KeepsPower(ImaginedEngine):
    """Does not lower the exponent of a power: n · xⁿ for the derivative of xⁿ."""

    key = "quiz_keeps_power"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        yield from (arrow for arrow in walk.leading(target) if named(walk, arrow, POWERS) and not arrow[1])

    def sent(self, node: str, i: int, received: Any) -> Any:
        right = super().sent(node, i, received)
        way = self.walk.way(node, i)
        base = getattr(way.saved.get("self"), "value", None) if way is not None else None
        return right if self.at != (node, i) or base is None else right * base


class LosesMinus(ImaginedEngine):
    """Loses the minus of an operation that subtracts or turns the sign."""

    key = "quiz_sign"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        for arrow in walk.leading(target):
            factor = walk.factor(*arrow)
            if factor is not None and np.size(factor) and np.all(np.asarray(factor) < 0):
                yield arrow

    def sent(self, node: str, i: int, received: Any) -> Any:
        right = super().sent(node, i, received)
        return -right if self.at == (node, i) else right


class NoDivision(ImaginedEngine):
    """Forgets that a mean divides by the number of elements."""

    key = "quiz_no_division"

    @staticmethod
    def places(walk: Pass, target: str) -> Iterator[Any]:
        yield from (arrow for arrow in walk.leading(target) if named(walk, arrow, MEANS))

    def sent(self, node: str, i: int, received: Any) -> Any:
        right = super().sent(node, i, received)
        return right * (np.size(right) / np.size(received)) if self.at == (node, i) else right

    def hint(self, tell: Teller, target: str) -> Said:
        way = self.walk.way(*self.at)
        return self.key, tell.both(self.at) | {"n": int(np.prod(way.shape)) if way else "n"}
