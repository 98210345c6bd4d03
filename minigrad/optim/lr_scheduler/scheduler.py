"""The base class of schedulers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer


class LRScheduler:
    """Base class of schedulers; a subclass defines `get_lr`, the learning rates of epoch `last_epoch`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0."
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._last_lr: list[float] = []
        self.step()

    @property
    def rates(self) -> list[float]:
        """Return the current learning rates."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def scaled(self, factor: float) -> list[float]:
        """Return the current learning rates, all multiplied by one factor."""
        return [rate * factor for rate in self.rates]

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """Return the learning rates that the last step set."""
        return self._last_lr

    def step(self) -> None:
        """Start the next epoch."""
        self.last_epoch += 1
        self.put(self.get_lr())

    def put(self, rates: Sequence[float]) -> None:
        """Set the learning rates of the groups."""
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = self.rates

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler, without the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of another scheduler of this kind."""
        self.__dict__.update(state_dict)


def for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return a setting for each group: a list, or one value repeated; raise ValueError for another length."""
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {count}."
        )
    return list(value)
