"""Softmax layers, and GLU, which also works along one dimension."""

from __future__ import annotations

from typing import Any

from .. import functional
from .applied import Applied
from .attention import MultiheadAttention as MultiheadAttention
from .module import Module

__all__ = ["GLU", "LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class Along(Applied):
    """Base class of layers that work along one dimension."""

    settings = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class Softmax(Along):
    """Layer that returns y = eˣ / Σ eˣ along a dimension, so that the elements sum to 1.

    The gradient with respect to x is y · (g − Σ g · y).

    Args:
        dim: dimension along which the elements sum to 1; None is deprecated.

    Shape:
        (*) → (*).

    Raises:
        IndexError: the input has no such dimension.

    Example:
        >>> nn.Softmax(dim=1)(torch.zeros(1, 2)).tolist()
        [[0.5, 0.5]]

    Source: PyTorch's page `torch.nn.Softmax`.
    """

    function = "softmax"


class Softmin(Along):
    """Layer that returns e⁻ˣ / Σ e⁻ˣ along a dimension."""

    function = "softmin"


class LogSoftmax(Along):
    """Layer that returns y = x − log Σ eˣ along a dimension: the logarithm of the softmax, without overflow.

    The gradient with respect to x is g − eʸ · Σ g.

    Args:
        dim: dimension along which the elements of eʸ sum to 1; None is deprecated.

    Shape:
        (*) → (*).

    Raises:
        IndexError: the input has no such dimension.

    Example:
        >>> nn.LogSoftmax(dim=0)(torch.tensor([0.0])).tolist()
        [0.0]

    Source: PyTorch's page `torch.nn.LogSoftmax`.
    """

    function = "log_softmax"


class GLU(Along):
    """Layer that returns a · sigmoid(b), where a and b are the halves along a dimension."""

    function = "glu"

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W), at each pixel."""

    def forward(self, input: Any) -> Any:
        """Return the softmax over the channels."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return functional.softmax(input, -3)
