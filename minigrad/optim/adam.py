"""Adam and AdamW (Kingma and Ba, 2014; Loshchilov and Hutter, 2017)."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..creation import tensor
from ..tensor import Tensor
from .optimizer import Optimizer, chosen


def check_betas(betas: tuple[float, float]) -> None:
    """ValueError unless both are between 0 and 1."""
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


class AdamVariant(Optimizer):
    """What Adam and its relatives share: settings, and m ← β₁m + (1 − β₁)g. `weight_decay` adds
    weight_decay · p to the gradient or, if `decoupled_weight_decay`, takes lr · weight_decay · p from p
    before a step.
    """

    def _decayed(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> Tensor:
        """The gradient with weight decay, unless that changes the parameter instead."""
        if not group["weight_decay"]:
            return grad
        if group.get("decoupled_weight_decay"):
            param.mul_(1 - group["lr"] * group["weight_decay"])
            return grad
        return grad.add(param, alpha=group["weight_decay"])


class Adam(AdamVariant):
    """Steps of a size of their own for every number: m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g²,
    p ← p − lr · m̂ / (√v̂ + eps), where m̂ and v̂ make up for the start at 0.

    `weight_decay` adds weight_decay · p to the gradient; `amsgrad` keeps the largest v so far.
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
        fused: bool | None = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        check_betas(betas)
        names = """
        lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused
        decoupled_weight_decay
        """
        super().__init__(params, chosen(locals(), names))

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step."""
        if not state:
            zeros = F.zeros_like(param)
            state |= {"step": tensor(0.0), "exp_avg": zeros, "exp_avg_sq": zeros.clone()}
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros.clone()
        state["step"] += 1
        step, (beta1, beta2) = state["step"].item(), group["betas"]
        grad = self._decayed(param, grad, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad.conj(), value=1 - beta2)
        if group["amsgrad"]:
            greatest = state["max_exp_avg_sq"]
            square = greatest.copy_(greatest.maximum(square))
        spread = (square.sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
        param.addcdiv_(mean, spread, value=-group["lr"] / (1 - beta1**step))


class AdamW(Adam):
    """Adam with weight decay that is no part of the gradient: p ← p − lr · weight_decay · p before a step."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, **how: Any,
    ) -> None:  # fmt: skip
        how["decoupled_weight_decay"] = True
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **how)
