"""The base class of schedulers, and the scheduler that watches a quantity."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..optimizer import Optimizer

EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do "
    "this will result in PyTorch skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)

BY_EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different "
    "from None, the closed form is used instead of the new chainable form, where available. Please open an "
    "issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)
OTHER_GROUPS = (
    "The number of param groups in the `optimizer` ({}) differs from when `ReduceLROnPlateau` was "
    "initialized ({}), usually due to a new param group being added to the optimizer. Please modify the "
    "`min_lrs` field to match the length of the `optimizer` param groups."
)

__all__ = ["LRScheduler", "ReduceLROnPlateau"]


class LRScheduler:
    """Base class of schedulers; a subclass defines `get_lr`, the learning rates of epoch `last_epoch` from
    those of the epoch before, and perhaps `_get_closed_form_lr`, the same from the initial ones.
    """

    _step_count = 0  # also of one that was pickled without it
    _is_initial = False  # during the first step, which a scheduler takes when it is made
    _get_closed_form_lr: Callable[[], list[float]] | None = None

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
        self._get_lr_called_within_step = False
        if optimizer._opt_called is None and type(optimizer).step is Optimizer.step:  # else nobody tells
            optimizer._opt_called = False
        self._initial_step()

    def _initial_step(self) -> None:
        """Take the first step: to epoch 0, or to the one after `last_epoch`."""
        self._step_count, self._is_initial = 0, True
        try:
            self.step()
        finally:
            self._is_initial = False

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

    def step(self, epoch: int | None = None) -> None:
        """Start the next epoch, or go to `epoch`, which is deprecated."""
        if self._step_count == 1 and self.optimizer._opt_called is False:
            warnings.warn(EARLY, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(BY_EPOCH, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch, or of `epoch`."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = None if epoch is None else self._get_closed_form_lr
        self.put_next(closed or self.get_lr)

    def put_next(self, get_rates: Callable[[], Sequence[float]]) -> None:
        """Set the learning rates of this epoch. The flag belongs to the state that PyTorch saves."""
        self._get_lr_called_within_step = True
        try:
            rates = get_rates()
        finally:
            self._get_lr_called_within_step = False
        self.put(rates)

    def put(self, rates: Sequence[float]) -> None:
        """Set the learning rates of the groups; ValueError unless there is one for each."""
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = self.rates

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler, without the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of another scheduler of this kind."""
        self.__dict__.update(state_dict)


class ReduceLROnPlateau(LRScheduler):
    """Scheduler that multiplies the learning rate by `factor` when a metric stops improving.

    Pass the metric to `step`.

    Args:
        optimizer: optimizer whose learning rates change.
        mode: "min" if a smaller metric is better, "max" if a larger one is.
        factor: factor of the learning rate.
        patience: number of epochs without improvement that are allowed.
        threshold: smallest improvement that counts.
        threshold_mode: "rel" measures the improvement relative to the best metric, "abs" as a difference.
        cooldown: number of epochs after a change in which nothing is counted.
        min_lr: smallest learning rate, or one for each group.
        eps: smallest change of the learning rate that is made.

    Raises:
        ValueError: factor is not below 1, or a mode is unknown.

    Example:
        >>> optimizer = optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
        >>> scheduler.step(3.0), scheduler.step(3.0), scheduler.get_last_lr()
        (None, None, [0.5])

    Source: PyTorch's page `torch.optim.lr_scheduler.ReduceLROnPlateau`.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        count = len(optimizer.param_groups)
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.default_min_lr = None if isinstance(min_lr, list | tuple) else min_lr
        self.min_lrs = list(min_lr) if isinstance(min_lr, list | tuple) else [min_lr] * count
        if len(self.min_lrs) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(self.min_lrs)}")
        self.eps, self.last_epoch, self.cooldown_counter, self.num_bad_epochs = eps, 0, 0, 0
        self.best = self.mode_worse = math.inf if mode == "min" else -math.inf
        self._last_lr = self.rates

    def is_better(self, a: float, best: float) -> bool:
        """Return whether a metric is better than the best by more than the threshold."""
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            return sign * a > sign * (best + sign * self.threshold)
        return sign * a > sign * best * (1 + sign * self.threshold)

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Start the next epoch, or `epoch`, with the metric of the last one."""
        current = float(metrics)
        if epoch is not None:
            warnings.warn(BY_EPOCH, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self.reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self.rates

    def reduce(self) -> None:
        """Multiply the learning rates by the factor, but not below the smallest ones."""
        rates = self.rates
        if len(rates) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(OTHER_GROUPS.format(len(rates), len(self.min_lrs)))
            self.min_lrs = [self.default_min_lr] * len(rates)
        reduced = [max(rate * self.factor, low) for rate, low in zip(rates, self.min_lrs)]
        self.put([new if old - new > self.eps else old for old, new in zip(rates, reduced)])


def for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return a setting for each group: a list, or one value repeated; raise ValueError for another length."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {count}."
        )
    return list(value)
