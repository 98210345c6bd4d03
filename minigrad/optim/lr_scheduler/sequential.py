"""The scheduler that runs other schedulers one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .factors import MultiplicativeLR
from .scheduler import LRScheduler


class SequentialLR(LRScheduler):
    """Scheduler that runs schedulers one after the other; `milestones` are the epochs of the changes."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number "
                f"of milestone points, but got number of schedulers {len(schedulers)} and the number of "
                f"milestones to be equal to {len(milestones)}"
            )
        self.optimizer, self._schedulers, self._milestones = optimizer, list(schedulers), list(milestones)
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in schedulers:  # each took its first step when it was made
            scheduler.last_epoch -= 1
        schedulers[0].step()
        self._last_lr = self.rates

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler and its schedulers, without the optimizer."""
        return super().state_dict() | {"_schedulers": [part.state_dict() for part in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of another scheduler of this kind."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for part, known in zip(self._schedulers, state_dict["_schedulers"]):
            part.load_state_dict(known)

    def step(self) -> None:
        """Start the next epoch."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at and self._milestones[at - 1] == self.last_epoch:
            scheduler.last_epoch = -1
            if not isinstance(scheduler, MultiplicativeLR):  # which goes on from the rate that it finds
                scheduler.put(scheduler.base_lrs)
        scheduler.step()
        self._last_lr = self.rates
