"""Copies, casts to other dtypes, and numbers written over others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import RAW, F, check_broadcast, differentiable, is_symbol, zeros
from ..core.devices import unfilled_like


@differentiable(self=lambda g: g, linear=True, forms="function", out="")
def clone(self, order="K"):
    """Return a copy that lies in memory as the tensor does, without gaps; `order="C"`: in row-major order."""
    if not isinstance(self, np.ndarray):
        return self
    repeats = 0 in self.strides  # NumPy's order for what `expand` repeats is its own
    return self.copy("C" if repeats else order)


@differentiable(
    self=zeros,
    src=lambda g, src_scalar_type: cast_back(g, src_scalar_type),
    node="CopyBackwards",
    elementwise=True,
    promotes=False,
    forms="",
)
def copy(self, src):
    """`src` in the shape and dtype of `self`; in place it is `copy_`."""
    if src.shape == self.shape:
        return src.astype(self.dtype)[()]
    check_broadcast(self.shape, src.shape)
    together = np.broadcast_shapes(self.shape, src.shape)
    if together != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(together)}"
        )
    return np.broadcast_to(src, self.shape).astype(self.dtype)[()]


def cast_back(g: Any, dtype: Any) -> Any:
    """Return a gradient in the dtype of the input: of a complex one its real part where that is real."""
    if is_symbol(g):
        if np.iscomplexobj(g.value) and np.dtype(dtype).kind == "f":
            raise TypeError("a symbol has no real part")
        return g
    if dtype.kind == "f" and kind_of(g).kind == "c":
        g = F.real(g)
    return g if kind_of(g) == dtype else F.to(g, dtype)


def kind_of(g: Any) -> Any:
    """Return the NumPy dtype of an array or tensor."""
    return (g if isinstance(g, RAW) else g._data).dtype


@differentiable(
    self=lambda g, self_scalar_type: cast_back(g, self_scalar_type), node="ToCopyBackward0", linear=True
)
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


@differentiable()
def zeros_like(self):
    """Return zeros of the same shape and dtype."""
    return unfilled_like(self, self.dtype)[()]


@differentiable()
def ones_like(self):
    """Return ones of the same shape and dtype."""
    ones = unfilled_like(self, self.dtype)
    ones[...] = 1
    return ones[()]


C_NAMES = {
    "float16": "c10::Half", "float32": "float", "float64": "double", "int8": "int8_t", "int16": "int16_t",
    "int32": "int", "int64": "int64_t", "uint8": "uint8_t",
}  # fmt: skip


def fitting(value: Any, dtype: Any) -> Any:
    """A number for arrays of `dtype`; RuntimeError with PyTorch's text for a complex one without a place."""
    if not isinstance(value, complex) or dtype.kind in "cb":
        return value
    if value.imag:
        raise RuntimeError(f"value cannot be converted to type {C_NAMES[dtype.name]} without overflow")
    return value.real


@differentiable(self=zeros, node="FillBackward2", elementwise=True, promotes=False, forms="")
def fill(self, value):
    """Return `value` in every element."""
    return np.full_like(self, fitting(value, self.dtype))


@differentiable(
    self=lambda g: F.zeros_like(g),  # not `zeros`: a tangent of `self` alone gives zeros
    value=lambda g: F.sum_all(g),
    node="FillBackward3",
    elementwise=True,
    linear=True,
    promotes=False,
    forms="",
)
def fill_tensor(self, value):
    """Return the one number of a 0-dim tensor in every element."""
    if value.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
        )
    return np.full_like(self, value)


@differentiable(self=zeros, elementwise=True, forms="")
def zero(self):
    """Return 0 in every element."""
    return np.zeros(self.shape, self.dtype)
