"""Checks of arguments, with the texts of PyTorch's errors."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import kind_name
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


def check_tensors(function: str, **arguments: Any) -> None:
    """Raise PyTorch's TypeError unless the arguments, the first ones of the function, are tensors."""
    for position, (name, value) in enumerate(arguments.items(), 1):
        if not isinstance(value, TensorBase):
            told = f"argument '{name}' (position {position}) must be Tensor, not {kind_name(value)}"
            raise TypeError(f"{function}(): {told}")
