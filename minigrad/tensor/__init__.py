"""class Tensor: operators and methods, in mixins by family; functions that are not methods beside them."""

from __future__ import annotations

from ..ops import cumulative, gathering, norms, products, rearranging, searching, sorting, statistics
from ..ops import einsum as einsums
from ..ops import inverses as matrices
from ..ops import joining as splitting
from .properties import Size
from .tensor import Tensor

__all__ = ["Size", "Tensor"]
