"""Adam (Kingma and Ba, 2014), AdamW (Loshchilov and Hutter, 2017), Adamax and NAdam (Dozat, 2016)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F
from ..creation import tensor
from ..tensor import Tensor
from .optimizer import Optimizer, settings, zeros_for


class Adam(Optimizer):
    """Optimizer with adaptive step sizes from running means of the gradient and of its square.

    m ← β₁ m + (1 − β₁) g, v ← β₂ v + (1 − β₂) g², p ← p − lr · m̂ / (√v̂ + eps), where m̂ = m / (1 − β₁ᵗ) and
    v̂ = v / (1 − β₂ᵗ) at step t.

    Args:
        params: parameters or groups of parameters; see `Optimizer`.
        lr: learning rate.
        betas: β₁ and β₂.
        eps: number added to the root, so that it is not 0.
        weight_decay: factor of p that is added to the gradient.
        amsgrad: True uses the maximum of all v so far.
        foreach: accepted and ignored.
        maximize: True maximizes the objective instead.
        capturable: accepted and ignored.
        differentiable: must be False.
        fused: accepted and ignored.
        decoupled_weight_decay: True decays p as `AdamW` does.

    Raises:
        ValueError: a setting is negative, or a beta is not in [0, 1).

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0]))
        >>> p.grad = torch.tensor([2.0])
        >>> optim.Adam([p], lr=0.5).step()
        >>> round(p.item(), 4)
        0.5

    Source: PyTorch's page `torch.optim.Adam`; Kingma and Ba, 2014, arXiv:1412.6980.
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
        fused: bool | None = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        names = "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused "
        names += "decoupled_weight_decay"
        super().__init__(params, settings(locals(), names))

    def start(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return zeros for the running means."""
        maximum = ["max_exp_avg_sq"] if group["amsgrad"] else []
        return zeros_for(param, "exp_avg", "exp_avg_sq", *maximum)

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change one parameter and its running means."""
        (beta1, beta2), step = group["betas"], float(state["step"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean[...] = F.lerp(mean, g, 1 - beta1)
        square *= beta2
        square[...] = F.addcmul(square, g, g, 1 - beta2)
        if group["amsgrad"]:
            square = np.maximum(state["max_exp_avg_sq"], square, out=state["max_exp_avg_sq"])
        size = np.sqrt(square) / (1 - beta2**step) ** 0.5 + group["eps"]
        p[...] = F.addcdiv(p, mean, size, -group["lr"] / (1 - beta1**step))


class AdamW(Adam):
    """Adam with decoupled weight decay: p ← (1 − lr · weight_decay) · p before the step of `Adam`.

    The decay does not enter the running means of the gradient.

    Args:
        params: parameters or groups of parameters; see `Optimizer`.
        lr: learning rate.
        betas: β₁ and β₂.
        eps: number added to the root, so that it is not 0.
        weight_decay: factor of the decay.
        amsgrad: True uses the maximum of all v so far.
        how: the keyword arguments of `Adam`.

    Raises:
        ValueError: a setting is negative, or a beta is not in [0, 1).

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0]))
        >>> p.grad = torch.tensor([2.0])
        >>> optim.AdamW([p], lr=0.5, weight_decay=0.5).step()
        >>> round(p.item(), 4)
        0.25

    Source: PyTorch's page `torch.optim.AdamW`; Loshchilov and Hutter, 2017, arXiv:1711.05101.
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, **how: Any,
    ) -> None:  # fmt: skip
        how["decoupled_weight_decay"] = True
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **how)


class Adamax(Optimizer):
    """Adam with the maximum norm: u ← max(β₂u, |g| + eps), p ← p − lr / (1 − β₁ᵗ) · m / u."""

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        names = "lr betas eps weight_decay foreach maximize differentiable capturable"
        super().__init__(params, settings(locals(), names))

    def start(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return zeros for the running mean and maximum."""
        return zeros_for(param, "exp_avg", "exp_inf")

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change one parameter, its running mean and maximum."""
        (beta1, beta2), step = group["betas"], float(state["step"])
        mean, maximum = state["exp_avg"], state["exp_inf"]
        mean[...] = F.lerp(mean, g, 1 - beta1)
        maximum *= beta2
        np.maximum(maximum, np.abs(g) + group["eps"], out=maximum)
        p[...] = F.addcdiv(p, mean, maximum, -group["lr"] / (1 - beta1**step))


class NAdam(Optimizer):
    """Adam with Nesterov momentum: the step uses the next m."""

    writes = 2

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        names = "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach "
        names += "capturable differentiable"
        super().__init__(params, settings(locals(), names))

    def start(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return zeros for the running means, and the product of all momenta so far."""
        return zeros_for(param, "exp_avg", "exp_avg_sq") | {"mu_product": tensor(1.0)}

    def momentum(self, step: float, group: dict[str, Any]) -> float:
        """Return the momentum at a step."""
        momentum: float = group["betas"][0] * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        return momentum

    def count(self, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Count the step and its momentum."""
        super().count(state, group)
        state["mu_product"] *= self.momentum(float(state["step"]), group)

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change one parameter and its running means."""
        (beta1, beta2), step, product = group["betas"], float(state["step"]), float(state["mu_product"])
        mu, mu_next = self.momentum(step, group), self.momentum(step + 1, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean[...] = F.lerp(mean, g, 1 - beta1)
        square *= beta2
        square[...] = F.addcmul(square, g, g, 1 - beta2)
        size = np.sqrt(square / (1 - beta2**step)) + group["eps"]
        p[...] = F.addcdiv(p, g, size, -group["lr"] * (1.0 - mu) / (1.0 - product))
        p[...] = F.addcdiv(p, mean, size, -group["lr"] * mu_next / (1.0 - product * mu_next))
