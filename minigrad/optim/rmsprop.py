"""RMSprop (Hinton, 2012)."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .optimizer import Optimizer, settings


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
