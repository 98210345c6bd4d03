"""Logic, and the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import differentiable
from .half_precision import only


def by_bits(name: str, function: Any, doc: str, kernel: str = "", categories: str = "biu") -> Any:
    """Declare an op on integers; `kernel` is what PyTorch's error calls it."""

    def combine(self, other):
        return function(self, other)

    combine.__name__, combine.__doc__ = name, doc
    return differentiable(elementwise=True, forms="", check=only(categories, (kernel or name) + "_cpu"))(
        combine
    )


bitwise_and = by_bits(
    "bitwise_and", np.bitwise_and, "The bits that both integers have; of bools, whether both hold."
)
bitwise_or = by_bits(
    "bitwise_or", np.bitwise_or, "The bits that either integer has; of bools, whether one holds."
)
bitwise_xor = by_bits(
    "bitwise_xor", np.bitwise_xor, "The bits that only one integer has; of bools, whether they differ."
)
bitwise_left_shift = by_bits(
    "bitwise_left_shift",
    np.left_shift,
    "The bits of `self` moved up by `other` places: times 2 to the power of `other`.",
    "lshift",
    "iu",
)
bitwise_right_shift = by_bits(
    "bitwise_right_shift",
    np.right_shift,
    "The bits of `self` moved down by `other` places; the sign stays.",
    "rshift",
    "iu",
)


@differentiable(elementwise=True, forms="")
def logical_or(self, other):
    """Return whether one of both elements is non-zero."""
    return np.logical_or(self, other)


@differentiable(elementwise=True, forms="")
def logical_xor(self, other):
    """Return whether exactly one of both elements is non-zero."""
    return np.logical_xor(self, other)
