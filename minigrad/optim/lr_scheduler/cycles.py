"""Schedulers that raise and lower the learning rate in cycles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...left_out import refuse
from ..optimizer import Optimizer
from .scheduler import LRScheduler, for_each_group

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


class CosineAnnealingLR(LRScheduler):
    """Scheduler that lowers the learning rate to `eta_min` along half a cosine, and raises it again.

    lr = eta_min + (lr₀ − eta_min) · (1 + cos(π · epoch / T_max)) / 2.

    Args:
        optimizer: optimizer whose learning rates change.
        T_max: number of epochs from lr₀ to eta_min.
        eta_min: smallest learning rate.
        last_epoch: epoch to resume after; −1 starts from the beginning.

    Raises:
        KeyError: last_epoch is given, but the groups have no `initial_lr`.

    Example:
        >>> optimizer = optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
        (None, None, [0.5])

    Source: PyTorch's page `torch.optim.lr_scheduler.CosineAnnealingLR`; Loshchilov and Hutter, 2016,
    arXiv:1608.03983.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        if self._is_initial:
            return self.rates
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        angle, turn = math.pi * self.last_epoch / self.T_max, math.pi / self.T_max
        pairs = zip(self.base_lrs, self.rates, strict=True)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return [rate + (base - self.eta_min) * (1 - math.cos(turn)) / 2 for base, rate in pairs]
        share = (1 + math.cos(angle)) / (1 + math.cos(angle - turn))
        return [share * (rate - self.eta_min) + self.eta_min for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        """Return the same from the initial learning rates."""
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Scheduler that lowers the learning rate along half a cosine in `T_0` epochs and restarts.

    Each cycle takes `T_mult` times as many epochs as the one before (Loshchilov and Hutter, 2016).
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Start the next epoch, or go to `epoch`, which may be fractional."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = epoch or 0
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self.go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self.put_next(self.get_lr)

    def go_to(self, epoch: float) -> None:
        """Find the cycle of an epoch and the position in it."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            cycle = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**cycle - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**cycle


class Cycling(LRScheduler):
    """Base class of cyclic schedulers; `cycle_momentum` changes the momentum (or β₁) in the opposite
    direction.
    """

    def _momenta(
        self, optimizer: Any, cycle_momentum: bool, base: Any, top: Any
    ) -> tuple[list[Any], list[Any]]:
        """Return the lowest and highest momentum of each group; raise ValueError if it has none to change."""
        self.cycle_momentum = cycle_momentum
        if not cycle_momentum:
            return [], []
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            told = "momentum or beta1 with `cycle_momentum` option enabled"
            raise ValueError(f"optimizer must support {told}")
        self.use_beta1 = "betas" in optimizer.defaults
        highs = for_each_group("max_momentum", optimizer, top)
        return for_each_group("base_momentum", optimizer, base), highs

    def _begin(self, optimizer: Any, lows: list[Any], highs: list[Any], last_epoch: int) -> None:
        """Start with the highest momentum of each group, and take a step."""
        if self.cycle_momentum and last_epoch == -1:
            for group, low, high in zip(optimizer.param_groups, lows, highs):
                self.put_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def put_momentum(self, group: dict[str, Any], momentum: float) -> None:
        """Set the momentum of a group."""
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(Cycling):
    """In lines up from `base_lr` to `max_lr` in `step_size_up` steps, and down in `step_size_down` (Smith,
    2017).

    `mode` says how high later cycles are: all the same ("triangular"), each half as high as the one before
    ("triangular2"), or times `gamma` to the power of the number of steps ("exp_range"). There is no
    `scale_fn`.
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
        cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        refuse("CyclicLR", scale_fn=scale_fn is not None)
        self.optimizer = optimizer
        base_lrs = for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs):
                group["lr"] = rate
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, None
        self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        lows, highs = self._momenta(optimizer, cycle_momentum, base_momentum, max_momentum)
        if cycle_momentum:
            self.base_momentums, self.max_momentums = lows, highs
        self._begin(optimizer, lows, highs, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """Return the height of cycle `x`, or of step `x` ("exp_range")."""
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ends = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in ends:
                self.put_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]


PHASE = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")  # as PyTorch saves it


class OneCycleLR(Cycling):
    """Up from `max_lr` / `div_factor` to `max_lr` in the first `pct_start` of all steps, then down to the
    first rate / `final_div_factor` (Smith and Topin, 2018).

    All steps are `total_steps`, or `epochs` times `steps_per_epoch`. `anneal_strategy` is "cos" or "linear".
    There is no `three_phase`.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95,
        div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.optimizer = optimizer
        refuse("OneCycleLR", three_phase=three_phase)
        self.total_steps = steps_of(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        up, last = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        ends = (
            (up, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
            (last, "max_lr", "min_lr", "base_momentum", "max_momentum"),
        )
        self._schedule_phases = [dict(zip(PHASE, phase)) for phase in ends]
        if last_epoch == -1:
            rates = for_each_group("max_lr", optimizer, max_lr)
            for group, rate in zip(optimizer.param_groups, rates):
                group["initial_lr"], group["max_lr"] = rate / div_factor, rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        momenta = self._momenta(optimizer, cycle_momentum, base_momentum, max_momentum)
        self._begin(optimizer, *momenta, last_epoch)

    def between(self, start: float, end: float, share: float) -> float:
        """Interpolate between `start` and `end`."""
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this epoch."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            end, first, last, first_momentum, last_momentum = (phase[name] for name in PHASE)
            if step <= end or phase is self._schedule_phases[-1]:  # type: ignore[operator]
                break
            start = end  # type: ignore[assignment]
        share = (step - start) / (end - start)  # type: ignore[operator]
        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            for group in groups:
                self.put_momentum(group, self.between(group[first_momentum], group[last_momentum], share))  # type: ignore[index]
        return [self.between(group[first], group[last], share) for group in groups]  # type: ignore[index]


def steps_of(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    """Return the number of all steps; raise PyTorch's ValueError if it is not given."""
    if total_steps is not None:
        return positive(total_steps, "total_steps")
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return positive(epochs, "epochs") * positive(steps_per_epoch, "steps_per_epoch")


def positive(value: Any, what: str) -> int:
    """Return the number; raise ValueError unless it is a positive integer."""
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {what}, but got {value}")
    return value
