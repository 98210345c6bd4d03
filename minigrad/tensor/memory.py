"""Whose memory a tensor shows, and ops in place that turn the tensor itself and leave the numbers."""

from __future__ import annotations

from typing import Any

from ..inplace import in_place_view
from ..ops import views_in_place as forms
from ..tensor_base import TensorBase
from . import views
from .parts import is_whole


class Memory(TensorBase):
    """Views and their bases; `t_()`, `unsqueeze_()`, … which change how a tensor shows its memory.

    The latter count as changes of the memory, although no number changes, and neither the base of a view nor
    its other views follow.
    """

    __slots__ = ()

    @property
    def _base(self) -> Any:
        """The tensor of which this is a view, None if it is none."""
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        """Whether an op made this tensor as a view of another."""
        return self._view is not None

    def is_inference(self) -> bool:
        """Whether this tensor was made in inference mode: it is outside any graph for good."""
        return self._inference

    def t_(self) -> Any:
        """`self = self.t()`."""
        return in_place_view(forms.t_, self)

    def transpose_(self, dim0: int, dim1: int) -> Any:
        """`self = self.transpose(dim0, dim1)`."""
        return in_place_view(forms.transpose_, self, dim0, dim1)

    swapdims_ = transpose_

    def swapaxes_(self, axis0: int, axis1: int) -> Any:
        """`self = self.swapaxes(axis0, axis1)`."""
        return in_place_view(forms.transpose_, self, axis0, axis1)

    def unsqueeze_(self, dim: int) -> Any:
        """`self = self.unsqueeze(dim)`."""
        return in_place_view(forms.unsqueeze_, self, dim)

    def squeeze_(self, dim: Any = None) -> Any:
        """`self = self.squeeze(dim)`."""
        if dim is None:
            return in_place_view(forms.squeeze_, self)
        return in_place_view(
            *((forms.squeeze_dim_, self, dim) if is_whole(dim) else (forms.squeeze_dims_, self, tuple(dim)))
        )

    def as_strided_(self, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
        """`self = self.as_strided(size, stride, storage_offset)`."""
        return in_place_view(
            forms.as_strided_, self, *views.strided_place(self, size, stride, storage_offset)
        )
