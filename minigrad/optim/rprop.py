"""Rprop (Riedmiller and Braun, 1992)."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..creation import full_like, tensor
from ..tensor import Tensor
from .optimizer import Optimizer, chosen


class Rprop(Optimizer):
    """Optimizer that steps in the direction of the gradient's sign, with a step size for each element.

    The size is multiplied by the larger of `etas` while the sign stays, and by the smaller one, without a
    step, when it changes. It stays within `step_sizes`.
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        names = "lr etas step_sizes foreach maximize differentiable capturable"
        super().__init__(params, chosen(locals(), names))

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update one parameter."""
        self._count(param, state, "prev")
        if "step_size" not in state:
            state["step_size"] = full_like(grad, group["lr"])
        smaller, greater = group["etas"]
        sign = grad.mul(state["prev"]).sign()
        factor = F.where(sign > 0, tensor(greater), F.where(sign < 0, tensor(smaller), tensor(1.0)))
        state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(sign < 0, 0)
        param.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)
