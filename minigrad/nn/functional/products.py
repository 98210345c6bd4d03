"""Layers' products with a weight: they are defined with the other products of matrices."""

from __future__ import annotations

from ...tensor.products import bilinear, linear

__all__ = ["bilinear", "linear"]
