"""Functions of one element as methods, out of place and in place."""

from __future__ import annotations

from typing import Any

from ..core.public import public
from ..core.tensor_state import TensorBase
from ..inplace.in_place import in_place
from ..ops import pointwise, rounding, special
from ..ops import pow as powers
from ..ops.elementwise import must_be


class Elementary(TensorBase):
    """Circular, hyperbolic, exponential and special functions."""

    __slots__ = ()

    def polygamma(self, n: Any) -> Any:
        """The `n`-th derivative of the digamma function; RuntimeError for a negative `n`."""
        return special.polygamma(n, self)


class ElementaryInPlace(TensorBase):
    """The same, written into the tensor."""

    __slots__ = ()

    @public("function")
    def abs_(self) -> Any:
        """Absolute value of each element, in place; RuntimeError for complex numbers."""
        if self._data.dtype.kind == "c":
            raise RuntimeError("In-place abs is not supported for complex tensors.")
        return in_place(pointwise.abs.op, self)

    absolute_ = abs_

    @public("function")
    def square_(self) -> Any:
        """Each element times itself, in place."""
        return in_place(powers.pow_scalar.op, self, 2)

    def polygamma_(self, n: Any) -> Any:
        """The `n`-th derivative of the digamma function, in place."""
        must_be(int, "polygamma_", "n", n, 1)
        special.refuse_complex_polygamma(n, self)
        return in_place(special.polygamma_of.op, self, n)


class Rounding(TensorBase):
    """Rounding, parts of numbers, and what kind of number an element is."""

    __slots__ = ()

    @public("function")
    def round_(self, *, decimals: Any = None) -> Any:
        """Each element rounded, in place; see `round`."""
        if decimals is None:
            return in_place(rounding.round_whole.op, self)
        return in_place(rounding.round_decimals.op, self, decimals)
