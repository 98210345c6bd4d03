"""Activation functions, out of place and (`inplace=True`) in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import F
from ...core.public import public
from ...inplace.in_place import in_place
from ...ops import activations as ac
from ...ops import hard_activations as hd
from ...ops import pointwise as pw
from ...ops import smooth_activations as sm
from ...tensor.elementary import prelu

__all__ = [
    "celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid", "silu", "softplus", "softshrink",
    "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip


def either(inplace: bool, op: Any, input: Any, *args: Any, written: Any = None) -> Any:
    """An op on `input`, or, in place, the op `written` (which may be the same) on it."""
    return in_place((written or op).op, input, *args) if inplace else op(input, *args)


def relu(input: Any, inplace: bool = False) -> Any:
    """The greater of each element and 0."""
    return either(inplace, pw.relu, input)


def relu6(input: Any, inplace: bool = False) -> Any:
    """Each element, but not less than 0 nor more than 6."""
    return either(inplace, hd.hardtanh, input, 0, 6)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Each element, but not less than `min_val` nor more than `max_val`."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return either(inplace, hd.hardtanh, input, min_val, max_val)


@public("function", out=None)
def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """Each element above `threshold`, and `value` in the place of all others."""
    return either(inplace, hd.threshold, input, threshold, value, written=hd.threshold_)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where x ≥ 0, else `alpha · (exp(x) - 1)`."""
    return either(inplace, ac.elu, input, alpha, 1, 1, written=ac.elu_)


@public("function", out=None)
def selu(input: Any, inplace: bool = False) -> Any:
    """`elu` with the two constants for which layers keep mean 0 and variance 1."""
    return either(inplace, ac.elu, input, 1.6732632423543772, 1.0507009873554805, 1, written=ac.elu_)


@public("function", out=None)
def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where x ≥ 0, else `alpha · (exp(x / alpha) - 1)`, which is smooth at 0."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return either(inplace, ac.celu, input, alpha, written=ac.celu_)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """x where x > 0, else `negative_slope · x`."""
    return either(inplace, ac.leaky_relu, input, negative_slope, written=ac.leaky_relu_)


def gelu(input: Any, approximate: str = "none") -> Any:
    """x times the distribution function of the normal distribution, exact ("none") or by "tanh"."""
    return sm.gelu(input, approximate)


def silu(input: Any, inplace: bool = False) -> Any:
    """x times the logistic function of x."""
    return either(inplace, sm.silu, input)


def mish(input: Any, inplace: bool = False) -> Any:
    """`x · tanh(softplus(x))`."""
    return either(inplace, sm.mish, input)


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """`log(1 + exp(beta · x)) / beta`, and x itself where `beta · x` is above `threshold`."""
    return sm.softplus(input, beta, threshold)


def logsigmoid(input: Any) -> Any:
    """`log(1 / (1 + exp(-x)))`."""
    return F.log_sigmoid_forward(input)[0]


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """`(x + 3) / 6`, but not less than 0 nor more than 1."""
    return either(inplace, hd.hardsigmoid, input)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """`x · hardsigmoid(x)`."""
    return either(inplace, hd.hardswish, input)


@public("function", out=None)
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x, and 0 where -lambd ≤ x ≤ lambd."""
    return hd.hardshrink(input, lambd)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x brought nearer to 0 by `lambd`, and 0 where -lambd ≤ x ≤ lambd."""
    if lambd < 0:
        kind = input.dtype
        raise RuntimeError(
            f"lambda must be in range [0, {np.finfo(kind.numpy).max:g}] for input dtype {kind.title}, but "
            f"found {lambd:g}"
        )
    return hd.softshrink(input, lambd)


def tanhshrink(input: Any) -> Any:
    """`x - tanh(x)`."""
    return input - input.tanh()


def softsign(input: Any) -> Any:
    """`x / (1 + |x|)`."""
    return input / (input.abs() + 1)


def glu(input: Any, dim: int = -1) -> Any:
    """The first half of `input` along `dim` times the logistic function of the second."""
    if input.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return sm.glu(input, dim)


def tanh(input: Any) -> Any:
    """Hyperbolic tangent of each element."""
    return input.tanh()


def sigmoid(input: Any) -> Any:
    """Logistic function of each element."""
    return input.sigmoid()
