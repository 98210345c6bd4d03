"""Linear layers."""

from __future__ import annotations

import math
from typing import Any

from ... import creation
from ...core.devices import check_device
from .. import functional, init
from ..parameter import Parameter
from ..parameter import create_hidden as kept
from .module import Module

__all__ = ["Identity", "Linear"]


def empty(*size: int, dtype: Any = None) -> Parameter:
    """Create a parameter whose values are not initialized."""
    return Parameter(kept(creation.empty, size, dtype=dtype))


class Identity(Module):
    """Layer that returns its input unchanged.

    It takes the place of a layer that a model does without. The derivative with respect to the input is 1.

    Args:
        args: any arguments; they are accepted and ignored.
        kwargs: any keyword arguments; they are accepted and ignored.

    Shape:
        (*) → (*).

    Example:
        >>> nn.Identity(54, unused=True)(torch.ones(2)).shape
        torch.Size([2])

    Source: PyTorch's page `torch.nn.Identity`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """Return the input."""
        return input


class Affine(Module):
    """Base class of layers that multiply by a weight and add a bias, both drawn uniformly from ±1/√(number of
    inputs of one output).
    """

    def reset_parameters(self) -> None:
        """Initialize weight and bias again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            inputs = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(inputs) if inputs else 0
            init.uniform_(self.bias, -bound, bound)


class Linear(Affine):
    """Layer that computes y = x Wᵀ + b.

    The gradients for an upstream gradient g are g W with respect to x, gᵀ x with respect to W and the sum
    of the rows of g with respect to b. W and b are drawn uniformly from ±1/√in_features.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        bias: False leaves out b.
        device: must be the CPU.
        dtype: dtype of W and b; the default dtype if None.

    Shape:
        (*, in_features) → (*, out_features); weight: (out_features, in_features); bias: (out_features,).

    Raises:
        RuntimeError: the last dimension of the input is not in_features.

    Example:
        >>> nn.Linear(2, 3)(torch.ones(1, 2)).shape
        torch.Size([1, 3])

    Source: PyTorch's page `torch.nn.Linear`.
    """

    _shown = "in_features= out_features= bias="

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        check_device(device)
        self.in_features, self.out_features = in_features, out_features
        self.weight = empty(out_features, in_features, dtype=dtype)
        self.register_parameter("bias", empty(out_features, dtype=dtype) if bias else None)
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """Return x Wᵀ + b."""
        return functional.linear(input, self.weight, self.bias)
