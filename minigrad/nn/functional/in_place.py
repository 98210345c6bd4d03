"""Activations in place."""

from __future__ import annotations

from typing import Any

from ...core.public import public
from . import activations

__all__ = ["elu_", "hardtanh_", "leaky_relu_", "relu_", "selu_"]


def relu_(input: Any) -> Any:
    """Apply `relu` in place."""
    return activations.relu(input, True)


@public("function")
def selu_(input: Any) -> Any:
    """Apply `selu` in place."""
    return activations.selu(input, True)


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """Apply `elu` in place."""
    return activations.elu(input, alpha, True)


def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """Apply `leaky_relu` in place."""
    return activations.leaky_relu(input, negative_slope, True)


def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Apply `hardtanh` in place."""
    return activations.hardtanh(input, min_val, max_val, True)
