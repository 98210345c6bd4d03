"""Checks of arguments, with the texts of PyTorch's errors; shapes and reductions of losses."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core import check_broadcast
from ...core.modes import is_grad_enabled
from ...core.tensor_state import TensorBase
from ...core.user_warnings import warn
from ...ops.kernels import MEAN, NONE, SUM

ENUM = {"none": NONE, "mean": MEAN, "elementwise_mean": MEAN, "sum": SUM}


def check_constant(function: str, **tensors: Any) -> None:
    """Raise PyTorch's RuntimeError if one of the tensors (or None) requires a gradient."""
    for name, t in tensors.items():
        if isinstance(t, TensorBase) and t.requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This "
                "input cannot have requires_grad True."
            )


def expand(name: str, value: Any, dims: int, what: str) -> tuple[int, ...]:
    """Return one number for each dimension of `what`; one number may stand for all."""
    numbers = (value,) if isinstance(value, int) else tuple(value)
    if len(numbers) not in (1, dims):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dims} values to match the {what} "
            f"dimensions, but got {name}={list(numbers)}"
        )
    return numbers * dims if len(numbers) == 1 else numbers


def legacy_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """Return the reduction that PyTorch's two old flags mean."""
    averages = size_average is None or size_average
    reduction = "none" if reduce is not None and not reduce else "mean" if averages else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
        stacklevel=2,
    )
    return reduction


def reduction_enum(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """Return the reduction as a number, as PyTorch's nodes save it; raise ValueError for an unknown one."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    if not isinstance(reduction, str) or reduction not in ENUM:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return ENUM[reduction]


def broadcast(*tensors: Any) -> Any:
    """Broadcast tensors to their common shape; return those that have it unchanged."""
    shapes = [t.shape for t in tensors]
    if all(shape == shapes[0] for shape in shapes):
        return tensors
    shape = np.broadcast_shapes(*shapes)
    return [t if t.shape == shape else t.expand(shape) for t in tensors]


def broadcast_pair(name: str, input: Any, target: Any) -> Any:
    """Broadcast both tensors of the loss `name` to their common shape, with PyTorch's warning if their shapes
    differ.
    """
    if target.size() != input.size():
        warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            name,
        )
    check_broadcast(input.shape, target.shape)
    return broadcast(input, target)


def reduced(losses: Any, reduction: int) -> Any:
    """Reduce losses with the methods `mean` and `sum`."""
    if reduction == NONE:
        return losses
    return losses.mean() if reduction == MEAN else losses.sum()
