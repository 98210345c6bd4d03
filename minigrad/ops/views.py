"""Views that show some elements, or the same elements in another order: diagonals, windows, complex parts.

The in-place forms, which turn a tensor itself (`t_()`, `unsqueeze_()`, …), have nodes of their own. They are
declared here; `inplace.in_place_view` runs them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import F, calls, differentiable
from ..core.dtypes import of
from ..core.storage import address, root
from . import indexing, shape
from .kernels import linear_op, view_op
from .reduction import over
from .shape import place


def diagonal_of(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return the diagonal as a writable array on the same memory."""
    first, second = place(dim1, self.ndim), place(dim2, self.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, columns = self.shape[first], self.shape[second]
    n = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    cut: list[Any] = [np.s_[:]] * self.ndim
    if n:
        cut[first], cut[second] = np.s_[max(0, -offset) :], np.s_[max(0, offset) :]
    part = np.moveaxis(self[tuple(cut)], (first, second), (-2, -1))
    step = part.strides[-2] + part.strides[-1]
    return as_strided(part, (*part.shape[:-2], n), (*part.strides[:-2], step))


diagonal_vjp = calls("diagonal_backward", "self_sym_sizes", "offset", "dim1", "dim2")


@view_op(self=diagonal_vjp, kernel=diagonal_of, forms="function method", out="")
def diagonal(self, offset=0, dim1=0, dim2=1):
    """Return the elements whose index in `dim2` is that in `dim1` plus `offset`, along a new last
    dimension.
    """


@linear_op(self=diagonal_vjp, node="DiagonalBackward0_copy")
def diagonal_copy(self, offset=0, dim1=0, dim2=1):
    """Return a copy of `diagonal`, which is what `diag` gives of a matrix."""
    return diagonal_of(self, offset, dim1, dim2).copy()


@linear_op(grad_output=calls("diagonal", "offset", "dim1", "dim2"))
def diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    """Return zeros of shape `input_sizes` with `grad_output` on the diagonal."""
    out = np.zeros(input_sizes, grad_output.dtype)
    diagonal_of(out, offset, dim1, dim2)[...] = grad_output
    return out


@linear_op(self=calls("diagonal", "offset", "dim1", "dim2"), forms="function method", out="")
def diag_embed(self, offset=0, dim1=-2, dim2=-1):
    """Return matrices with the last dimension on their diagonal and zeros elsewhere."""
    n = self.ndim + 1
    first, second = place(dim1, n), place(dim2, n)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = self.shape[-1] + abs(offset)
    rest = iter(self.shape[:-1])
    out = np.zeros([size if d in (first, second) else next(rest) for d in range(n)], self.dtype)
    diagonal_of(out, offset, dim1, dim2)[...] = self
    return out


def windows(self: Any, dimension: int, size: int, step: int) -> Any:
    """All windows along a dimension as a writable array on the same memory."""
    dim = place(dimension, self.ndim)
    length = self.shape[dim] if self.ndim else 1
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if not self.ndim:
        return as_strided(self, (size,), (self.itemsize,))
    shape, strides = list(self.shape), list(self.strides)
    shape[dim] = (length - size) // step + 1
    strides[dim] *= step
    return as_strided(self, (*shape, size), (*strides, self.strides[dim]))


@view_op(self=calls("unfold_backward", "self_sym_sizes", "dimension", "size", "step"), kernel=windows)
def unfold(self, dimension, size, step):
    """Return all windows of `size` along `dimension`, `step` apart, their elements along a new last
    dimension.
    """


@linear_op(grad_in=calls("unfold", "dim", "size", "step"))
def unfold_backward(grad_in, input_sizes, dim, size, step):
    """Return zeros of shape `input_sizes` to which every window of `grad_in` is added in its place."""
    out = np.zeros(input_sizes, grad_in.dtype)
    np.add.at(windows(out, dim, size, step), (), grad_in)
    return out


def unsqueezed(g: Any, dims: Any, sizes: tuple[int, ...]) -> Any:
    """Return the gradient of a squeeze: those of `dims` put back that were taken away."""
    for d in sorted(d % len(sizes) for d in dims) if sizes else ():
        if sizes[d] == 1:
            g = F.unsqueeze(g, d)
    return g


@view_op(self=lambda g, self_sym_sizes, dim: unsqueezed(g, dim, self_sym_sizes), node="SqueezeBackward2")
def squeeze_dims(self, dim):
    """Those of several dimensions taken away whose size is 1."""
    return np.squeeze(self, tuple(d for d in over(dim, self.ndim) if self.shape[d] == 1) if dim else ())


def parts_of_complex(self: np.ndarray) -> np.ndarray:
    """Return a complex array as a real one with a last dimension of 2."""
    real = of(np.empty(0, self.dtype.type(0).real.dtype)).numpy
    shape, strides = (*self.shape, 2), (*self.strides, real.itemsize)
    return as_strided(self[..., None][..., :1].view(real), shape, strides)


def complex_of_parts(self: np.ndarray) -> np.ndarray:
    """Return a real array whose last dimension is 2 as a complex one; RuntimeError in PyTorch's words."""
    kind = {"float16": None, "float32": np.complex64, "float64": np.complex128}.get(self.dtype.name)
    if kind is None:
        raise RuntimeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            f"scalar type: {of(self).title}"
        )
    if self.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if not self.size:
        return np.empty(self.shape[:-1], kind)
    if self.strides[-1] != self.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s // self.itemsize % 2 for s, n in zip(self.strides[:-1], self.shape) if n):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if (address(self) - address(root(self))) % (2 * self.itemsize):
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return self.view(kind)[..., 0]


@view_op(
    self=lambda g, self_sym_sizes, dim: unsqueezed(g, (dim,), self_sym_sizes),
    node="SqueezeBackward1",
)
def squeeze_dim(self, dim):
    """Dimension `dim` taken away if its size is 1."""
    dim = place(dim, self.ndim)
    return self.squeeze(dim) if self.ndim and self.shape[dim] == 1 else np.asarray(self)


@linear_op(self=lambda g, self_sym_sizes, dim: unsqueezed(g, (dim,), self_sym_sizes), node="SqueezeBackward4")
def squeeze_result(self, dim):
    """Return `squeeze_dim` in place."""
    return squeeze_dim.op.kernel(self, dim)


@view_op(
    self=lambda g, self_sym_sizes: unsqueezed(g, range(len(self_sym_sizes)), self_sym_sizes),
    node="SqueezeBackward0",
)
def squeeze_all(self):
    """Return all dimensions of size 1 taken away."""
    return np.squeeze(self)


@view_op(self=lambda g: g, jvp=lambda self_t: self_t)
def alias(self):
    """Return the same tensor once more: `t[...]`."""
    return self[...] if isinstance(self, np.ndarray) else self


@differentiable(self=lambda g: g, node="Identity", view=True)
def fw_primal(self):
    """Return the same tensor without its tangent: what `forward_ad.unpack_dual` gives as primal."""
    return self[...] if isinstance(self, np.ndarray) else self


def in_place_form(name: str, call: Any, node: str, kernel: Any = None) -> Any:
    """Return the in-place form of a view op, with a node of its own."""
    op = call.op
    return view_op(name=name, node=node, kernel=kernel or op.kernel, **op.vjps)(call.__wrapped__).op


def transposed(self: Any) -> Any:
    """Return a matrix transposed; the error names the op in place."""
    if self.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


t_ = in_place_form("t_", shape.t, "TBackward1", transposed)
transpose_ = in_place_form("transpose_", shape.transpose, "TransposeBackward1")
unsqueeze_ = in_place_form("unsqueeze_", shape.unsqueeze, "UnsqueezeBackward1")
squeeze_ = in_place_form("squeeze_", squeeze_all, "SqueezeBackward3")
squeeze_dim_ = squeeze_result.op
squeeze_dims_ = in_place_form("squeeze_dims_", squeeze_dims, "SqueezeBackward5")
as_strided_ = in_place_form("as_strided_", indexing.as_strided, "AsStridedBackward1")
