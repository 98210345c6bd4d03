"""Schedulers that multiply the learning rate by a factor, and the one that runs several in turn."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler, ReduceLROnPlateau

__all__ = [
    "ConstantLR", "ExponentialLR", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR",
    "SequentialLR", "StepLR",
]  # fmt: skip


class OfFunctions(LRScheduler):
    """Base class of schedulers with a function of the epoch for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas: list[Callable[[int], float]] = (
            list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * count
        )
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return the state without the optimizer and without functions; of other callables, their
        attributes.
        """
        known = [None if isinstance(f, FunctionType) else f.__dict__.copy() for f in self.lr_lambdas]
        return super().state_dict() | {"lr_lambdas": known}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of another scheduler of this kind."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for f, known in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            f.__dict__.update(known or {})


class LambdaLR(OfFunctions):
    """Scheduler that multiplies the initial learning rate by a function of the epoch, one or one per
    group.
    """

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(OfFunctions):
    """Scheduler that multiplies the learning rate by a function of the epoch in every epoch."""

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        if self._is_initial:
            return self.rates
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, self.rates, strict=True)]


class StepLR(LRScheduler):
    """Scheduler that multiplies the learning rate by `gamma` every `step_size` epochs.

    Args:
        optimizer: optimizer whose learning rates change.
        step_size: number of epochs between two changes.
        gamma: factor.
        last_epoch: epoch to resume after; −1 starts from the beginning.

    Raises:
        KeyError: last_epoch is given, but the groups have no `initial_lr`.

    Example:
        >>> optimizer = optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
        >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
        (None, None, [0.5])

    Source: PyTorch's page `torch.optim.lr_scheduler.StepLR`.
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        turn = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.scaled(self.gamma if turn else 1)

    def _get_closed_form_lr(self) -> list[float]:
        """Return the same from the initial learning rates."""
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Scheduler that multiplies the learning rate by `gamma` at each epoch in `milestones`.

    Args:
        optimizer: optimizer whose learning rates change.
        milestones: epochs of the changes.
        gamma: factor.
        last_epoch: epoch to resume after; −1 starts from the beginning.

    Raises:
        KeyError: last_epoch is given, but the groups have no `initial_lr`.

    Example:
        >>> optimizer = optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 5], gamma=0.5)
        >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
        (None, None, [0.5])

    Source: PyTorch's page `torch.optim.lr_scheduler.MultiStepLR`.
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        changes = self.milestones[self.last_epoch]
        return self.scaled(self.gamma**changes) if changes else self.rates

    def _get_closed_form_lr(self) -> list[float]:
        """Return the same from the initial learning rates."""
        changes = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**changes for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Scheduler that multiplies the learning rate by `factor` for the first `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        if self.last_epoch == 0:
            return self.scaled(self.factor)
        return self.scaled(1.0 / self.factor if self.last_epoch == self.total_iters else 1)

    def _get_closed_form_lr(self) -> list[float]:
        """Return the same from the initial learning rates."""
        factor = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Scheduler whose factor goes linearly from `start_factor` to `end_factor` in `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
        total_iters: int = 5, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        if self.last_epoch == 0:
            return self.scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self.rates
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self.scaled(1.0 + rise / before)

    def _get_closed_form_lr(self) -> list[float]:
        """Return the same from the initial learning rates."""
        rise = (self.end_factor - self.start_factor) * min(self.total_iters, self.last_epoch)
        return [base * (self.start_factor + rise / self.total_iters) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Scheduler that multiplies the learning rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        return self.scaled(1 if self._is_initial else self.gamma)

    def _get_closed_form_lr(self) -> list[float]:
        """Return the same from the initial learning rates."""
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Scheduler that multiplies the initial learning rate by (1 − epoch / total_iters)^power."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        if self._is_initial or self.last_epoch > self.total_iters:
            return self.rates
        left, before = (
            1.0 - self.last_epoch / self.total_iters,
            1.0 - (self.last_epoch - 1) / self.total_iters,
        )
        return self.scaled((left / before) ** self.power)

    def _get_closed_form_lr(self) -> list[float]:
        """Return the same from the initial learning rates."""
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


def check_parts(optimizer: Optimizer, schedulers: Sequence[LRScheduler]) -> None:
    """Raise PyTorch's errors for schedulers that cannot run one after the other."""
    name = "SequentialLR"
    if not schedulers:
        raise ValueError(f"{name} expects at least one scheduler, but got no scheduler.")
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to "
                f"be specified when calling `step`, but got one at index {i} in the given schedulers "
                "sequence."
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                f"{type(optimizer).__name__}."
            )


class SequentialLR(LRScheduler):
    """Scheduler that runs schedulers one after the other; `milestones` are the epochs of the changes."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_parts(optimizer, schedulers)
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
        for scheduler in schedulers:
            take_back(scheduler)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler and its schedulers, without the optimizer."""
        return super().state_dict() | {"_schedulers": [part.state_dict() for part in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of another scheduler of this kind."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for part, known in zip(self._schedulers, state_dict["_schedulers"]):
            part.load_state_dict(known)

    def step(self) -> None:  # type: ignore[override]
        """Start the next epoch."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at and self._milestones[at - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def take_back(scheduler: Any) -> None:
    """Take back the step that a scheduler, or each of its own, took when it was made."""
    for part in getattr(scheduler, "_schedulers", ()):
        take_back(part)
    if not hasattr(scheduler, "_schedulers"):
        scheduler.last_epoch -= 1
