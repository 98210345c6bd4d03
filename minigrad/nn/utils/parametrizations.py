"""Weights with a length and a direction of their own."""

from __future__ import annotations

from typing import Any

from ...left_out import refusing as _refusing
from ..modules.module import Module
from .parametrize import register_parametrization


def lengths(v: Any, dim: int) -> Any:
    """Return the norms over all dimensions but `dim`, or over all for -1."""
    return v.norm() if dim == -1 else v.norm(2, [d for d in range(v.ndim) if d != dim], keepdim=True)


class _WeightNorm(Module):
    """Parametrization of a weight by lengths and a direction (Salimans and Kingma, 2016)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        """Return the direction with the given lengths."""
        return weight_v * (weight_g / lengths(weight_v, self.dim))

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """Return the lengths and the direction of a weight."""
        return lengths(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Parametrize a weight by its length (`original0`) and direction (`original1`).

    There is one length for each index along `dim`, or a single one if it is None.
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


__getattr__ = _refusing("nn.utils.parametrizations")
