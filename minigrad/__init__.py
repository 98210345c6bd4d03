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
from .modes import is_grad_enabled
from .op import F as _F
from .ops.arithmetic import mul, neg, reciprocal
from .ops.linalg import dot, mm, mv
from .ops.pointwise import abs, cos, exp, log, relu, sigmoid, sin, sqrt, tanh
from .ops.shape import clone, permute, reshape, squeeze_all, squeeze_dim, t, transpose, unsqueeze
from .printing import printoptions, set_printoptions
from .tensor import Size, Tensor
from .tensor.arithmetic import power as pow
from .tensor.shapes import matmul

from . import autograd, nn  # isort: skip
from .autograd import enable_grad, no_grad, set_grad_enabled
from .creation import FloatTensor, arange, from_numpy, full, linspace, ones, tensor, zeros

float = float32
double = float64
half = float16
short = int16
int = int32
long = int64

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


def squeeze(input: Any, dim: Any = None) -> Any:
    """Dimension `dim`, or all, taken away if of size 1."""
    return squeeze_all(input) if dim is None else squeeze_dim(input, dim)


def is_tensor(obj: Any) -> Any:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


def numel(input: Any) -> Any:
    """Number of elements."""
    return input.numel()
