"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992)."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..creation import ones, tensor
from ..tensor import Tensor
from .optimizer import Optimizer, chosen


class ASGD(Optimizer):
    """Gradient descent that also keeps the mean of the parameters since step `t0`, as "ax" of the state.

    p ← (1 − lambd · η) p − η · g, where η = lr / (1 + lambd · lr · step)^alpha. `weight_decay` adds
    weight_decay · p to the gradient.
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        names = "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable"
        super().__init__(params, chosen(locals(), names))

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update one parameter."""
        if not state:
            state |= {"step": tensor(0.0), "eta": tensor(float(group["lr"])), "mu": ones(())}
            state["ax"] = F.zeros_like(param)
        state["step"] += 1
        step, eta, mu, mean = state["step"].item(), state["eta"].item(), state["mu"].item(), state["ax"]
        param.mul_(1 - group["lambd"] * eta)
        param.add_(grad, alpha=-eta)
        if mu == 1:
            mean.copy_(param)
        else:
            mean.add_(param.sub(mean).mul_(mu))
        later = (1 + group["lambd"] * group["lr"] * step) ** group["alpha"]
        state["eta"].fill_(group["lr"] / later)
        state["mu"].fill_(1 / max(1, step - group["t0"]))
