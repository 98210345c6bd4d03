"""Activation functions, softmax, attention and dropout."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...core import F, dtypes
from ...core.guards import check_probability, check_tensor
from ...core.public import public
from ...core.tensor_state import wrap
from ...inplace.in_place import in_place
from ...ops import activations as ac
from ...ops.products import matmul

__all__ = [
    "elu",
    "elu_",
    "gelu",
    "hardshrink",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "logsigmoid",
    "mish",
    "relu",
    "relu6",
    "relu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "dropout",
    "dropout1d",
    "dropout2d",
    "gumbel_softmax",
    "log_softmax",
    "scaled_dot_product_attention",
    "softmax",
    "softmin",
]


# ─── Activation functions, out of place and (`inplace=True`) in place


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


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """Return each element that is above `threshold`, and `value` instead of all others."""
    return in_or_out_of_place(inplace, ac.threshold, input, threshold, value, in_place_op=ac.threshold_)


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
    return ac.gelu(input, approximate)


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
    return in_or_out_of_place(inplace, ac.silu, input)


def mish(input: Any, inplace: bool = False) -> Any:
    """Return `x · tanh(softplus(x))`."""
    return in_or_out_of_place(inplace, ac.mish, input)


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
    return ac.softplus(input, beta, threshold)


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


@public("function", out=None)
def threshold_(input: Any, threshold: float, value: float) -> Any:
    """Apply `threshold` in place."""
    return in_place(ac.threshold_.op, input, threshold, value)


# ─── Dropout in all its forms. Out of training, or for p = 0, the result is the input itself


def drop(input: Any, p: float, training: bool, inplace: bool, feature: bool) -> Any:
    """Set elements (or whole channels: `feature`) to 0 and multiply the others by `1 / (1 - p)`."""
    check_probability(p)
    if p == 0 or not training or not input.numel():
        return input
    if p == 1:
        factor = F.zeros_of(input, ())
    else:
        factor = noise_for(input, feature).bernoulli_(1 - p).div_(1 - p)
    return input.mul_(factor) if inplace else input * factor


def noise_for(input: Any, feature: bool) -> Any:
    """Allocate the noise: one number per element, in the memory layout of the input, or per channel
    (`feature`).
    """
    if not feature:
        return wrap(F.zeros_like(input._data))
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return F.zeros_of(input, (*input.shape[:2], *(1 for _ in input.shape[2:])))


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Set random elements to 0 and multiply the others by 1 / (1 − p).

    y = m · x / (1 − p), where each m is 0 with probability p and 1 otherwise. The derivative is m / (1 − p).

    Args:
        input: tensor of any shape.
        p: probability of an element being set to 0.
        training: False returns the input unchanged.
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Returns:
        The tensor with elements set to 0.

    Raises:
        ValueError: p is not between 0 and 1.

    Example:
        >>> F.dropout(torch.ones(2), p=1.0).tolist()
        [0.0, 0.0]

    Source: PyTorch's page `torch.nn.functional.dropout`; Srivastava et al., JMLR 15, 2014.
    """
    return drop(input, p, training, inplace, False)


@public("function", name="dropout")
def torch_dropout(input: Any, p: float, train: bool) -> Any:
    """Return `dropout`, as `torch.dropout` spells it."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return drop(input, p, train, False, False)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Apply dropout to whole channels of (N, C, L) or (C, L)."""
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d "
            "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, "
            "and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    if input.ndim == 3:
        return drop(input, p, training, inplace, True)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = drop(batch, p, training, inplace, True)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Apply dropout to whole channels of (N, C, H, W)."""
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is deprecated and will result "
            "in an error in a future release. To retain the behavior and silence this warning, please use "
            "dropout instead. Note that dropout2d exists to provide channel-wise dropout on inputs with 2 "
            "spatial dimensions, a channel dimension, and an optional batch dimension (i.e. 3D or 4D "
            "inputs).",
            stacklevel=2,
        )
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
            "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
            "will change in a future release to interpret the input as one without a batch dimension, i.e. "
            "shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using "
            "dropout1d instead.",
            stacklevel=2,
        )
    return drop(input, p, training, inplace, True)


# ─── Softmax, under the names of `torch.nn.functional`


def dimension(name: str, dim: int | None, input: Any, stacklevel: int) -> int:
    """Return `dim`; without one, the dimension that PyTorch chooses, with its warning."""
    if dim is not None:
        return dim
    ndim = input.dim()
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        "argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return y = eˣ / Σ eˣ along a dimension, so that the elements sum to 1.

    The gradient with respect to x is y · (g − Σ g · y).

    Args:
        input: tensor of any shape.
        dim: dimension along which the elements sum to 1; None is deprecated.
        dtype: dtype to compute in; that of the input if None.

    Shape:
        (*) → (*).

    Returns:
        The softmax.

    Raises:
        IndexError: the input has no such dimension.

    Example:
        >>> F.softmax(torch.zeros(1, 2), dim=1).tolist()
        [[0.5, 0.5]]

    Source: PyTorch's page `torch.nn.functional.softmax`.
    """
    dim = dimension("softmax", dim, input, _stacklevel)
    return input.softmax(dim, dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return y = x − log Σ eˣ along a dimension: the logarithm of the softmax, without overflow.

    The gradient with respect to x is g − eʸ · Σ g.

    Args:
        input: tensor of any shape.
        dim: dimension along which the elements of eʸ sum to 1; None is deprecated.
        dtype: dtype to compute in; that of the input if None.

    Shape:
        (*) → (*).

    Returns:
        The logarithm of the softmax.

    Raises:
        IndexError: the input has no such dimension.

    Example:
        >>> F.log_softmax(torch.tensor([[1000.0, 0.0]]), dim=1).tolist()
        [[0.0, -1000.0]]

    Source: PyTorch's page `torch.nn.functional.log_softmax`.
    """
    dim = dimension("log_softmax", dim, input, _stacklevel)
    return input.log_softmax(dim, dtype=dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return the softmax of `-input`: the smallest element gets the largest weight."""
    dim = dimension("softmin", dim, input, _stacklevel)
    return (-input).softmax(dim, dtype=dtype)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """Draw a random distribution over the classes along `dim`, with the probabilities of `logits` (Jang et
    al., 2016).

    A lower `tau` makes it sharper. `hard` returns 1 for the maximum and 0 for the others, with the
    gradient of the soft result.
    """
    check_tensor("empty_like", logits)
    gumbels = -F.zeros_of(logits.detach(), tuple(logits.shape)).exponential_().log()
    shares = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return shares
    chosen = F.zeros_of(logits.detach(), tuple(logits.shape))
    chosen = chosen.scatter_(dim, shares.max(dim, keepdim=True)[1], 1.0)
    return chosen - shares.detach() + shares


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    *, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Return softmax(Q Kᵀ · scale + mask) V: a mean of the values, weighted by how well keys match queries.

    With A the softmax and upstream gradient g, the gradient of V is Aᵀ g. For the softmax see `softmax`.

    Args:
        query: Q.
        key: K.
        value: V.
        attn_mask: True where a query may attend to a key, or numbers that are added to the scores.
        dropout_p: probability of dropout on the weights.
        is_causal: True lets a query attend to keys up to its own position only.
        scale: factor of the scores; 1/√E if None.
        enable_gqa: True repeats the heads of key and value until they are as many as those of query.

    Shape:
        query (*, L, E), key (*, S, E), value (*, S, Eᵥ), attn_mask (*, L, S) → (*, L, Eᵥ).

    Returns:
        The means.

    Raises:
        RuntimeError: attn_mask and is_causal are both given, or the shapes do not fit.

    Example:
        >>> q, k, v = torch.zeros(1, 2), torch.ones(2, 2), torch.tensor([[1.0], [3.0]])
        >>> F.scaled_dot_product_attention(q, k, v).tolist()
        [[2.0]]

    Source: PyTorch's page `torch.nn.functional.scaled_dot_product_attention`; Vaswani et al., 2017,
    arXiv:1706.03762.
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if enable_gqa:
        times = query.shape[-3] // key.shape[-3]
        key, value = (t.repeat_interleave(times, -3) for t in (key, value))
    if is_causal:
        attn_mask = wrap(np.tri(query.shape[-2], key.shape[-2], dtype=bool))
    root = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = matmul(F.mul_scalar(query, root), F.mul_scalar(key.transpose(-2, -1), root))
    if attn_mask is not None:
        if attn_mask._data.dtype.kind == "b":  # False: not attended to
            attn_mask = wrap(np.where(attn_mask._data, 0, -np.inf).astype(query._data.dtype))
        scores = scores + attn_mask
    shares = F._safe_softmax(scores, -1)
    if dropout_p > 0:
        shares = dropout(shares, dropout_p)
    return matmul(shares, value)
