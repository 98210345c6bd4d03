"""How far the loops of a cell have come, as the `range` over which they run tells."""

from __future__ import annotations

import ast
import operator
import sys
from types import FrameType
from typing import Any, NamedTuple

from ..trace.where import Locator

LEAVING = (ast.Break, ast.Return, ast.Raise)  # statements that may end a loop earlier
ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


class Round(NamedTuple):
    """A round of a loop: how many are `left` after it (None: that is not known), and whether that is `sure`,
    because nothing in the loop ends it earlier, and the same holds for the loops around it."""

    left: int | None
    sure: bool


class Loops:
    """Reads the loops around the place where the cell stands. Nothing is run for it: numbers in the text and
    whole numbers that variables hold are all that counts."""

    def __init__(self, locator: Locator, namespace: dict[str, Any]) -> None:
        self.locator, self.namespace = locator, namespace
        self._leaving: dict[int, bool] = {}  # by id of a loop, which the locator keeps

    def round(self) -> Round:
        """The round that runs: of the innermost loop over a `range`, where those around it are in their
        last."""
        left, sure, found = None, True, False
        for frame, loop in self.around(sys._getframe(1)):
            after = rounds_after(loop, frame)
            sure = sure and after is not None and not self.leaves(loop)
            if after is None:
                continue
            if left is None:
                left = after
            elif after:
                return Round(None, sure)
            found = True
        return Round(left, sure and found)

    def leaves(self, loop: Any) -> bool:
        """Whether a statement in a loop may end it earlier."""
        known = self._leaving.get(id(loop))
        if known is None:
            known = self._leaving[id(loop)] = any(isinstance(node, LEAVING) for node in ast.walk(loop))
        return known

    def around(self, frame: FrameType | None) -> list[tuple[FrameType, Any]]:
        """The loops around a point and around the calls that led to it, innermost first, with their
        frames."""
        found = []
        while frame is not None:
            if frame.f_globals is self.namespace:
                found += [(frame, loop) for loop in self.locator.loops(frame)]
            frame = frame.f_back
        return found


def rounds_after(loop: Any, frame: FrameType) -> int | None:
    """How many rounds of a loop come after the one that runs; None where its head does not tell."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return None
    over = loop.iter
    inner = over.args[0] if isinstance(over, ast.Call) and over.args else None
    if isinstance(inner, ast.Call):  # `tqdm(range(100))`
        over = inner
    if not (isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"):
        return None
    bounds = [whole(each, frame) for each in over.args]
    now = looked_up(loop.target.id, frame)
    if over.keywords or None in bounds or now is None or not 1 <= len(bounds) <= 3 or bounds[2:] == [0]:
        return None
    rounds = range(*bounds)  # type: ignore[arg-type]
    return len(rounds) - 1 - rounds.index(now) if now in rounds else None


def whole(expression: ast.expr, frame: FrameType) -> int | None:
    """The whole number that an expression stands for; None for what is more than names and arithmetic."""
    if isinstance(expression, ast.Constant):
        return expression.value if type(expression.value) is int else None
    if isinstance(expression, ast.Name):
        return looked_up(expression.id, frame)
    compute = ARITHMETIC.get(type(expression.op)) if isinstance(expression, ast.BinOp) else None
    if compute is None or not isinstance(expression, ast.BinOp):
        return None
    a, b = whole(expression.left, frame), whole(expression.right, frame)
    zero = b == 0 and compute is operator.floordiv
    return None if a is None or b is None or zero else compute(a, b)


def looked_up(name: str, frame: FrameType) -> int | None:
    """The whole number that a variable holds."""
    value = frame.f_locals.get(name, frame.f_globals.get(name))
    return value if type(value) is int else None
