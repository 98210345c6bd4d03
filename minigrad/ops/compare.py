"""Comparisons in place, whose results are numbers of the tensor's own dtype, nearness and membership."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import RAW, F, check_broadcast, differentiable
from ..core.dtypes import get_default_dtype, of, of_number
from .pointwise import no_order


def zeros(g: Any) -> Any:
    """No gradient."""
    return F.zeros_like(g)


def in_place_of(name: str) -> tuple[Any, Any]:
    """The in-place ops of a comparison, with a number and with a tensor: nothing comes back through them."""
    compare = getattr(F, name).op

    def compared(self: Any, other: Any) -> Any:
        kinds = [of(self), of(other) if isinstance(other, RAW) else of_number(other)]
        if name not in ("eq", "ne"):
            no_order(name)(kinds)
        check_broadcast(self.shape, np.shape(other))
        return compare.kernel(self, other).astype(self.dtype)[()]

    def by_number(self, other):
        return compared(self, other)

    def by_tensor(self, other):
        return compared(self, other)

    made = []
    for function, number, inputs in ((by_number, "0", ("self",)), (by_tensor, "1", ("self", "other"))):
        function.__name__, function.__doc__ = f"{name}_{function.__name__}_", f"`{name}`, in place."
        vjps: dict[str, Any] = dict.fromkeys(inputs, zeros)
        declare = differentiable(
            node=f"{name.capitalize()}Backward{number}",
            jvp=lambda self_t, result: F.zeros_like(result),
            elementwise=True,
            forms="",
            promotes=False,
            **vjps,
        )
        made.append(declare(function))
    return made[0], made[1]


IN_PLACE = {name: in_place_of(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}


@differentiable()
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether elements differ by at most `atol + rtol · |other|`; infinities if they are equal, NaNs
    if `equal_nan`.
    """
    check_broadcast(self.shape, other.shape)
    close = self == other
    if equal_nan and self.dtype.kind in "fc":
        close = close | (np.isnan(self) & np.isnan(other))
    if not rtol and not atol:
        return close
    if self.dtype.kind in "biu":
        kind = get_default_dtype().numpy
        self, other = self.astype(kind), other.astype(kind)
    far = np.abs(self - other)
    return close | (np.isfinite(far) & (far <= atol + np.abs(rtol * other)))


@differentiable()
def isin(elements, test_elements, invert=False):
    """Return whether each element is among `test_elements`; with `invert` whether it is not."""
    return np.isin(elements, test_elements, invert=invert)[()]
