"""Linear algebra."""

from __future__ import annotations

from .tensor.views import linalg_diagonal as diagonal

__all__ = ["diagonal"]
