"""Activation functions, out of place and (`inplace=True`) in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import F, dtypes
from ...core.public import public
from ...inplace.in_place import in_place
from ...ops import activations as ac
from ...ops import smooth_activations as sm

__all__ = [
    "elu", "elu_", "gelu", "hardshrink", "hardtanh", "hardtanh_", "leaky_relu",
    "leaky_relu_", "logsigmoid", "mish", "relu", "relu6", "relu_", "selu", "selu_", "sigmoid", "silu",
    "softplus", "softshrink", "softsign", "tanh", "tanhshrink",
]  # fmt: skip


def in_or_out_of_place(inplace: bool, op: Any, input: Any, *args: Any, in_place_op: Any = None) -> Any:
    """Run an op on `input`, out of place or in place; `in_place_op` where it has another form."""
    return in_place((in_place_op or op).op, input, *args) if inplace else op(input, *args)


def relu(input: Any, inplace: bool = False) -> Any:
    """Return max(0, x) for each element.

    The derivative is 1 where x > 0 and 0 elsewhere.

    Args:
        input: tensor of any shape.
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Returns:
        The activations.

    Raises:
        RuntimeError: inplace with a leaf that requires a gradient.

    Example:
        >>> F.relu(torch.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]

    Source: PyTorch's page `torch.nn.functional.relu`.
    """
    return in_or_out_of_place(inplace, ac.relu, input)


def relu6(input: Any, inplace: bool = False) -> Any:
    """Clamp each element to [0, 6]."""
    return in_or_out_of_place(inplace, ac.hardtanh, input, 0, 6)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Clamp each element to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return in_or_out_of_place(inplace, ac.hardtanh, input, min_val, max_val)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """Return x where x > 0 and alpha · (eˣ − 1) elsewhere.

    The derivative is 1 where x > 0 and alpha · eˣ elsewhere.

    Args:
        input: tensor of any shape.
        alpha: the limit for x → −∞ is −alpha.
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Returns:
        The activations.

    Raises:
        RuntimeError: inplace with a leaf that requires a gradient.

    Example:
        >>> F.elu(torch.tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]

    Source: PyTorch's page `torch.nn.functional.elu`; Clevert et al., 2015, arXiv:1511.07289.
    """
    return in_or_out_of_place(inplace, ac.elu, input, alpha, 1, 1, in_place_op=ac.elu_)


@public("function")
def selu(input: Any, inplace: bool = False) -> Any:
    """Return `elu` with the two constants for which layers keep mean 0 and variance 1."""
    return in_or_out_of_place(
        inplace, ac.elu, input, 1.6732632423543772, 1.0507009873554805, 1, in_place_op=ac.elu_
    )


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """Return x where x > 0 and negative_slope · x elsewhere.

    The derivative is 1 where x > 0 and negative_slope elsewhere.

    Args:
        input: tensor of any shape.
        negative_slope: slope where x ≤ 0.
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Returns:
        The activations.

    Raises:
        RuntimeError: inplace with a leaf that requires a gradient.

    Example:
        >>> F.leaky_relu(torch.tensor([-2.0, 2.0]), 0.5).tolist()
        [-1.0, 2.0]

    Source: PyTorch's page `torch.nn.functional.leaky_relu`; Maas et al., 2013.
    """
    return in_or_out_of_place(inplace, ac.leaky_relu, input, negative_slope, in_place_op=ac.leaky_relu_)


def gelu(input: Any, approximate: str = "none") -> Any:
    """Return x times the normal distribution function, exactly ("none") or approximated with "tanh"."""
    return sm.gelu(input, approximate)


def silu(input: Any, inplace: bool = False) -> Any:
    """Return x · sigmoid(x) for each element.

    With s = sigmoid(x) the derivative is s · (1 + x · (1 − s)).

    Args:
        input: tensor of any shape.
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Returns:
        The activations.

    Raises:
        RuntimeError: inplace with a leaf that requires a gradient.

    Example:
        >>> F.silu(torch.zeros(2)).tolist()
        [0.0, 0.0]

    Source: PyTorch's page `torch.nn.functional.silu`; Elfwing et al., 2017, arXiv:1702.03118.
    """
    return in_or_out_of_place(inplace, sm.silu, input)


def mish(input: Any, inplace: bool = False) -> Any:
    """Return `x · tanh(softplus(x))`."""
    return in_or_out_of_place(inplace, sm.mish, input)


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """Return log(1 + e^(beta · x)) / beta, a smooth form of ReLU.

    Where beta · x is above the threshold it returns x. The derivative is sigmoid(beta · x), or 1 there.

    Args:
        input: tensor of any shape.
        beta: sharpness of the bend at 0.
        threshold: value of beta · x above which the result is x.

    Shape:
        (*) → (*).

    Returns:
        The activations.

    Example:
        >>> F.softplus(torch.tensor([0.0, 30.0])).tolist()
        [0.6931471824645996, 30.0]

    Source: PyTorch's page `torch.nn.functional.softplus`.
    """
    return sm.softplus(input, beta, threshold)


def logsigmoid(input: Any) -> Any:
    """Return `log(1 / (1 + exp(-x)))`."""
    return F.log_sigmoid_forward(input)[0]


@public("function")
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """Return x, and 0 where -lambd ≤ x ≤ lambd."""
    return ac.hardshrink(input, lambd)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """Move x toward 0 by `lambd`; return 0 where -lambd ≤ x ≤ lambd."""
    kind = dtypes.of(input._data)
    if kind.category == 2 and not 0 <= lambd <= np.finfo(kind.numpy).max:
        bounds = f"[0, {np.finfo(kind.numpy).max:g}] for input dtype {kind.title}"
        raise RuntimeError(f"lambda must be in range {bounds}, but found {lambd:g}")
    return ac.softshrink(input, lambd)


def tanhshrink(input: Any) -> Any:
    """Return `x - tanh(x)`."""
    return input - input.tanh()


def softsign(input: Any) -> Any:
    """Return `x / (1 + |x|)`."""
    return input / (input.abs() + 1)


def tanh(input: Any) -> Any:
    """Return the hyperbolic tangent y of each element.

    The derivative is 1 − y².

    Args:
        input: tensor of any shape.

    Shape:
        (*) → (*).

    Returns:
        Values between −1 and 1.

    Example:
        >>> F.tanh(torch.zeros(2)).tolist()
        [0.0, 0.0]

    Source: PyTorch's page `torch.nn.functional.tanh`.
    """
    return input.tanh()


def sigmoid(input: Any) -> Any:
    """Return the logistic function y = 1 / (1 + e⁻ˣ) of each element.

    The derivative is y · (1 − y).

    Args:
        input: tensor of any shape.

    Shape:
        (*) → (*).

    Returns:
        Values between 0 and 1.

    Example:
        >>> F.sigmoid(torch.zeros(2)).tolist()
        [0.5, 0.5]

    Source: PyTorch's page `torch.nn.functional.sigmoid`.
    """
    return input.sigmoid()


def relu_(input: Any) -> Any:
    """Apply `relu` in place."""
    return relu(input, True)


@public("function")
def selu_(input: Any) -> Any:
    """Apply `selu` in place."""
    return selu(input, True)


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """Apply `elu` in place."""
    return elu(input, alpha, True)


def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """Apply `leaky_relu` in place."""
    return leaky_relu(input, negative_slope, True)


def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Apply `hardtanh` in place."""
    return hardtanh(input, min_val, max_val, True)
