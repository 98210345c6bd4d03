"""When a cell computes a great deal that no gradient depends on.

Note [Lighter watching]
    What a loop computes without gradients (counting, preparing data) is of little interest after the first
    thousands of ops, and to note it takes a multiple of its own time. So from then on such ops and writes are
    only counted, until the next backward call. Ops that ask for gradients are always noted: the graph is
    whole. A tensor that was computed meanwhile is met where a noted op uses it, as one that was brought
    along. Of loops with backward calls the newest calls are kept, see `pruning`.
"""

from __future__ import annotations

from typing import Any

PLAIN = 4000  # ops and writes without gradients that are noted between two backward calls


class Rest:
    """Counts ops that ask for no gradients; from `PLAIN` on, it is `on`, and they are `counted` only."""

    def __init__(self) -> None:
        self.on, self.noted, self.counted = False, 0, 0

    def note(self, *tensors: Any) -> None:
        """An op on `tensors`, or with these results, was noted."""
        if not any(tensor.requires_grad for tensor in tensors):
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
