"""Copies, casts, fills, and elements chosen by a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import RAW, F, check_broadcast, devices, differentiable, dtypes, is_symbol, zeros
from ..core.devices import contiguous_format, preserve_format, unfilled_like
from ..core.guards import check_same_dtype, check_written_shape, refuse
from ..core.public import public
from .arguments import fitting
from .kernels import elementwise, linear_op, picking


@linear_op(name="clone", self=lambda g: g)
def clone_op(self, memory_format=None):
    """Return a copy that lies in memory as the tensor does, without gaps, or as `memory_format` says."""
    if not isinstance(self, np.ndarray):
        return self
    if memory_format is None or memory_format is preserve_format:
        repeats = 0 in self.strides  # NumPy's order for what `expand` repeats is its own
        return self.copy("C" if repeats else "K")
    if memory_format is contiguous_format:
        return self.copy("C")
    made = unfilled_like(self, self.dtype, memory_format)
    made[...] = self
    return made


@public("function")
def clone(self: Any, *, memory_format: Any = None) -> Any:
    """Return a copy of the tensor, through which gradients flow.

    Args:
        input: a tensor of any shape.
        memory_format: the order of the memory; that of `input` if it is not given.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if `input` does not have the dimensions for `memory_format`.
    Derivative: `g`.
    Source: torch.clone

    >>> torch.clone(torch.tensor([1, 2]))
    tensor([1, 2])
    """
    if memory_format is not None and not isinstance(memory_format, devices.memory_format):
        kind = dtypes.kind_name(memory_format)
        raise TypeError(f"clone(): argument 'memory_format' must be torch.memory_format, not {kind}")
    return clone_op(self, memory_format)


@elementwise(
    self=zeros,
    src=lambda g, src_scalar_type: cast_back(g, src_scalar_type),
    node="CopyBackwards",
    promotes=False,
)
def copy(self, src):
    """`src` in the shape and dtype of `self`; in place it is `copy_`."""
    if src.shape == self.shape:
        return src.astype(self.dtype)[()]
    check_broadcast(self.shape, src.shape)
    together = np.broadcast_shapes(self.shape, src.shape)
    check_written_shape(self.shape, together)
    return np.broadcast_to(src, self.shape).astype(self.dtype)[()]


def cast_back(g: Any, dtype: Any) -> Any:
    """Return a gradient in the dtype of the input: of a complex one its real part where that is real."""
    if is_symbol(g):
        if np.iscomplexobj(g.value) and np.dtype(dtype).kind == "f":
            raise TypeError("a symbol has no real part")
        return g
    if dtype.kind == "f" and dtype_of_value(g).kind == "c":
        g = F.real(g)
    return g if dtype_of_value(g) == dtype else F.to(g, dtype)


def dtype_of_value(g: Any) -> Any:
    """Return the NumPy dtype of an array or tensor."""
    return (g if isinstance(g, RAW) else g._data).dtype


@linear_op(self=lambda g, self_scalar_type: cast_back(g, self_scalar_type), node="ToCopyBackward0")
def to(self, dtype, memory_format=None):
    """Return a copy in another dtype, in the order in memory that `devices.unfilled_like` knows by
    this name.
    """
    source = self.real if self.dtype.kind == "c" and np.dtype(dtype).kind not in "cb" else self
    if memory_format is None or not np.ndim(self):
        return source.astype(dtype)
    made = unfilled_like(source, dtype, memory_format)
    made[...] = source
    return made


@differentiable(name="zeros_like")
def zeros_like_op(self):
    """Return zeros of the same shape and dtype."""
    return unfilled_like(self, self.dtype)[()]


@differentiable()
def ones_like(self):
    """Return ones of the same shape and dtype."""
    ones = unfilled_like(self, self.dtype)
    ones[...] = 1
    return ones[()]


@elementwise(self=zeros, node="FillBackward2", promotes=False)
def fill(self, value):
    """Return `value` in every element."""
    return np.full_like(self, fitting(value, self.dtype))


@elementwise(
    self=lambda g: F.zeros_like(g),  # not `zeros`: a tangent of `self` alone gives zeros
    value=lambda g: F.sum_all(g),
    node="FillBackward3",
    linear=True,
    promotes=False,
)
def fill_tensor(self, value):
    """Return the one number of a 0-dim tensor in every element."""
    if value.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
        )
    return np.full_like(self, value)


# out of place; the nodes above are those in place
fill_new = elementwise(self=zeros, name="fill_new", node="FillBackward0", promotes=False)(fill.__wrapped__)
fill_new_tensor = elementwise(
    self=lambda g: F.zeros_like(g),
    value=lambda g: F.sum_all(g),
    name="fill_new_tensor",
    node="FillBackward1",
    linear=True,
    promotes=False,
)(fill_tensor.__wrapped__)


@elementwise(self=zeros)
def zero(self):
    """Return 0 in every element."""
    return np.zeros(self.shape, self.dtype)


@differentiable(
    self=lambda g, mask: F.masked_fill(g, mask, 0),
    jvp=lambda self_t, mask: F.masked_fill(self_t, mask, 0),
    broadcasts=True,
)
def masked_fill(self, mask, value):
    """Return `value` where `mask` holds, else `self`."""
    refuse(mask, "masked_fill_")
    check_broadcast(mask.shape, self.shape)
    return np.where(mask, self.dtype.type(fitting(value, self.dtype)), self)[()]


@linear_op(
    self=lambda g, mask: F.masked_fill(g, mask, 0),
    value=lambda g, mask: F.sum_all(F.masked_select(g, mask)),
    node="MaskedFillBackward1",
    broadcasts=True,
)
def masked_fill_tensor(self, mask, value):
    """Return the same with the one element of `value`, which gets a gradient too."""
    return masked_fill.op.kernel(self, mask, value.item())


def shape_together(self: Any, mask: Any) -> tuple[int, ...]:
    """Return the shape to which tensor and mask broadcast."""
    return np.broadcast_shapes(self.shape, mask.shape)


def together(mask: Any, self: Any) -> tuple[Any, Any]:
    """Mask and tensor, broadcast to each other."""
    check_broadcast(mask.shape, self.shape)
    shape = shape_together(self, mask)
    return np.broadcast_to(mask, shape), np.broadcast_to(self, shape)


@picking(
    self=lambda g, self, mask: F.into_zeros(g, shape_together(self, mask), "masked_scatter", mask, g),
    broadcasts=True,
)
def masked_select(self, mask):
    """Return the elements where `mask` holds, as a vector; both are broadcast."""
    refuse(mask, "masked_select")
    mask, self = together(mask, self)
    return self[mask]


@linear_op(
    self=lambda g, mask: F.masked_fill(g, mask, 0),
    source=lambda g, mask, source_sym_sizes: F.masked_scatter_backward(g, mask, source_sym_sizes),
    broadcasts=True,
    forms="function method method_",
    out="",
)
def masked_scatter(self, mask, source):
    """Return `self` with the elements of `source`, one after the other, where `mask` holds."""
    text = "masked_scatter: expected self and source to have same dtypes but got{0.title} and {1.title}"
    check_same_dtype(self, source, text)
    refuse(mask, "masked_scatter_")
    mask, self = together(mask, self)
    count = np.count_nonzero(mask)
    if source.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out = self.copy()
    out[mask] = source.reshape(-1)[:count]
    return out


def masked_scatter_twice(g, grad_output_info, mask):
    """Return the elements of `g` at the places where they were taken from."""
    return F.masked_scatter(F.zeros_of(g, grad_output_info), mask, g)


@linear_op(grad_output=masked_scatter_twice)
def masked_scatter_backward(grad_output, mask, sizes):
    """Return the elements of `grad_output` where `mask` holds, in a row, in zeros of shape `sizes`."""
    out = np.zeros(sizes, grad_output.dtype)
    chosen = grad_output[np.broadcast_to(mask, grad_output.shape)]
    out.reshape(-1)[: chosen.size] = chosen
    return out


@differentiable()
def nonzero(self):
    """Return the places of the elements that are not 0, a row of indices for each (int64)."""
    return np.argwhere(self)


@elementwise(
    self=lambda g, condition: F.where(condition, g, 0.0),
    other=lambda g, condition: F.where(condition, 0.0, g),
    linear=True,
)
def where(condition, self, other):
    """Return `self` where `condition` holds, else `other`."""
    out = np.where(condition, self, other)
    return out.astype(np.result_type(self, other), copy=False)[()]
