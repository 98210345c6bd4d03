"""ReduceLROnPlateau: lower the learning rate when a metric stops improving."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler


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
        self.min_lrs = list(min_lr) if isinstance(min_lr, list | tuple) else [min_lr] * count
        self.eps, self.last_epoch, self.cooldown_counter, self.num_bad_epochs = eps, 0, 0, 0
        self.best = math.inf if mode == "min" else -math.inf
        self._last_lr = self.rates

    def is_better(self, a: float, best: float) -> bool:
        """Return whether a metric is better than the best by more than the threshold."""
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            return sign * a > sign * (best + sign * self.threshold)
        return sign * a > sign * best * (1 + sign * self.threshold)

    def step(self, metrics: Any = None) -> None:
        """Start the next epoch with the metric of the last one."""
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
