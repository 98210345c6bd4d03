"""Flatten and Unflatten."""

from __future__ import annotations

from typing import Any

from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Layer that joins the dimensions from `start_dim` to `end_dim` into one.

    Args:
        start_dim: first dimension to join; 1 keeps the batch dimension.
        end_dim: last dimension to join.

    Shape:
        (*, S₁, …, Sₖ, *) → (*, S₁ · … · Sₖ, *).

    Raises:
        RuntimeError: end_dim comes before start_dim.
        IndexError: the input has no such dimension.

    Example:
        >>> nn.Flatten()(torch.ones(2, 3, 4)).shape
        torch.Size([2, 12])

    Source: PyTorch's page `torch.nn.Flatten`.
    """

    _shown = "start_dim= end_dim="

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        """Return the input with fewer dimensions."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """Layer that splits dimension `dim` into several, of sizes `unflattened_size`."""

    _shown = "dim= unflattened_size="

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Any) -> Any:
        """Return the input with more dimensions."""
        return input.unflatten(self.dim, self.unflattened_size)
