"""Transposes as attributes. They warn about the line that asks for them, so they cannot be `Late`."""

from __future__ import annotations

from typing import Any

from ..core import F, dialect
from ..core.tensor_state import TensorBase
from ..ops import shape as sh
from . import views

T_IS_DEPRECATED = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
    "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*"
    "torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
)


class Transposed(TensorBase):
    """`T mT H mH`."""

    __slots__ = ()

    @property
    def T(self) -> Any:
        """All dimensions in reverse order."""
        n = self._data.ndim
        if n == 0:
            text = "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases."
            dialect.warn(text, stacklevel=2)
        elif n != 2:
            dialect.warn(T_IS_DEPRECATED, stacklevel=2)
        return sh.permute(self, tuple(reversed(range(n))))

    @property
    def mT(self) -> Any:
        """The last two dimensions exchanged."""
        return sh.transpose(self, -2, -1) if views.matrices(self, "mT") else self

    @property
    def H(self) -> Any:
        """A matrix transposed and conjugated."""
        n = self._data.ndim
        if n == 1 or n > 2:
            more = " For batches of matrices, consider using tensor.mH" if n > 2 else ""
            raise RuntimeError(
                f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{more}"
            )
        if n == 0:
            dialect.warn("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().", stacklevel=2)
        return F.conj(sh.transpose(self, -2, -1) if n else self)

    @property
    def mH(self) -> Any:
        """The last two dimensions exchanged, and conjugated."""
        return F.conj(sh.transpose(self, -2, -1) if views.matrices(self, "mH") else self)
