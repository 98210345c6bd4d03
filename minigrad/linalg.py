"""Linear algebra."""

from __future__ import annotations

from .tensor.statistics import vector_norm
from .tensor.views import linalg_diagonal as diagonal

__all__ = ["diagonal", "vector_norm"]
