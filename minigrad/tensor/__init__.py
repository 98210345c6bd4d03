"""class Tensor: operators and methods, in mixins by family; functions that are no methods beside them."""

from __future__ import annotations

from . import einsums, gathering, matrices, norms, products, rearranging, sorting, splitting, statistics
from .size import Size
from .tensor import Tensor

__all__ = ["Size", "Tensor"]
