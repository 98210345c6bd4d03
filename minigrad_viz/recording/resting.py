"""When a cell computes a great deal that no gradient depends on, and when its loop is long.

Note [Lighter watching]
    What a loop computes without gradients (counting, preparing data) is of little interest after the first
    thousands of ops, and noting it takes a multiple of its own time. So from then on such ops and writes are
    only counted, until the next backward call. Ops whose result requires gradients are always noted, so the
    graph is complete. A tensor that was computed by a counted op appears where a noted op uses it, as if it
    had existed before the cell. Of loops with backward calls the newest calls are kept, see `pruning`.

    To watch a round of a loop takes a multiple of the round's own time. When a library's budget of notes is
    spent, rounds are only counted: of each backward call the value of the root and the norm of the gradients
    are noted, and nothing else. A loop over a `range` says when its last rounds come, and these are watched
    in full. Where nobody can tell which round is the last, or the loop may end before, as many rounds as are
    kept are watched in full again and again, whenever their number has grown by `GROWTH`. The budget is one
    of notes and not of seconds, so that a cell gives the same trace each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .loops import Round
from .pruning import KEPT_CALLS

PLAIN = 4000  # ops and writes without gradients that are noted between two backward calls
LAST = 5 * KEPT_CALLS  # rounds that are watched in full because the end is near
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
        self._last = LAST

    def ended(self, call: int, share: float, running: Callable[[], Round]) -> bool:
        """A backward call has ended, whose round (the one that is `running`) took this `share` of the budget;
        whether `light` changed."""
        before = self.light
        self.counted += self.light
        self._spent += share
        if self._spent < EARLY:
            return False
        left, sure = running()
        if self._spent < (EARLY if sure else 1):
            return False
        near = left is not None and left <= KEPT_CALLS and self._last > 0
        self._last -= near and not self.light
        if self.light:
            self.light = call < self._next and not near
        else:
            self.light = call >= max(self._next, KEPT_CALLS) and not near
        if self.light and not before:
            self._next = int(call * (SURE_GROWTH if sure else GROWTH)) + 1
        elif before and not self.light:
            self._next = call + KEPT_CALLS
        return self.light != before


class Rest:
    """Counts ops that need no gradient. After `PLAIN` of them it is `on`, and they are only `counted`."""

    def __init__(self) -> None:
        self.on, self.noted, self.counted = False, 0, 0

    def note(self) -> None:
        """An op that needs no gradient was noted."""
        self.noted += 1
        self.on = self.noted >= PLAIN

    def skips(self, *tensors: Any) -> bool:
        """Whether an op with these tensors is only counted. Ask only while it is `on`."""
        if any(tensor.requires_grad for tensor in tensors):
            return False
        self.counted += 1
        return True

    def wake(self) -> None:
        """A backward call begins: the next ops are noted again."""
        self.on, self.noted = False, 0
