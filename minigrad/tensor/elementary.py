"""`prelu`, and methods of functions of one element."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..inplace.in_place import in_place
from ..ops import pointwise, special
from ..ops.checks import must_be


@public()
def prelu(input: Any, weight: Any) -> Any:
    """Return x where x > 0, else `weight · x`: one weight, or one for each channel (dimension 1)."""
    if input._data.dtype != weight._data.dtype:
        kinds = f"{input.dtype.title} and {weight.dtype.title}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {kinds}")
    count, ndim = weight.numel(), input.ndim
    if count != 1:
        if ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if ndim > 1 else 1
        if channels != count:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} "
                f"and channel size = {channels}."
            )
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if ndim != weight.ndim:
        weight = weight.reshape([count if d == 1 else 1 for d in range(ndim)])
    return F._prelu_kernel(input, weight)


class Elementary(TensorBase):
    """Circular, hyperbolic, exponential and special functions."""

    __slots__ = ()

    def polygamma(self, n: Any) -> Any:
        """Return the `n`-th derivative of the digamma function; RuntimeError for a negative `n`."""
        return special.polygamma(n, self)

    @public("function")
    def abs_(self) -> Any:
        """Absolute value of each element, in place; RuntimeError for complex numbers."""
        if self._data.dtype.kind == "c":
            raise RuntimeError("In-place abs is not supported for complex tensors.")
        return in_place(pointwise.abs.op, self)

    absolute_ = abs_

    def polygamma_(self, n: Any) -> Any:
        """Return the `n`-th derivative of the digamma function, in place."""
        must_be(int, "polygamma_", "n", n, 1)
        special.refuse_complex_polygamma(n, self)
        return in_place(special.polygamma_of.op, self, n)
