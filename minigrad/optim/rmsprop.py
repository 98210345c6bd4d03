"""RMSprop (Hinton, 2012)."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..creation import tensor
from ..tensor import Tensor
from .optimizer import Optimizer, chosen


class RMSprop(Optimizer):
    """Gradients divided by their mean size: v ← αv + (1 − α)g², p ← p − lr · g / (√v + eps).

    `centered` takes the variance instead of the mean square; `momentum` gathers the steps;
    `weight_decay` adds weight_decay · p to the gradient.
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if not alpha >= 0.0:
            raise ValueError(f"Invalid alpha value: {alpha}")
        names = """
        lr momentum alpha eps centered weight_decay capturable foreach maximize
        differentiable
        """
        super().__init__(params, chosen(locals(), names))

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step."""
        if not state:
            names = ["square_avg"]
            names += ["momentum_buffer"] if group["momentum"] > 0 else []
            names += ["grad_avg"] if group["centered"] else []
            state |= {"step": tensor(0.0), **{name: F.zeros_like(param) for name in names}}
        state["step"] += 1
        if group["weight_decay"]:
            grad = grad.add(param, alpha=group["weight_decay"])
        square = state["square_avg"]
        square.mul_(group["alpha"]).addcmul_(grad, grad, value=1 - group["alpha"])
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - group["alpha"])
            square = square.addcmul(mean, mean, value=-1)
        size = square.sqrt().add_(group["eps"])
        if group["momentum"] > 0:
            gathered = state["momentum_buffer"]
            gathered.mul_(group["momentum"]).addcdiv_(grad, size)
            param.add_(gathered, alpha=-group["lr"])
        else:
            param.addcdiv_(grad, size, value=-group["lr"])
