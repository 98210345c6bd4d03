"""Ops, and derivatives, that PyTorch has no derivative for although their results are floating point."""

from __future__ import annotations

from typing import Any


def refusal(name: str) -> Any:
    """Return a vjp that raises the error of PyTorch for an op without a derivative."""

    def refuse(g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return refuse


def second_refusal(name: str) -> Any:
    """Return a vjp that raises the error of PyTorch for a derivative that cannot be differentiated itself."""

    def refuse(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return refuse


def no_derivative(name: str, *inputs: str) -> dict[str, Any]:
    """What `differentiable` takes for an op without a derivative: its node, and what raises the errors."""

    def no_tangent() -> Any:
        raise NotImplementedError(f"Trying to use forward AD with aten::{name} that does not support it.")

    return {"node": "NotImplemented", "jvp": no_tangent, **dict.fromkeys(inputs, refusal(name))}
