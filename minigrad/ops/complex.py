"""Complex numbers: conjugates, parts, absolute value and angle.

`conj` does not touch the memory: its result is a view that knows that its numbers are conjugates
(`TensorBase._bits`), which whatever reads them then makes (`tensor_state.numbers`); so is the imaginary part
of such a view, of which the numbers are negatives.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..core import F, composite, differentiable, is_symbol, rename
from ..core.dtypes import dtype
from ..core.op import RAW
from ..core.public import public
from ..core.tensor_state import CONJUGATE, NEGATIVE
from .kernels import view_op
from .views import complex_of_parts, parts_of_complex


def is_complex(x: Any) -> bool:
    """Return whether an array or tensor holds complex numbers."""
    return (x if isinstance(x, RAW) else x._data).dtype.kind == "c"


# ── views
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@view_op(self=lambda g: F.conj(g), node="ConjBackward0", kernel=np.conjugate, bit=CONJUGATE)
def conj_view(self):
    """Return the conjugates, as a view."""


@public()
@composite
def conj(self: Any) -> Any:
    """Return the conjugate of each element, as a view; a tensor of real numbers as it is."""
    if is_symbol(self):
        return F.conj_view(self)
    if not is_complex(self):
        return self
    return np.conjugate(self) if isinstance(self, RAW) else F.conj_view(self)


@view_op(self=lambda g: F.neg(g), kernel=np.negative, bit=NEGATIVE)
def neg_view(self):
    """Return the negatives, as a view."""


@view_op(
    self=lambda g: F.view_as_complex(F.contiguous(g)), node="ViewAsRealBackward0", kernel=parts_of_complex
)
def real_view(self):
    """Return the real and imaginary part along a new last dimension of 2."""


@public("function")
@composite
def view_as_real(self: Any) -> Any:
    """Return the real and imaginary part along a new last dimension of 2, as a view."""
    if isinstance(self, RAW):
        return parts_of_complex(np.asarray(self))
    if not is_complex(self):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if self._bits & CONJUGATE:
        raise RuntimeError("view_as_real doesn't work on unresolved conjugated tensors: use resolve_conj()")
    return F.real_view(self)


@view_op(
    self=lambda g: F.view_as_real(F.resolve_conj(F.contiguous(g))),
    kernel=complex_of_parts,
    forms="function",
    out="",
)
def view_as_complex(self):
    """Return complex numbers from the pairs along the last dimension."""


def part(self: Any, index: int) -> Any:
    """Return the real (0) or imaginary (1) part of a complex tensor, as a view."""
    conjugated = self._bits & CONJUGATE
    pairs = F.real_view(F.conj_view(self) if conjugated else self)
    if conjugated and index:
        pairs = F.neg_view(pairs)
    return F.select(pairs, pairs._data.ndim - 1, index)


@public("function")
@composite
def real(self: Any) -> Any:
    """Return the real part, as a view; a tensor of real numbers as it is."""
    if isinstance(self, RAW):
        return self.real
    return part(self, 0) if is_complex(self) else self


@public("function")
@composite
def imag(self: Any) -> Any:
    """Return the imaginary part, as a view; RuntimeError for real numbers."""
    if isinstance(self, RAW):
        return self.imag
    if not is_complex(self):
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return part(self, 1)


@public()
@composite
def resolve_conj(self: Any) -> Any:
    """Return the tensor itself, or if it is a view of conjugates, a copy that holds them."""
    return F.clone(self) if not isinstance(self, RAW) and self._bits & CONJUGATE else self


@public()
@composite
def resolve_neg(self: Any) -> Any:
    """Return the tensor itself, or if it is a view of negatives, a copy that holds them."""
    return F.clone(self) if not isinstance(self, RAW) and self._bits & NEGATIVE else self


# ── angles
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def complex_angle_vjp(g, self):
    """`i g z / |z|²`, and 0 at 0."""
    square = F.pow_scalar(F.abs(self), 2)
    slope = F.mul_scalar(g * self / square, 1j)
    return F.where(F.eq(self, 0.0), F.zero_of(self), slope)


@composite
def zero_of(self: Any) -> Any:
    """Return a 0 of the dtype of `self`."""
    return F.zeros_of(self, ())


@differentiable(
    self=lambda g, self: F.zeros_like(g),
    complexes={"self": complex_angle_vjp},
    elementwise=True,
    floating=True,
    forms="function method",
)
def angle(self):
    """Return the angle of each complex number in the plane, in radians; of a real one 0 or π, NaN if it is
    NaN.
    """
    if self.dtype.kind == "c":
        return np.angle(self)
    return np.where(np.isnan(self), self, np.where(self < 0, np.pi, 0)).astype(self.dtype)[()]


# ── from real numbers
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def two_of_a_kind(kinds: list[dtype]) -> None:
    """RuntimeError with PyTorch's text unless both are floating point and of one dtype."""
    if any(k.category != 2 or k is not kinds[0] for k in kinds):
        told = f"{kinds[0].title} and {kinds[1].title}"
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {told}")


def complex_kind(real: Any) -> Any:
    """Return the complex dtype of the precision of `real`."""
    return np.complex128 if real.dtype == np.float64 else np.complex64


# Declares an op that makes complex numbers of two tensors of real ones.
of_parts = partial(
    differentiable, complexes=True, elementwise=True, check=two_of_a_kind, numbers=False, forms="function",
    out="same",
)  # fmt: skip


@of_parts(real=lambda g, real: F.real(g), imag=lambda g, imag: F.imag(g), linear=True)
def complex(real, imag):
    """Return `real + i · imag`."""
    kind = complex_kind(real)
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), kind)
    out.real, out.imag = real, imag
    return out[()]


@of_parts(
    abs=lambda g, result: F.real(F.conj(g) * F.sgn(result)),
    angle=lambda g, result: F.real(F.conj(g) * F.mul_scalar(result, 1j)),
)
def polar(abs, angle):
    """Return the complex number of this absolute value and angle (in radians)."""
    return (abs * np.cos(angle) + 1j * (abs * np.sin(angle))).astype(complex_kind(abs))[()]


# What users call these ops, beside the functions of that name which pass real numbers through.
rename(conj_view, "conj")
rename(real_view, "view_as_real")
