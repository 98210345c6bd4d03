"""Relatives of Adam: Adamax (Kingma and Ba, 2014) and NAdam (Dozat, 2016)."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..creation import tensor
from ..tensor import Tensor
from .adam import check_betas
from .optimizer import Optimizer, checked_defaults


class Adamax(Optimizer):
    """Adam with the maximum norm: u ← max(β₂u, |g| + eps), p ← p − lr / (1 − β₁ᵗ) · m / u."""

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        check_betas(betas)
        names = "lr betas eps weight_decay foreach maximize differentiable capturable"
        super().__init__(params, checked_defaults(locals(), names))

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update one parameter."""
        step = self._count(param, state, "exp_avg", "exp_inf")
        beta1, beta2 = group["betas"]
        state["exp_avg"].lerp_(grad, 1 - beta1)
        maximum = state["exp_inf"]
        maximum.copy_(maximum.mul_(beta2).maximum(grad.abs().add_(group["eps"])))
        rate = group["lr"] / (1 - beta1**step)
        param.addcdiv_(state["exp_avg"], maximum, value=-rate)


class NAdam(Optimizer):
    """Adam with Nesterov momentum: the step uses the next m."""

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_betas(betas)
        names = "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach "
        names += "capturable differentiable"
        super().__init__(params, checked_defaults(locals(), names))

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update one parameter."""
        if not state:
            zeros = F.zeros_like(param)
            state |= {"step": tensor(0.0), "mu_product": tensor(1.0), "exp_avg": zeros}
            state["exp_avg_sq"] = zeros.clone()
        state["step"] += 1
        step, (beta1, beta2), decay = state["step"].item(), group["betas"], group["momentum_decay"]
        mu, mu_next = (beta1 * (1.0 - 0.5 * 0.96 ** (t * decay)) for t in (step, step + 1))
        state["mu_product"] *= mu
        product = state["mu_product"].item()
        state["exp_avg"].lerp_(grad, 1 - beta1)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = square.div(1 - beta2**step).sqrt().add_(group["eps"])
        param.addcdiv_(grad, denominator, value=-group["lr"] * (1.0 - mu) / (1.0 - product))
        param.addcdiv_(
            state["exp_avg"], denominator, value=-group["lr"] * mu_next / (1.0 - product * mu_next)
        )
