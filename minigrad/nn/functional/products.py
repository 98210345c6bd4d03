"""`linear` and `bilinear`, which are defined with the other matrix products."""

from __future__ import annotations

from ...tensor.products import bilinear, linear

__all__ = ["bilinear", "linear"]
