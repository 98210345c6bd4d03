"""When a cell computes a great deal that no gradient depends on, and when its loop is long.

Note [Lighter watching]
    What a loop computes without gradients (counting, preparing data) is of little interest after the first
    thousands of ops, and noting it takes a multiple of its own time. So from then on such ops and writes are
    only counted, until the next backward call. Ops whose result requires gradients are always noted, so the
    graph is complete. A tensor that was computed by a counted op appears where a noted op uses it, as if it
    had existed before the cell. Of loops with backward calls the newest calls are kept, see `pruning`.

    To watch a round of a loop takes a multiple of the round's own time. When a library's budget of notes is
    spent, rounds are only counted: of each backward call the value of the root and the norm of the gradients
    are noted, and nothing else. Nobody can tell which round is the last, so again and again as many rounds as
    are kept are watched in full, whenever their number has grown by `GROWTH`. The budget is one of notes and
    not of seconds, so that a cell gives the same trace each time.
"""

from __future__ import annotations

from typing import Any

from .pruning import KEPT_CALLS

PLAIN = 4000  # ops and writes without gradients that are noted between two backward calls


GROWTH = 1.06  # the rounds in full at the end are among the last 6 of 100


class Rounds:
    """Counts the backward calls of a cell. `light`: the next ones are only counted; so far `counted` were."""

    def __init__(self) -> None:
        self.light, self.counted = False, 0
        self._spent = 0.0  # of the budget
        self._next = 0  # the call with which the state changes again

    def ended(self, call: int, share: float) -> bool:
        """A backward call has ended, whose round took this `share` of the budget; whether `light` changed."""
        before = self.light
        if self.light:
            self.counted += 1
            self.light = call < self._next
        else:
            self._spent += share
            self.light = self._spent >= 1 and call >= max(self._next, KEPT_CALLS)
        if self.light != before:
            self._next = int(call * GROWTH) + 1 if self.light else call + KEPT_CALLS
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
