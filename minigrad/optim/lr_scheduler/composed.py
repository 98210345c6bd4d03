"""Schedulers that consist of others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler


class Composed(LRScheduler):
    """Base class of schedulers that consist of others."""

    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler and its parts, without the optimizer."""
        return super().state_dict() | {"_schedulers": [part.state_dict() for part in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of another scheduler of this kind."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for part, known in zip(self._schedulers, state_dict["_schedulers"]):
            part.load_state_dict(known)


class SequentialLR(Composed):
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

    def step(self) -> None:
        """Start the next epoch."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at and self._milestones[at - 1] == self.last_epoch:
            scheduler.last_epoch = -1
            scheduler.put(scheduler.base_lrs)
        scheduler.step()
        self._last_lr = self.rates


class ChainedScheduler(Composed):
    """Scheduler that runs several schedulers at once; each changes the learning rates set by the previous
    one.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        name = type(self).__name__
        if not schedulers:
            raise ValueError(f"{name} expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        for i, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(part, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs "
                    "to be specified when calling `step`, but got one at index "
                    f"{i} in the given schedulers sequence."
                )
            if part.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(part).__name__} at index {i} has {part.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )
        self._schedulers, self.optimizer = list(schedulers), optimizer
        self._last_lr = self.rates

    def step(self) -> None:
        """Start the next epoch."""
        for part in self._schedulers:
            part.step()
        self._last_lr = self.rates
