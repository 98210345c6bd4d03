"""Logic, and the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import differentiable
from .half_precision import only

FORMS = "function method method_"


def of_bits(function: Any, doc: str, kernel: str = "", categories: str = "biu") -> Any:
    """Declare an op on integers by a NumPy function; `kernel` is what PyTorch's error calls it."""

    def combine(self, other):
        return function(self, other)

    combine.__name__ = function.__name__ if function.__name__ in SAME else f"bitwise_{function.__name__}"
    combine.__doc__ = doc
    check = only(categories, (kernel or combine.__name__) + "_cpu")
    return differentiable(elementwise=True, forms=FORMS, check=check)(combine)


SAME = ("bitwise_and", "bitwise_or", "bitwise_xor")
bitwise_and = of_bits(np.bitwise_and, "Return the bits that both integers have; of bools, whether both hold.")
bitwise_or = of_bits(np.bitwise_or, "Return the bits that either integer has; of bools, whether one holds.")
bitwise_xor = of_bits(
    np.bitwise_xor, "Return the bits that only one integer has; of bools, whether they differ."
)
bitwise_left_shift = of_bits(
    np.left_shift, "Return the bits moved up by `other` places: times 2 to the power of it.", "lshift", "iu"
)
bitwise_right_shift = of_bits(
    np.right_shift, "Return the bits moved down by `other` places; the sign stays.", "rshift", "iu"
)


@differentiable(elementwise=True, numbers=False, forms=FORMS)
def logical_and(self, other):
    """Return whether both elements are non-zero."""
    return np.logical_and(self, other)


@differentiable(elementwise=True, numbers=False, forms=FORMS)
def logical_or(self, other):
    """Return whether one of both elements is non-zero."""
    return np.logical_or(self, other)


@differentiable(elementwise=True, numbers=False, forms=FORMS)
def logical_xor(self, other):
    """Return whether exactly one of both elements is non-zero."""
    return np.logical_xor(self, other)


@differentiable(elementwise=True, forms=FORMS)
def logical_not(self):
    """Return whether the element is zero."""
    return np.logical_not(self)


@differentiable(elementwise=True, check=only("biu", "bitwise_not_cpu"), forms=FORMS)
def bitwise_not(self):
    """Return all bits of an integer inverted; of a bool, its opposite."""
    return np.invert(self)
