"""In-place forms of view ops, which turn a tensor itself: `t_()`, `unsqueeze_()`, … Each has its own node.

They are only declared here; `inplace.in_place_view` runs them.
"""

from __future__ import annotations

from typing import Any

from ..core import differentiable
from ..core.op import OPS
from . import indexing, shape, views


def in_place_form(call: Any, node: str, kernel: Any = None) -> Any:
    """Return the in-place form of a view op, under the name of its own node."""
    op = call.op

    def declare(function: Any) -> Any:
        run = kernel or op.kernel
        return differentiable(node=node, kernel=run, view=True, linear=True, **op.vjps)(function).op

    return declare


def transposed(self: Any) -> Any:
    """Return a matrix transposed; the error names the op in place."""
    if self.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


@in_place_form(shape.t, "TBackward1", transposed)
def t_(self):
    """A matrix transposed."""


@in_place_form(shape.transpose, "TransposeBackward1")
def transpose_(self, dim0, dim1):
    """Two dimensions exchanged."""


@in_place_form(shape.unsqueeze, "UnsqueezeBackward1")
def unsqueeze_(self, dim):
    """A dimension of size 1 put in."""


@in_place_form(views.squeeze_all, "SqueezeBackward3")
def squeeze_(self):
    """All dimensions of size 1 taken away."""


@in_place_form(views.squeeze_dims, "SqueezeBackward5")
def squeeze_dims_(self, dim):
    """Those of several dimensions taken away whose size is 1."""


@in_place_form(indexing.as_strided, "AsStridedBackward1")
def as_strided_(self, size, stride, storage_offset):
    """A part of the memory."""


squeeze_dim_ = OPS["SqueezeBackward4"]
