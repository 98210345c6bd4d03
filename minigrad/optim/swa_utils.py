"""Means of a model's parameters over many steps, which often do better than the last ones (Izmailov and
others, 2018).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from ..autograd import no_grad
from ..creation import tensor
from ..dtypes import int64
from ..nn.layers.norm import BatchNorm
from ..nn.module import Module
from .lr_scheduler.scheduler import LRScheduler, for_each_group
from .optimizer import Optimizer


def check_decay(decay: float) -> None:
    """ValueError unless it is between 0 and 1."""
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """The mean of all parameters so far: a function of the mean, new parameters, and how many it is of."""

    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """A mean in which every step counts `decay` times as much as the one after it."""
    check_decay(decay)

    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with no_grad():
            return decay * ema_param + (1 - decay) * current_param

    return ema_update


def each(average: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], None]:
    """A function that writes the means of a list of parameters."""

    def update(averaged: Any, current: Any, num_averaged: Any) -> None:
        with no_grad():
            for mean, param in zip(averaged, current, strict=True):
                mean.copy_(average(mean, param, num_averaged))

    return update


def get_swa_multi_avg_fn() -> Callable[[Any, Any, Any], None]:
    """`get_swa_avg_fn` for lists of parameters, the first of which it changes."""
    return each(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], None]:
    """`get_ema_avg_fn` for lists of parameters, the first of which it changes."""
    return each(get_ema_avg_fn(decay))


class AveragedModel(Module):
    """A copy of a model whose parameters are means of those that the model has had at each call of
    `update_parameters`; `use_buffers`: its buffers too, which else are those of the model.

    `avg_fn` gives a new mean, `multi_avg_fn` writes those of lists of parameters: by default the mean of all.
    """

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[[Any, Any, Any], Any] | None = None,
        multi_avg_fn: Callable[[Any, Any, Any], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", tensor(0, dtype=int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the model gives with the means."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the model's parameters into the means."""
        mine, theirs = (
            [t.detach() for t in chain(m.parameters(), m.buffers() if self.use_buffers else ())]
            for m in (self.module, model)
        )
        if self.n_averaged == 0:
            update = each(lambda mean, param, count: param)
        else:
            update = self.multi_avg_fn or each(self.avg_fn or get_swa_avg_fn())
        update(mine, theirs, self.n_averaged)
        if not self.use_buffers:
            for kept, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.detach().copy_(buffer.detach())
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Find the running statistics of all batch norms of a model anew, from the inputs in `loader`, or the
    first things of the pairs in it.
    """
    layers = [module for module in model.modules() if isinstance(module, BatchNorm)]
    if not layers:
        return
    momenta, was_training = [layer.momentum for layer in layers], model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    with no_grad():
        for input in loader:
            model(input[0] if isinstance(input, (list, tuple)) else input)
    for layer, momentum in zip(layers, momenta):
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rates there are to `swa_lr` in `anneal_epochs` epochs, along half a cosine, or a line if
    `anneal_strategy` is "linear"; then it stays.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = for_each_group("swa_lr", optimizer, swa_lr)
        for group, rate in zip(optimizer.param_groups, rates):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def share(self, epoch: int) -> float:
        """How much of the way is gone in an epoch."""
        way = max(0.0, min(1.0, epoch / max(1, self.anneal_epochs)))
        return way if self.anneal_strategy == "linear" else (1 - math.cos(math.pi * way)) / 2

    def get_lr(self) -> list[float]:
        """The rates of this epoch."""
        epoch = self.last_epoch if self.anneal_epochs else max(1, self.last_epoch)
        before, now = self.share(epoch - 1), self.share(epoch)
        rates = []
        for group in self.optimizer.param_groups:
            goal = group["swa_lr"]
            start = goal if before == 1 else (group["lr"] - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates
