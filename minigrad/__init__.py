"""minigrad: automatic differentiation on NumPy with PyTorch's API and observable behaviour.

`import minigrad as torch` runs ordinary autograd code. `set_dialect("1.4" | "2")` chooses whose names are
printed.
"""

from __future__ import annotations

from typing import Any

from . import inplace, ops
from .dialect import get_dialect, set_dialect
from .dtypes import (
    bool_ as bool,
)
from .dtypes import (
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from .modes import is_grad_enabled, is_inference_mode_enabled
from .op import F as _F
from .ops.arithmetic import mul, neg, reciprocal
from .ops.complexes import (
    angle,
    conj,
    conj_physical,
    imag,
    polar,
    real,
    resolve_conj,
    resolve_neg,
    view_as_complex,
    view_as_real,
)
from .ops.complexes import complex_of as complex
from .ops.joining import cat, split_with_sizes, stack, unbind, unsafe_split, unsafe_split_with_sizes
from .ops.linalg import bmm, dot, mm, mv, vdot
from .ops.pointwise import abs, cos, exp, log, relu, sgn, sigmoid, sign, sin, sqrt, tanh
from .ops.shape import clone, permute, reshape, t, transpose, unsqueeze
from .ops.views import diag_embed, diagonal
from .printing import printoptions, set_printoptions
from .tensor import Size, Tensor
from .tensor.arithmetic import power as pow
from .tensor.parts import chunk, dsplit, hsplit, split, tensor_split, unsafe_chunk, vsplit
from .tensor.shapes import matmul
from .tensor.view_methods import positive, squeeze
from .tensor.views import (
    adjoint,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_tensors,
    flatten,
    movedim,
    narrow,
    ravel,
    unflatten,
)
from .tensor.views import as_strided_view as as_strided

from . import autograd, func, linalg, nn, utils  # isort: skip
from .autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .creation import FloatTensor, arange, from_numpy, full, linspace, ones, tensor, zeros
from .func import vmap

float = float32
double = float64
half = float16
short = int16
int = int32
long = int64

concat = concatenate = cat
moveaxis, swapaxes, swapdims, absolute = movedim, transpose, transpose, abs
cfloat, cdouble = complex64, complex128
zeros_like, ones_like, where = _F.zeros_like, _F.ones_like, _F.where
eq, ne, lt, le, gt, ge, logical_and, logical_not = (
    _F.eq,
    _F.ne,
    _F.lt,
    _F.le,
    _F.gt,
    _F.ge,
    _F.logical_and,
    _F.logical_not,
)
__version__ = "0.1.0"


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input + alpha · other`."""
    return input.add(other, alpha=alpha)


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input - alpha · other`."""
    return input.sub(other, alpha=alpha)


def div(input: Any, other: Any) -> Any:
    """True quotient, element by element."""
    return input / other


def sum(input: Any, dim: Any = None, keepdim: Any = False) -> Any:
    """Sum of all elements, or over `dim`."""
    return input.sum(dim, keepdim)


def mean(input: Any, dim: Any = None, keepdim: Any = False) -> Any:
    """Mean of all elements, or over `dim`."""
    return input.mean(dim, keepdim)


def select(input: Any, dim: Any, index: Any) -> Any:
    """The part at `index` along `dim`, which goes away."""
    return input.select(dim, index)


def broadcast_to(input: Any, size: Any) -> Any:
    """Expanded to `size`."""
    return input.broadcast_to(size)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """`value` where `mask` holds, else the element of `input`."""
    return input.masked_fill(mask, value)


def is_complex(input: Any) -> Any:
    """Whether the elements are complex numbers."""
    return input.is_complex()


def is_floating_point(input: Any) -> Any:
    """Whether the elements are floating-point numbers."""
    return input.is_floating_point()


def is_conj(input: Any) -> Any:
    """Whether `input` is a view of conjugates."""
    return input.is_conj()


def is_neg(input: Any) -> Any:
    """Whether `input` is a view of negatives."""
    return input.is_neg()


def detach(input: Any) -> Any:
    """The same memory outside the graph."""
    return input.detach()


def is_tensor(obj: Any) -> Any:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


def is_inference(input: Any) -> Any:
    """Whether `input` was made in inference mode."""
    if not isinstance(input, Tensor):
        kind = type(input).__name__
        raise TypeError(f"is_inference(): argument 'input' (position 1) must be Tensor, not {kind}")
    return input.is_inference()


def numel(input: Any) -> Any:
    """Number of elements."""
    return input.numel()
