"""Cells that compute a lot in long loops: what is left out of their recording.

Note [Lighter watching]
    What a loop computes without gradients (counting, preparing data) is of little interest after the first
    thousands of ops, and noting it takes a multiple of its own time. So from then on such ops and writes are
    only counted, until the next backward call. Ops whose result requires gradients are always noted, so the
    graph is complete. A tensor that was computed by a counted op appears where a noted op uses it, as if it
    had existed before the cell. Of loops with backward calls the newest calls are kept, see `prune`, and the
    first call whose numbers are not finite, with the one before it.

    A graph can be too large for a picture, too. After `STRETCH` notes without a backward call, everything is
    only counted, ops that need gradients as well, until a backward call begins. That call's picture then has
    the nodes nearest to its roots (see `States.adopt`), and says how many ops were only counted.

    To watch a round of a loop takes a multiple of the round's own time. When a library's budget of notes is
    spent, rounds are only counted: of each backward call the value of the root and the norm of the gradients
    are noted, and nothing else. A loop over a `range` says when its last rounds come, and these are watched
    in full, as many as are kept. Where nobody can tell which round is the last, or the loop may end before,
    rounds are watched in full again and again, whenever their number has grown by `GROWTH`: as many as are
    kept, and `PROBE` of them when twice the budget is spent. Budgets are counted in notes and not in seconds,
    so that a cell gives the same trace each time. Large arrays that were read count like notes, see
    `Tape.work`.
"""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from ..trace.events import (
    InPlaceWrite,
    NumbersReturned,
    RequiresGradSet,
    Snapshot,
    TensorCreated,
    TensorDetached,
)
from ..trace.ids import Ids
from ..trace.notes import (
    BackwardEndNote,
    BackwardStartNote,
    ModuleCallNote,
    ModuleReturnNote,
    NodeNote,
    OpNote,
    PlaceNote,
)
from ..trace.source_positions import Locator

# ─── Leaving out what belongs to the first backward calls of a cell with many, as the cell runs


KEPT_CALLS = 20
KEPT_NOTES = 10_000  # of all calls that are kept, but for `FEWEST` of them
FEWEST = 2


def prune(
    noted: list[Any], cut: int, ids: Ids, alive: set[str], whole: range = range(0)
) -> tuple[list[Any], set[Any], range]:
    """The notes without those before `cut` that nothing later needs, except those in `whole`; the keys of
    the nodes in them; and where `whole` is then.

    What made a tensor stays as long as a later note, or one that stays, refers to it, or it is among the
    `alive`, which variables name; so does the last write into it.
    """
    needed, written, made = set(alive), set[str](), set[str]()
    kept: list[Any] = []
    frozen: set[Any] = set()
    statement = False  # whether something of the statement that is being read stays
    behind: list[int] = []  # how many notes stay behind the end of `whole`, and behind its beginning
    for i in range(len(noted) - 1, -1, -1):
        note, sure = noted[i], i >= cut or i in whole
        if i in (whole.stop - 1, whole.start - 1):
            behind.append(len(kept))
            written.clear()  # the state of a tensor there is that of the last write before
        gives, uses = relations(note, ids, frozen if sure else None)
        stays = sure or not needed.isdisjoint(gives)
        if stays and not sure and gives[0] in uses:  # written into, without a new history
            stays = gives[0] not in written
            written.add(gives[0])
        if not gives and not sure:
            stays = statement and isinstance(note, PlaceNote)
        statement = (statement or stays) and not isinstance(note, PlaceNote)
        if not sure and isinstance(note, ModuleCallNote | ModuleReturnNote):
            inner = kept[-1] if kept else None
            stays = isinstance(note, ModuleReturnNote) or not (
                isinstance(inner, ModuleReturnNote) and inner.number == note.number
            )
            if not stays:
                kept.pop()  # nothing of what ran inside stays
        if stays:
            needed.update(uses)
            made.update(gives)
            kept.append(note)
    kept.reverse()
    ids.keep(made)
    ends = [len(kept) - count for count in (*behind, len(kept))[:2]]
    left = range(ends[1], ends[0]) if whole else whole
    return [without_pruned_names(note, made) for note in kept], frozen, left


def relations(note: Any, ids: Ids, frozen: set[Any] | None) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The tensors that a note brings in, and those it refers to (among other things). Notes of calls add
    their nodes to `frozen`, if they stay."""
    match note:
        case TensorCreated() | RequiresGradSet():
            return (note.tensor.id,), ()
        case TensorDetached():
            return (note.tensor.id,), () if note.source == note.tensor.id else (note.source,)
        case NumbersReturned():
            return (note.tensor.id,), note.sources
        case InPlaceWrite():
            return (note.tensor.id,), (note.before, *note.inputs)
        case NodeNote() if frozen is not None:
            return (), note.ids or ()
        case OpNote():
            return tuple(row[0] for row in note.rows), tuple(g for g in note.given if g.__class__ is str)
        case BackwardStartNote(started, nodes) if frozen is not None:
            frozen.update(row[0] for row in nodes)
            made = (ids.outputs.get(row[0]) for row in nodes)
            leaves = (getattr(row[2], "variable", None) for row in nodes)
            return (), (*started.roots, *started.gradient_ids, *(started.wanted or ()), *made, *leaves)
        case BackwardEndNote(event) if frozen is not None:
            return (), tuple(id for id, _ in event.captured)
    return (), ()


def without_pruned_names(note: Any, made: set[str]) -> Any:
    """A note of named tensors, or of a module, without the tensors that are left out."""
    match note:
        case Snapshot():
            return note._replace(rows=tuple(row for row in note.rows if row[1].id in made))
        case ModuleCallNote():
            return note._replace(inputs=tuple(id for id in note.inputs if id in made))
        case ModuleReturnNote():
            left = tuple(id for id in note.outputs if id in made)
            return note._replace(outputs=left, parameters=tuple(p for p in note.parameters if p[1] in made))
    return note


# ─── When a cell computes a great deal that no gradient depends on, and when its loop is long


PLAIN = 4000  # ops and writes without gradients that are noted between two backward calls
STRETCH = 10_500  # notes without a backward call between them, of ops and writes of any kind
LAST = 5  # times that as many rounds as are kept are watched in full because the end is near
PROBE = 2  # rounds that are watched in full now and then, when twice the budget is spent
GROWTH = 1.06  # the rounds in full at the end are among the last 6 of 100
# Where a loop is sure to go on until its last rounds, only an error can end it before: then less is watched.
SURE_GROWTH = 2.0
EARLY = 0.15  # of the budget


class Rounds:
    """Counts the backward calls of a cell. `light`: the next ones are only counted; so far `counted` were."""

    def __init__(self) -> None:
        self.light, self.counted = False, 0
        self._spent = 0.0  # of the budget
        self._next = 0  # the call with which the state changes again
        self._near = 0  # rounds watched in full because the end is near

    def ended(self, call: int, share: float, running: Callable[[], Round], kept: int = KEPT_CALLS) -> bool:
        """A backward call has ended, whose round (the one that is `running`) took this `share` of the budget;
        whether `light` changed. Of rounds like this one so many are `kept`."""
        before = self.light
        self.counted += self.light
        self._spent += share
        if self._spent < EARLY:
            return False
        left, sure = running()
        if self._spent < (EARLY if sure else 1):
            return False
        near = left is not None and left <= kept and self._near < LAST * kept
        self._near += near and not self.light
        if self.light:
            self.light = call < self._next and not near
        else:
            self.light = call >= max(self._next, kept) and not near
        if self.light and not before:
            self._next = int(call * (SURE_GROWTH if sure else GROWTH)) + 1
        elif before and not self.light:
            self._next = call + (kept if sure or self._spent < 2 else min(kept, PROBE))
        return self.light != before


class Rest:
    """Counts ops. After `PLAIN` that need no gradient it is `on`, and such ops are only `counted`; after
    `STRETCH` notes it is `whole`, and nothing is noted; so many ops were `passed` over then."""

    def __init__(self) -> None:
        self.on = self.whole = False
        self.noted = self.counted = self.passed = 0
        self._begin = 0

    def note(self, plain: bool, work: int) -> None:
        """An op was noted, a `plain` one if it needs no gradient; so much `work` has been done."""
        self.noted += plain
        self.whole = work - self._begin >= STRETCH
        self.on = self.whole or self.noted >= PLAIN

    def skips(self, *tensors: Any) -> bool:
        """Whether an op with these tensors is only counted. Ask only while it is `on`."""
        if any(tensor.requires_grad for tensor in tensors):
            return False
        self.counted += 1
        return True

    def wake(self, work: int) -> None:
        """A backward call begins, or has ended: the next ops are noted again."""
        self.on = self.whole = False
        self.noted, self._begin = 0, work


# ── how far loops have come ─────────────────────────────────────────────────────────────────────────────────

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
    """Reads the loops around the place that the cell has reached. Nothing is run for it: numbers in the text
    and whole numbers that variables hold are all that counts."""

    def __init__(self, locator: Locator, namespace: dict[str, Any]) -> None:
        self.locator, self.namespace = locator, namespace
        self._leaving: dict[int, bool] = {}  # by id of a loop, which the locator keeps

    def round(self) -> Round:
        """The round that runs, if the innermost loop runs over a `range`, and those around it are in their
        last."""
        left, sure, found = None, True, False
        for frame, loop in self.around(sys._getframe(1)):
            after = rounds_after(loop, frame)
            sure = sure and after is not None and not self.leaves(loop)
            if after is None and left is None:
                return Round(None, False)  # what the loops around it have left is not counted in rounds
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
            if self.locator.owns(frame):
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
    bounds = [integer_value(each, frame) for each in over.args]
    now = looked_up(loop.target.id, frame)
    if over.keywords or None in bounds or now is None or not 1 <= len(bounds) <= 3 or bounds[2:] == [0]:
        return None
    rounds = range(*bounds)  # type: ignore[arg-type]
    return len(rounds) - 1 - rounds.index(now) if now in rounds else None


def integer_value(expression: ast.expr, frame: FrameType) -> int | None:
    """The whole number that an expression stands for; None for what is more than names and arithmetic."""
    if isinstance(expression, ast.Constant):
        return expression.value if type(expression.value) is int else None
    if isinstance(expression, ast.Name):
        return looked_up(expression.id, frame)
    compute = ARITHMETIC.get(type(expression.op)) if isinstance(expression, ast.BinOp) else None
    if compute is None or not isinstance(expression, ast.BinOp):
        return None
    a, b = integer_value(expression.left, frame), integer_value(expression.right, frame)
    zero = b == 0 and compute is operator.floordiv
    return None if a is None or b is None or zero else compute(a, b)


def looked_up(name: str, frame: FrameType) -> int | None:
    """The whole number that a variable holds."""
    value = frame.f_locals.get(name, frame.f_globals.get(name))
    return value if type(value) is int else None
