"""Softmax, under the names of `torch.nn.functional`."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...core import F
from ...core.tensor_state import wrap
from ...ops.checks import must_be_tensor
from ...tensor.matmul import matmul
from .dropout import dropout

__all__ = ["gumbel_softmax", "log_softmax", "scaled_dot_product_attention", "softmax", "softmin"]


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
    return input.softmax(dim, dtype=dtype)


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
    must_be_tensor("empty_like", logits)
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
