"""Shapes: views and copies that show the same numbers in another shape or order of dimensions."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import RAW, F, composite, is_symbol, itself
from ..core.devices import contiguous_format
from ..core.dtypes import of
from ..core.guards import dimension_error
from ..core.operands import sum_to as sum_to_array
from ..core.public import public
from .kernels import linear_op, view_op


def infer(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """`shape` with -1 filled in for `size` elements; RuntimeError (PyTorch's text) where it does not fit."""
    if math.prod(shape) == size and (not shape or min(shape) >= 0):
        return shape
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if shape and min(shape) < -1:
        wrong = next(i for i, n in enumerate(shape) if n < -1)
        raise RuntimeError(f"invalid shape dimension {shape[wrong]} at index {wrong} of shape {list(shape)}")
    known = abs(math.prod(shape))  # of the others, if one is -1
    if -1 in shape and known and size % known == 0:
        return tuple(size // known if n == -1 else n for n in shape)
    if known != size or -1 in shape:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")
    return shape


def view_of(self: Any, shape: tuple[int, ...]) -> Any:
    """`self` in another shape on the same memory; None where that needs a copy."""
    result = self.reshape(shape)
    if self.flags.c_contiguous or not result.size or np.may_share_memory(result, self):
        return result
    return None


def reshaped_rows(g: Any, self_sym_sizes: tuple[int, ...]) -> Any:
    """Rows of the shape `self_sym_sizes`."""
    return g.reshape(len(g), *self_sym_sizes)


def show_sizes(call: Any, name: str, *dims: int) -> None:
    """Let the nodes of an op show the sizes of an input along `dims` one by one, as PyTorch's do."""
    node, sizes = call.op.node, operator.attrgetter(f"_raw_{name}_sym_sizes")
    delattr(node, f"_saved_{name}_sym_sizes")
    for dim in dims:
        shown = f"_saved_{name}_sym_argsize_" + (f"{dim}" if dim >= 0 else f"minus_{-dim}")
        setattr(node, shown, property(partial(size_along, dim, sizes)))


def size_along(dim: int, sizes: Any, node: Any) -> int:
    """Return the size along a dimension of what a node saved."""
    return sizes(node)[dim]


def after_rows(dim: int) -> int:
    """The number of a dimension after one more was put in front of all."""
    return dim + 1 if dim >= 0 else dim


@view_op(self=lambda g, self_sym_sizes: F.reshape(g, self_sym_sizes), rows={"self": reshaped_rows})
def view(self, size):
    """Return the same memory in another shape; RuntimeError where that needs a copy."""
    result = view_of(self, infer(tuple(size), self.size))
    if result is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two contiguous subspaces). Use .reshape(...) instead."
        )
    return result


@view_op(self=lambda g, self_sym_sizes: F.reshape(g, self_sym_sizes))
def reshape_alias(self, size):
    """Return a view of a tensor that is not contiguous: what `reshape` leaves when it can."""
    return view_of(self, size)


@linear_op(self=lambda g, self_sym_sizes: F.reshape(g, self_sym_sizes))
def unsafe_view(self, size):
    """Return the memory of a result that nobody else sees, in another shape."""
    return self.reshape(size)


@public("function")
@composite
def reshape(input: Any, shape: tuple[int, ...]) -> Any:
    """Return the elements in another shape: a view where that is possible, else a copy.

    Args:
        input: a tensor of any shape.
        shape: the new sizes; one of them may be -1 and is computed from the others.
    Shape: `shape`.
    Returns: a view or a new tensor.
    Raises: RuntimeError if `shape` does not hold the same number of elements.
    Derivative: `g` in the shape of `input`.
    Source: torch.reshape

    >>> torch.reshape(torch.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    if isinstance(input, RAW):
        return input.reshape(infer(tuple(shape), input.size))
    if is_symbol(input):
        return input.__minigrad_symbol__(reshape, (input, shape))
    data = input._data
    if data.ndim == 0 or data.flags.c_contiguous:
        return F.view(input, shape)
    sizes = infer(tuple(shape), data.size)
    return (
        F.unsafe_view(F.clone(input, contiguous_format), sizes)
        if view_of(data, sizes) is None
        else F.reshape_alias(input, sizes)
    )


@view_op(self=lambda g, self_sym_sizes: F.sum_to(g, self_sym_sizes))
def expand(self, size):
    """Repeat along new or one-element dimensions without copying; -1 keeps a dimension."""
    size = tuple(size)
    if size == self.shape:
        return self
    if self.ndim == 0 and size and min(size) >= 0:
        return stretch(self, size, (0,) * len(size))  # the gradient of a sum
    lead = len(size) - self.ndim
    own = (*(None,) * lead, *self.shape)
    check_expanded(self, size, own)
    shape = tuple([m if n == -1 else n for n, m in zip(size, own)])
    strides = (*(0,) * lead, *(0 if m == 1 else s for m, s in zip(self.shape, self.strides)))
    return self if shape == self.shape else stretch(self, shape, strides)


def check_expanded(self: Any, size: tuple[int, ...], own: tuple[int | None, ...]) -> None:
    """RuntimeError with PyTorch's text unless `self` expands to `size`; `own` has None for new dimensions."""
    if len(size) < self.ndim:
        raise RuntimeError(
            f"expand({of(self).type_name}{{{list(self.shape)}}}, size={list(size)}): the number of "
            f"sizes provided ({len(size)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({self.ndim})"
        )
    for i, (n, m) in reversed([*enumerate(zip(size, own))]):
        if m is None and n < 0:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension "
                f"{i}"
            )
        if m not in (None, 1, n) and n != -1:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({m}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(self.shape)}"
            )


def stretch(self: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The memory of `self` seen with other strides, some of them 0. NumPy's `broadcast_to` would forbid
    `zero_()`, and `as_strided` takes four times as long.
    """
    array = np.asarray(self)
    if not array.flags.c_contiguous:
        return as_strided(array, shape, strides)
    return np.ndarray(shape, array.dtype, array, 0, strides)


@composite
def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum over the dimensions along which `shape` was broadcast, in the ops PyTorch uses."""
    if isinstance(g, RAW):
        return sum_to_array(g, tuple(shape))
    if is_symbol(g):
        return g.__minigrad_symbol__(sum_to, (g, shape))
    shape = tuple(shape)
    if not shape:
        return F.sum_all(g)
    lead = len(g.shape) - len(shape)
    dims = tuple(i for i in range(len(g.shape)) if i < lead or (shape[i - lead] == 1 != g.shape[i]))
    if dims:
        g = F.sum_dim(g, dims, True)
    return F.view(g, shape) if lead else g


@composite
def contiguous(self: Any) -> Any:
    """Return the same numbers in row-major order: a copy where they are not."""
    return np.ascontiguousarray(self).reshape(self.shape) if isinstance(self, RAW) else self.contiguous()


def inverse(dims: tuple[int, ...]) -> tuple[int, ...]:
    """Return the order of dimensions that undoes `dims`."""
    return tuple(np.argsort([d % len(dims) for d in dims]).tolist())


@view_op(self=lambda g, dims: F.permute(g, inverse(dims)), forms="function", out="")
def permute(self, dims):
    """Return the dimensions in another order."""
    if len(dims) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
            f"the desired ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = "
            f"{len(dims)}"
        )
    front = tuple(place(d, self.ndim) for d in dims)
    if len(set(front)) < len(front):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return np.transpose(self, front)


@view_op(self=itself, forms="function method", out="")
def t(self):
    """Return the transposed matrix; a vector or a scalar is returned as it is.

    Args:
        input: a tensor of at most two dimensions.
    Shape: (n, m) → (m, n).
    Returns: a view: it shares its memory with `input`.
    Raises: RuntimeError for more than two dimensions.
    Derivative: `g.t()`.
    Source: torch.t

    >>> torch.t(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
    """
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


@view_op(self=itself, forms="function method", out="", also="swapdims")
def transpose(self, dim0, dim1):
    """Return the tensor with two dimensions exchanged.

    Args:
        input: a tensor of any shape.
        dim0, dim1: the two dimensions.
    Shape: that of `input` with these two sizes exchanged.
    Returns: a view: it shares its memory with `input`.
    Raises: IndexError if there is no such dimension.
    Derivative: `g.transpose(dim0, dim1)`.
    Source: torch.transpose

    >>> torch.transpose(torch.ones(2, 3), 0, 1).shape
    torch.Size([3, 2])
    """
    dim0, dim1 = place(dim0, self.ndim), place(dim1, self.ndim)
    return self.swapaxes(dim0, dim1) if self.ndim else np.asarray(self)


@view_op(
    self=lambda g, dim: F.squeeze_dim(g, dim),
    forms="function method",
    out="",
)
def unsqueeze(self, dim):
    """Return the tensor with a new dimension of size 1.

    Args:
        input: a tensor of any shape.
        dim: the position of the new dimension.
    Shape: that of `input` with a 1 at `dim`.
    Returns: a view: it shares its memory with `input`.
    Raises: IndexError if `dim` is out of range.
    Derivative: `g.squeeze(dim)`.
    Source: torch.unsqueeze

    >>> torch.unsqueeze(torch.tensor([1, 2]), 1)
    tensor([[1],
            [2]])
    """
    at, shape = place(dim, self.ndim + 1), self.shape
    return self.reshape((*shape[:at], 1, *shape[at:]))


def place(dim: int, ndim: int) -> int:
    """`dim` counted from the front; IndexError with PyTorch's text if it is out of range."""
    limit = ndim or 1
    if not -limit <= dim < limit:
        raise dimension_error(dim, ndim)
    return dim % limit
