"""Gradient descent."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .optimizer import Optimizer, chosen


class SGD(Optimizer):
    """Gradient descent, with momentum if asked for: v ← momentum · v + (1 − dampening) · g, p ← p − lr · v.

    `weight_decay` adds weight_decay · p to the gradient; `nesterov` looks ahead along the momentum;
    `maximize` climbs.
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        names = "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused"
        super().__init__(params, chosen(locals(), names))

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step."""
        if group["weight_decay"]:
            grad = grad.add(param, alpha=group["weight_decay"])
        if group["momentum"]:
            velocity = state.get("momentum_buffer")
            if velocity is None:
                velocity = state["momentum_buffer"] = grad.detach().clone()
            else:
                velocity.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(velocity, alpha=group["momentum"]) if group["nesterov"] else velocity
        param.add_(grad, alpha=-group["lr"])
