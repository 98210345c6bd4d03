"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from .optimizer import Optimizer, settings


class SGD(Optimizer):
    """Gradient descent, optionally with momentum.

    v ← momentum · v + (1 − dampening) · g, p ← p − lr · v; the first v is g. Without momentum v is g.

    Args:
        params: parameters or groups of parameters; see `Optimizer`.
        lr: learning rate.
        momentum: factor of the previous v.
        dampening: fraction of the gradient left out of v.
        weight_decay: factor of p that is added to the gradient.
        nesterov: True steps along g + momentum · v instead of v.
        maximize: True maximizes the objective instead.
        foreach: accepted and ignored.
        differentiable: must be False.
        fused: accepted and ignored.

    Raises:
        ValueError: a setting is negative, or nesterov without momentum or with dampening.

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0]))
        >>> p.grad = torch.tensor([2.0])
        >>> optim.SGD([p], lr=0.25).step()
        >>> p.tolist()
        [0.5]

    Source: PyTorch's page `torch.optim.SGD`; momentum: Sutskever et al., 2013.
    """

    is_linear = True

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        names = "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused"
        super().__init__(params, settings(locals(), names))

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change one parameter and its momentum."""
        if group["momentum"]:
            if "momentum_buffer" not in state:
                velocity = state["momentum_buffer"] = np.array(g)
            else:
                velocity = state["momentum_buffer"]
                velocity *= group["momentum"]
                velocity += (1 - group["dampening"]) * g
            g = g + group["momentum"] * velocity if group["nesterov"] else velocity
        p -= group["lr"] * g
