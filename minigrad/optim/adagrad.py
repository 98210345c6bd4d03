"""Adagrad (Duchi et al., 2011), Adadelta (Zeiler, 2012) and RMSprop (Hinton, 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F
from ..creation import full_like
from ..tensor import Tensor
from .optimizer import Optimizer, settings, zeros_for


class Adagrad(Optimizer):
    """Optimizer that divides gradients by the root of the sum of all their squares.

    s ← s + g², p ← p − lr / (1 + (t − 1) · lr_decay) · g / (√s + eps) at step t.

    Args:
        params: parameters or groups of parameters; see `Optimizer`.
        lr: learning rate.
        lr_decay: decay of the learning rate.
        weight_decay: factor of p that is added to the gradient.
        initial_accumulator_value: first value of s.
        eps: number added to the root, so that it is not 0.
        foreach: accepted and ignored.
        maximize: True maximizes the objective instead.
        differentiable: must be False.
        fused: accepted and ignored.

    Raises:
        ValueError: a setting is negative.

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0]))
        >>> p.grad = torch.tensor([2.0])
        >>> optim.Adagrad([p], lr=0.5).step()
        >>> p.tolist()
        [0.5]

    Source: PyTorch's page `torch.optim.Adagrad`; Duchi et al., 2011.
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        names = "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused"
        super().__init__(params, settings(locals(), names))
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param] = self.start(
                    param, {"initial_accumulator_value": initial_accumulator_value}
                )

    def start(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the first sum; of a group that is added later it is made in a step."""
        first = group["initial_accumulator_value"]
        first = complex(first, first) if param.is_complex() else first
        return zeros_for(param) | {"sum": full_like(param, first, requires_grad=False)}

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change one parameter and the sum of its squared gradients."""
        rate, total = group["lr"] / (1 + (float(state["step"]) - 1) * group["lr_decay"]), state["sum"]
        total[...] = F.addcmul(total, g, g, 1)
        p[...] = F.addcdiv(p, g, np.sqrt(total) + group["eps"], -rate)


class Adadelta(Optimizer):
    """Optimizer whose step sizes follow from running means of squared gradients and squared steps.

    v ← ρ v + (1 − ρ) g², d = √(u + eps) / √(v + eps) · g, u ← ρ u + (1 − ρ) d², p ← p − lr · d.

    Args:
        params: parameters or groups of parameters; see `Optimizer`.
        lr: factor of the step.
        rho: ρ.
        eps: number added under both roots.
        weight_decay: factor of p that is added to the gradient.
        foreach: accepted and ignored.
        capturable: accepted and ignored.
        maximize: True maximizes the objective instead.
        differentiable: must be False.

    Raises:
        ValueError: a setting is negative, or rho is not between 0 and 1.

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0]))
        >>> p.grad = torch.tensor([0.0])
        >>> optim.Adadelta([p]).step()
        >>> p.tolist()
        [1.0]

    Source: PyTorch's page `torch.optim.Adadelta`; Zeiler, 2012, arXiv:1212.5701.
    """

    def __init__(
        self, params: Any, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        names = "lr rho eps weight_decay maximize capturable foreach differentiable"
        super().__init__(params, settings(locals(), names))

    def start(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return zeros for both running means."""
        return zeros_for(param, "square_avg", "acc_delta")

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change one parameter and its running means."""
        square, steps, rho, eps = state["square_avg"], state["acc_delta"], group["rho"], group["eps"]
        square *= rho
        square[...] = F.addcmul(square, g, g, 1 - rho)
        delta = np.sqrt(steps + eps) / np.sqrt(square + eps) * g
        steps *= rho
        steps[...] = F.addcmul(steps, delta, delta, 1 - rho)
        p -= group["lr"] * delta


class RMSprop(Optimizer):
    """Optimizer that divides gradients by the root of a running mean of their squares.

    v ← α v + (1 − α) g², p ← p − lr · g / (√v + eps).

    Args:
        params: parameters or groups of parameters; see `Optimizer`.
        lr: learning rate.
        alpha: α.
        eps: number added to the root, so that it is not 0.
        weight_decay: factor of p that is added to the gradient.
        momentum: factor of the previous step that is added to the new one.
        centered: True subtracts the squared running mean of the gradient from v.
        capturable: accepted and ignored.
        foreach: accepted and ignored.
        maximize: True maximizes the objective instead.
        differentiable: must be False.

    Raises:
        ValueError: a setting is negative.

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0]))
        >>> p.grad = torch.tensor([2.0])
        >>> optim.RMSprop([p], lr=0.5, alpha=0.0).step()
        >>> p.tolist()
        [0.5]

    Source: PyTorch's page `torch.optim.RMSprop`; Hinton, lecture 6.5 of "Neural Networks for Machine
    Learning", 2012.
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        names = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
        super().__init__(params, settings(locals(), names))

    def start(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return zeros for the running means and the momentum that the settings ask for."""
        momentum = ["momentum_buffer"] if group["momentum"] > 0 else []
        return zeros_for(param, "square_avg", *momentum, *(["grad_avg"] if group["centered"] else []))

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change one parameter, its running means and its momentum."""
        square, alpha = state["square_avg"], group["alpha"]
        square *= alpha
        square[...] = F.addcmul(square, g, g, 1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean[...] = F.lerp(mean, g, 1 - alpha)
            square = F.addcmul(square, mean, mean, -1)
        size = np.sqrt(square) + group["eps"]
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"]
            velocity *= group["momentum"]
            velocity[...] = F.addcdiv(velocity, g, size, 1)
            p -= group["lr"] * velocity
        else:
            p[...] = F.addcdiv(p, g, size, -group["lr"])
