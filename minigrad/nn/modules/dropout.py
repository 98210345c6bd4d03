"""Dropout layers."""

from __future__ import annotations

from typing import Any

from ...core.guards import check_probability
from .function_layers import FunctionLayer

__all__ = ["Dropout", "Dropout1d", "Dropout2d"]


class DropoutBase(FunctionLayer):
    """Base class of layers that apply a random function in training."""

    _shown = "p= inplace="

    def _configure(self, settings: dict[str, Any]) -> None:
        super()._configure(settings)
        check_probability(self.p)


class Dropout(DropoutBase, function="dropout"):
    """Layer that sets random elements to 0 in training and returns its input in evaluation.

    In training y = m · x / (1 − p), where each m is 0 with probability p and 1 otherwise. The derivative is
    m / (1 − p).

    Args:
        p: probability of an element being set to 0.
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Raises:
        ValueError: p is not between 0 and 1.

    Example:
        >>> nn.Dropout(p=0.5).eval()(torch.ones(3)).tolist()
        [1.0, 1.0, 1.0]

    Source: PyTorch's page `torch.nn.Dropout`; Srivastava et al., JMLR 15, 2014.
    """


class Dropout1d(DropoutBase, function="dropout1d"):
    """Layer that sets whole random channels of (N, C, L) to 0 in training."""


class Dropout2d(DropoutBase, function="dropout2d"):
    """Layer that sets whole random channels of images to 0 in training.

    In training y = m · x / (1 − p) with one random m for each channel of each image. The derivative is
    m / (1 − p).

    Args:
        p: probability of a channel being set to 0.
        inplace: True writes the result into the input.

    Shape:
        (N, C, H, W) or (C, H, W) → the same shape.

    Raises:
        ValueError: p is not between 0 and 1.

    Example:
        >>> nn.Dropout2d(p=1.0)(torch.ones(1, 2, 3, 3)).sum().item()
        0.0

    Source: PyTorch's page `torch.nn.Dropout2d`; Tompson et al., 2014, arXiv:1411.4280.
    """
