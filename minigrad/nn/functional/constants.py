"""Tensors that a function treats as constants; an error if one requires a gradient."""

from __future__ import annotations

from typing import Any

from ...core.modes import is_grad_enabled
from ...core.tensor_state import TensorBase


def check_constant(function: str, **tensors: Any) -> None:
    """Raise PyTorch's RuntimeError if one of the tensors (or None) requires a gradient."""
    for name, t in tensors.items():
        if isinstance(t, TensorBase) and t.requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This "
                "input cannot have requires_grad True."
            )
