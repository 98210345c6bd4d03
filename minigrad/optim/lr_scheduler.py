"""Learning rates that change from epoch to epoch: call `scheduler.step()` after the epoch's last
`optimizer.step()`."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from .optimizer import Optimizer


class LRScheduler:
    """Base of schedulers. A subclass says in `get_lr` which rate each group gets in epoch `last_epoch`, from
    the rates that are in force.
    """

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
        """The rates in force."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def scaled(self, factor: float) -> list[float]:
        """The rates in force, all multiplied by one factor."""
        return [rate * factor for rate in self.rates]

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The rates that the last step set."""
        return self._last_lr

    def step(self) -> None:
        """Begin the next epoch."""
        self.last_epoch += 1
        self.put(self.get_lr())

    def put(self, rates: Sequence[float]) -> None:
        """Set the rates of the groups."""
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = self.rates

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows, without the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what another scheduler of this kind knew."""
        self.__dict__.update(state_dict)


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch; one function, or one for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas: list[Callable[[int], float]] = (
            list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * count
        )
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class StepLR(LRScheduler):
    """The rate times `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        turn = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return self.scaled(self.gamma if turn else 1)


class MultiStepLR(LRScheduler):
    """The rate times `gamma` at each of the `milestones`."""

    def __init__(
        self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        return self.scaled(self.gamma ** self.milestones[self.last_epoch])


class ConstantLR(LRScheduler):
    """The rate times `factor` for the first `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        if self.last_epoch == 0:
            return self.scaled(self.factor)
        return self.scaled(1.0 / self.factor if self.last_epoch == self.total_iters else 1)


class LinearLR(LRScheduler):
    """The rate times a factor that goes in a line from `start_factor` to `end_factor` in `total_iters`
    epochs.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        if self.last_epoch == 0:
            return self.scaled(self.start_factor)
        if self.last_epoch > self.total_iters:
            return self.rates
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self.scaled(1.0 + rise / before)


class ExponentialLR(LRScheduler):
    """The rate times `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        return self.scaled(self.gamma if self.last_epoch else 1)


class PolynomialLR(LRScheduler):
    """The first rate times (1 − epoch / total_iters) to a `power`."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self.rates
        left, before = (
            1.0 - self.last_epoch / self.total_iters,
            1.0 - (self.last_epoch - 1) / self.total_iters,
        )
        return self.scaled((left / before) ** self.power)


class CosineAnnealingLR(LRScheduler):
    """From the first rate down to `eta_min` in `T_max` epochs, along half a cosine, and up again."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        if self.last_epoch == 0:
            return self.rates
        angle, turn = math.pi * self.last_epoch / self.T_max, math.pi / self.T_max
        pairs = zip(self.base_lrs, self.rates)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return [rate + (base - self.eta_min) * (1 - math.cos(turn)) / 2 for base, rate in pairs]
        share = (1 + math.cos(angle)) / (1 + math.cos(angle - turn))
        return [share * (rate - self.eta_min) + self.eta_min for rate in self.rates]


class SequentialLR(LRScheduler):
    """One scheduler after the other, changing at the `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
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
        """Begin the next epoch."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at and self._milestones[at - 1] == self.last_epoch:
            scheduler.last_epoch = -1
            scheduler.put(scheduler.base_lrs)
        scheduler.step()
        self._last_lr = self.rates


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when a measure has not become better for more than `patience` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        count = len(optimizer.param_groups)
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.min_lrs = list(min_lr) if isinstance(min_lr, list | tuple) else [min_lr] * count
        self.eps, self.last_epoch, self.cooldown_counter, self.num_bad_epochs = eps, 0, 0, 0
        self.best = math.inf if mode == "min" else -math.inf
        self._last_lr = self.rates

    def is_better(self, a: float, best: float) -> bool:
        """Whether a measure is better than the best by more than the threshold."""
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            return sign * a > sign * (best + sign * self.threshold)
        return sign * a > sign * best * (1 + sign * self.threshold)

    def step(self, metrics: Any = None) -> None:
        """Begin the next epoch, knowing the measure of the last one."""
        current = float(metrics)
        self.last_epoch += 1
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            reduced = [max(rate * self.factor, low) for rate, low in zip(self.rates, self.min_lrs)]
            self.put([new if old - new > self.eps else old for old, new in zip(self.rates, reduced)])
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self.rates
