"""The methods of complex tensors."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..core.public import public
from ..core.tensor_state import CONJUGATE, NEGATIVE, TensorBase
from ..inplace.in_place import in_place


def put(part: Any, value: Any) -> None:
    """Write a tensor or a number into a view."""
    part.copy_(value) if isinstance(value, TensorBase) else part.fill_(value)


class Complexes(TensorBase):
    """Conjugates, parts, absolute value and angle."""

    __slots__ = ()

    @public("function")
    def is_complex(self) -> bool:
        """Return whether the elements are complex numbers."""
        return self._data.dtype.kind == "c"

    @public("function")
    def is_floating_point(self) -> bool:
        """Return whether the elements are floating-point numbers."""
        return self._data.dtype.kind == "f"

    @public("function")
    def is_conj(self) -> bool:
        """Return whether this is a view of which the numbers are conjugates of those in its memory."""
        return bool(self._bits & CONJUGATE)

    @public("function")
    def is_neg(self) -> bool:
        """Return whether this is a view of which the numbers are negatives of those in its memory."""
        return bool(self._bits & NEGATIVE)

    @public("function")
    def conj_physical_(self) -> Any:
        """`self = self.conj()`; a tensor of real numbers as it is."""
        return in_place(F.physical_conjugate.op, self) if self._data.dtype.kind == "c" else self

    @property
    def real(self) -> Any:
        """The real part, as a view; a tensor of real numbers itself."""
        return F.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        put(F.real(self), value)

    @property
    def imag(self) -> Any:
        """The imaginary part, as a view; RuntimeError for real numbers."""
        return F.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        put(F.imag(self), value)
