"""Adagrad (Duchi et al., 2011), Adadelta (Zeiler, 2012) and RMSprop (Hinton, 2012)."""

from __future__ import annotations

from typing import Any

from ..creation import full_like, tensor
from ..tensor import Tensor
from .optimizer import Optimizer, settings


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
        maximize: True ascends instead.
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
                self.state[param] = self.start(param, initial_accumulator_value)

    def start(self, param: Tensor, value: float) -> dict[str, Any]:
        """Return the first state of a parameter; those of a group that is added later get it in a step."""
        return {"step": tensor(0.0), "sum": full_like(param, value, requires_grad=False)}

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update one parameter."""
        if not state:
            state |= self.start(param, group["initial_accumulator_value"])
        step = self._count(param, state)
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        state["sum"].addcmul_(grad, grad, value=1)
        param.addcdiv_(grad, state["sum"].sqrt().add_(group["eps"]), value=-rate)


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
        maximize: True ascends instead.
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

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update one parameter."""
        self._count(param, state, "square_avg", "acc_delta")
        square, steps, rho, eps = state["square_avg"], state["acc_delta"], group["rho"], group["eps"]
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = steps.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(grad)
        steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-group["lr"])


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
        maximize: True ascends instead.
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

    def update(self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update one parameter."""
        names = ["square_avg"]
        names += ["momentum_buffer"] if group["momentum"] > 0 else []
        names += ["grad_avg"] if group["centered"] else []
        self._count(param, state, *names)
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
