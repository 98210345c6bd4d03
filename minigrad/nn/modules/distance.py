"""Distance layers."""

from __future__ import annotations

from typing import Any

from .function_layers import FunctionLayer

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class Distance(FunctionLayer):
    """Base class of layers that compare two tensors; the repr shows no settings."""

    _shown = ""

    def forward(self, x1: Any, x2: Any) -> Any:  # type: ignore[override]
        """Compare each pair."""
        return self._run(x1, x2)


class CosineSimilarity(Distance, function="cosine_similarity"):
    """Layer that returns the cosine of the angle between vectors along `dim`."""


class PairwiseDistance(Distance, function="pairwise_distance"):
    """Layer that returns the p-norm of the difference of vectors along the last dimension."""

    def _configure(self, settings: dict[str, Any]) -> None:
        super()._configure(settings)
        self.norm = self.p  # its name in PyTorch
