"""Attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import F
from ...core.tensor_state import wrap
from ...tensor.shapes import matmul
from .dropout import dropout

__all__ = ["scaled_dot_product_attention"]


def added(mask: Any, like: Any) -> Any:
    """Return a mask to be added: 0 where one of bools is true, -inf elsewhere."""
    if mask._data.dtype.kind != "b":
        return mask
    return wrap(np.where(mask._data, 0, -np.inf).astype(like._data.dtype))


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    *, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Return softmax(query keyᵀ * scale + mask) value.

    Args:
        query: a tensor of shape (…, L, E).
        key: a tensor of shape (…, S, E).
        value: a tensor of shape (…, S, V).
        attn_mask: broadcasts to (…, L, S): booleans, true where a query may attend, or numbers to add.
        dropout_p: the probability of dropping a weight.
        is_causal: whether a query attends only to keys at its own position and before.
        scale: 1 / sqrt(E) if None.
        enable_gqa: whether groups of queries share keys and values.
    Shape: (…, L, E), (…, S, E) and (…, S, V) → (…, L, V).
    Returns: a new tensor.
    Raises: RuntimeError if `attn_mask` and `is_causal` are both given.
    Derivative: that of the matrix products and the softmax.
    Source: torch.nn.functional.scaled_dot_product_attention

    >>> F.scaled_dot_product_attention(*[torch.ones(1, 2, 2)] * 3)
    tensor([[[1., 1.],
             [1., 1.]]])
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
        scores = scores + added(attn_mask, query)
    shares = F._safe_softmax(scores, -1)
    if dropout_p > 0:
        shares = dropout(shares, dropout_p)
    return matmul(shares, value)
