"""Ops that PyTorch has no derivative for although their results are floating point."""

from __future__ import annotations

from typing import Any


def no_derivative(name: str, *inputs: str) -> dict[str, Any]:
    """What `differentiable` takes for such an op: its node, and vjps that raise PyTorch's error."""

    def refuse(g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return {"node": "NotImplemented", **dict.fromkeys(inputs, refuse)}


def no_tangent(name: str) -> Any:
    """PyTorch's error in forward mode."""
    raise NotImplementedError(f"Trying to use forward AD with aten::{name} that does not support it.")
