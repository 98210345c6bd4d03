"""Activation functions, out of place and (`inplace=True`) in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import F
from ...core.public import public
from ...core.tensor_state import TensorBase
from ...inplace.in_place import in_place
from ...ops import activations as ac
from ...ops import hard_activations as hd
from ...ops import pointwise as pw
from ...ops import smooth_activations as sm

__all__ = [
    "celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid", "silu", "softplus", "softshrink",
    "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip


def either(inplace: bool, op: Any, input: Any, *args: Any, written: Any = None) -> Any:
    """Return an op on `input`, or, in place, the op `written` (which may be the same) on it."""
    return in_place((written or op).op, input, *args) if inplace else op(input, *args)


def relu(input: Any, inplace: bool = False) -> Any:
    """Return the larger of each element and 0; NaN stays NaN.

    Args:
        input: a tensor of any shape.
        inplace: whether to write the result into `input`.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if `inplace` is set and `input` is a leaf that requires a gradient.
    Derivative: `g` where `result > 0`, else 0.
    Source: torch.nn.functional.relu

    >>> F.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return either(inplace, pw.relu, input)


def relu6(input: Any, inplace: bool = False) -> Any:
    """Return each element, but not less than 0 nor more than 6."""
    return either(inplace, hd.hardtanh, input, 0, 6)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Return each element, but not less than `min_val` nor more than `max_val`."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return either(inplace, hd.hardtanh, input, min_val, max_val)


@public("function", out=None)
def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """Return each element above `threshold`, and `value` instead of all others."""
    return either(inplace, hd.threshold, input, threshold, value, written=hd.threshold_)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """Return x where x >= 0, else alpha * (e**x - 1), for each element x.

    Args:
        input: a tensor of any shape.
        alpha: the limit for large negative numbers is -alpha.
        inplace: whether to write the result into `input`.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if `inplace` is set and `input` is a leaf that requires a gradient.
    Derivative: `g` where x >= 0, else `g * alpha * exp(x)`.
    Source: torch.nn.functional.elu

    >>> F.elu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return either(inplace, ac.elu, input, alpha, 1, 1, written=ac.elu_)


@public("function", out=None)
def selu(input: Any, inplace: bool = False) -> Any:
    """Return `elu` with the two constants for which layers keep mean 0 and variance 1."""
    return either(inplace, ac.elu, input, 1.6732632423543772, 1.0507009873554805, 1, written=ac.elu_)


@public("function", out=None)
def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """Return x where x ≥ 0, else `alpha · (exp(x / alpha) - 1)`, which is smooth at 0."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return either(inplace, ac.celu, input, alpha, written=ac.celu_)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """Return x where x > 0, else negative_slope * x, for each element x.

    Args:
        input: a tensor of any shape.
        negative_slope: the slope for negative numbers.
        inplace: whether to write the result into `input`.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if `inplace` is set and `input` is a leaf that requires a gradient.
    Derivative: `g` where x > 0, else `g * negative_slope`.
    Source: torch.nn.functional.leaky_relu

    >>> F.leaky_relu(torch.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """
    return either(inplace, ac.leaky_relu, input, negative_slope, written=ac.leaky_relu_)


def check_weight(weight: Any) -> None:
    """TypeError with PyTorch's text unless this is a tensor."""
    if not isinstance(weight, TensorBase):
        kind = type(weight).__name__
        raise TypeError(f"prelu(): argument 'weight' (position 2) must be Tensor, not {kind}")


@public("function", out=None)
def prelu(input: Any, weight: Any) -> Any:
    """Return x where x > 0, else `weight · x`: one weight, or one for each channel (dimension 1)."""
    check_weight(weight)
    if input._data.dtype != weight._data.dtype:
        kinds = f"{input.dtype.title} and {weight.dtype.title}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {kinds}")
    count, ndim = weight.numel(), input.ndim
    if count != 1:
        if ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if ndim > 1 else 1
        if channels != count:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} "
                f"and channel size = {channels}."
            )
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if ndim != weight.ndim:
        weight = weight.reshape([count if d == 1 else 1 for d in range(ndim)])
    return F._prelu_kernel(input, weight)


def gelu(input: Any, approximate: str = "none") -> Any:
    """Return x times the distribution function of the normal distribution, exact ("none") or by "tanh"."""
    return sm.gelu(input, approximate)


def silu(input: Any, inplace: bool = False) -> Any:
    """Return each element multiplied by its logistic function.

    Args:
        input: a tensor of any shape.
        inplace: whether to write the result into `input`.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if `inplace` is set and `input` is a leaf that requires a gradient.
    Derivative: `g * s * (1 + x * (1 - s))` for s = sigmoid(x).
    Source: torch.nn.functional.silu

    >>> F.silu(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7311])
    """
    return either(inplace, sm.silu, input)


def mish(input: Any, inplace: bool = False) -> Any:
    """Return `x · tanh(softplus(x))`."""
    return either(inplace, sm.mish, input)


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """Return log(1 + e**(beta * x)) / beta for each element x.

    Args:
        input: a tensor of any shape.
        beta: how sharp the bend at 0 is.
        threshold: where `beta * x` is larger, the result is x.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g * sigmoid(beta * x)`, and `g` above `threshold`.
    Source: torch.nn.functional.softplus

    >>> F.softplus(torch.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """
    return sm.softplus(input, beta, threshold)


def logsigmoid(input: Any) -> Any:
    """Return `log(1 / (1 + exp(-x)))`."""
    return F.log_sigmoid_forward(input)[0]


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """Return `(x + 3) / 6`, but not less than 0 nor more than 1."""
    return either(inplace, hd.hardsigmoid, input)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """Return `x · hardsigmoid(x)`."""
    return either(inplace, hd.hardswish, input)


@public("function", out=None)
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x, and 0 where -lambd ≤ x ≤ lambd."""
    return hd.hardshrink(input, lambd)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """Return x brought nearer to 0 by `lambd`, and 0 where -lambd ≤ x ≤ lambd."""
    if lambd < 0:
        kind = input.dtype
        raise RuntimeError(
            f"lambda must be in range [0, {np.finfo(kind.numpy).max:g}] for input dtype {kind.title}, but "
            f"found {lambd:g}"
        )
    return hd.softshrink(input, lambd)


def tanhshrink(input: Any) -> Any:
    """Return `x - tanh(x)`."""
    return input - input.tanh()


def softsign(input: Any) -> Any:
    """Return `x / (1 + |x|)`."""
    return input / (input.abs() + 1)


def glu(input: Any, dim: int = -1) -> Any:
    """Return the first half of `input` along `dim` times the logistic function of the second."""
    if input.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return sm.glu(input, dim)


def tanh(input: Any) -> Any:
    """Return the hyperbolic tangent of each element.

    Args:
        input: a tensor of any shape.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: AttributeError if `input` is not a tensor.
    Derivative: `g * (1 - result ** 2)`.
    Source: torch.nn.functional.tanh

    >>> F.tanh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    return input.tanh()


def sigmoid(input: Any) -> Any:
    """Return the logistic function of each element, 1 / (1 + e**-x).

    Args:
        input: a tensor of any shape.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: AttributeError if `input` is not a tensor.
    Derivative: `g * result * (1 - result)`.
    Source: torch.nn.functional.sigmoid

    >>> F.sigmoid(torch.tensor([0.0, 1.0]))
    tensor([0.5000, 0.7311])
    """
    return input.sigmoid()
