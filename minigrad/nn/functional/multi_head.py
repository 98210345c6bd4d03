"""Attention in several heads at once, composed as PyTorch composes it."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...core import F, dtypes
from ...core.tensor_state import wrap
from ...ops.joining import cat
from ...ops.linalg import bmm
from ...tensor.products import baddbmm
from .attention import scaled_dot_product_attention
from .dropout import dropout
from .padding import pad
from .products import linear
from .softmaxes import softmax

__all__ = ["multi_head_attention_forward"]


def check_shapes(query: Any, key: Any, value: Any, padding_mask: Any, mask: Any, num_heads: int) -> bool:
    """Return whether there is a batch; AssertionError with PyTorch's text for dimensions that do not fit."""
    if query.ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
        )
    n = query.ndim
    about = f"For {'' if n == 3 else 'un'}batched ({n}-D) `query`, expected"
    if key.ndim != n or value.ndim != n:
        raise AssertionError(
            f"{about} `key` and `value` to be {n}-D but found {key.ndim}-D and {value.ndim}-D tensors "
            "respectively"
        )
    if padding_mask is not None and padding_mask.ndim != n - 1:
        raise AssertionError(
            f"{about} `key_padding_mask` to be `None` or {n - 1}-D but found {padding_mask.ndim}-D tensor "
            "instead"
        )
    if mask is not None and mask.ndim not in (2, 3):
        raise AssertionError(
            f"{about} `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead"
        )
    if n == 2 and mask is not None and mask.ndim == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {mask.shape}")
    return n == 3


def added_mask(mask: Any, name: str, like: Any, other: Any = None, other_name: str = "") -> Any:
    """Return a mask to be added to scores: -inf where one of bools is true, 0 elsewhere; numbers as they are.

    A warning if the dtype is not that of the `other` mask.
    """
    if mask is None:
        return None
    if mask.dtype is not dtypes.bool_ and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and other.dtype is not mask.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=2,
        )
    if mask.is_floating_point():
        return mask
    return wrap(np.where(mask._data, -np.inf, 0).astype(like._data.dtype))


def parts(projected: Any, count: int) -> tuple[Any, ...]:
    """Return a projection (*, count · E) as `count` ones (*, E)."""
    apart = projected.unflatten(-1, (count, projected.shape[-1] // count))
    together = apart.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(together[i] for i in range(count))


def projected(query: Any, key: Any, value: Any, weight: Any, bias: Any) -> tuple[Any, ...]:
    """Queries, keys and values projected by one weight of shape (3E, E), those that are the same tensor in
    one product.
    """
    size = query.shape[-1]
    if key is not value:
        return separately(query, key, value, weight.chunk(3), bias)
    if query is key:
        return parts(linear(query, weight, bias), 3)
    of_query, of_both = weight.split([size, size * 2])
    bias_query, bias_both = (None, None) if bias is None else bias.split([size, size * 2])
    return linear(query, of_query, bias_query), *parts(linear(key, of_both, bias_both), 2)


def separately(query: Any, key: Any, value: Any, weights: Any, bias: Any) -> tuple[Any, ...]:
    """Queries, keys and values projected by a weight each."""
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))


def check_weights(query: Any, key: Any, value: Any, weights: Any) -> None:
    """AssertionError with PyTorch's text for weights of shapes that do not fit."""
    size = query.shape[-1]
    for name, x, weight in zip(("query", "key", "value"), (query, key, value), weights):
        expected = (size, x.shape[-1])
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name[0]}_proj_weight is None")
        if weight.shape != expected:
            raise AssertionError(f"expecting {name} weights shape of {expected}, but got {weight.shape}")


def check_mask(mask: Any, targets: int, sources: int, rows: int) -> Any:
    """Return a mask of shape (1, targets, sources) or (rows, targets, sources); RuntimeError for another."""
    expected = (targets, sources) if mask.ndim == 2 else (rows, targets, sources)
    if mask.shape != expected:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def merged(mask: Any, padding_mask: Any, batch: int, num_heads: int, sources: int) -> Any:
    """Both masks as one of shape (rows, 1 or targets, sources)."""
    if padding_mask is None:
        return mask
    for i, expected in enumerate((batch, sources)):
        if padding_mask.shape[i] != expected:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{i}] to be {expected}, but got {padding_mask.shape[i]}"
            )
    padding_mask = padding_mask.view(batch, 1, 1, sources).expand(-1, num_heads, -1, -1)
    padding_mask = padding_mask.reshape(batch * num_heads, 1, sources)
    return padding_mask if mask is None else mask + padding_mask


def longer(mask: Any) -> Any:
    """Return a mask for one source more, to which all may attend."""
    return None if mask is None else pad(mask, (0, 1))


def in_heads(x: Any, static: Any, rows: int, size: int, name: str) -> Any:
    """Return a projection (steps, batch, E) as (rows, steps, size), a row for each head of each sample;
    `static` takes its place if it is given.
    """
    if static is None:
        return x.view(x.shape[0], rows, size).transpose(0, 1)
    for i, expected in ((0, rows), (2, size)):
        if static.shape[i] != expected:
            raise AssertionError(
                f"expecting static_{name}.size({i}) of {expected}, but got {static.shape[i]}"
            )
    return static


def attention_and_shares(q: Any, k: Any, v: Any, mask: Any, dropout_p: float) -> tuple[Any, Any]:
    """Return what each query of each head gets, (targets, rows, size), and how much of each source."""
    q = q * math.sqrt(1.0 / q.shape[-1])
    turned = k.transpose(-2, -1)
    shares = softmax(bmm(q, turned) if mask is None else baddbmm(mask, q, turned), dim=-1)
    if dropout_p > 0.0:
        shares = dropout(shares, dropout_p)
    return bmm(shares, v).transpose(0, 1), shares


def attention_alone(q: Any, k: Any, v: Any, mask: Any, batch: int, dropout_p: float, causal: bool) -> Any:
    """Return what each query of each head gets, (targets, batch, heads, size)."""
    q, k, v = (t.view(batch, -1, *t.shape[1:]) for t in (q, k, v))
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.view(batch, -1, *mask.shape[1:])
    return scaled_dot_product_attention(q, k, v, mask, dropout_p, causal).permute(2, 0, 1, 3)


def multi_head_attention_forward(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any,
    in_proj_bias: Any, bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any,
    out_proj_bias: Any, training: bool = True, key_padding_mask: Any = None, need_weights: bool = True,
    attn_mask: Any = None, use_separate_proj_weight: bool = False, q_proj_weight: Any = None,
    k_proj_weight: Any = None, v_proj_weight: Any = None, static_k: Any = None, static_v: Any = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Return what `nn.MultiheadAttention` computes, with its parameters as arguments; sequences come first,
    as (L, N, E) or (L, E).
    """
    batched = check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    targets, batch, size = query.shape
    rows = batch * num_heads
    padding_mask, mask, causal = prepared(query, key_padding_mask, attn_mask, is_causal, need_weights)
    head_size = check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        check_weights(query, key, value, weights)
        q, k, v = separately(query, key, value, weights, in_proj_bias)
    elif in_proj_weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    else:
        q, k, v = projected(query, key, value, in_proj_weight, in_proj_bias)
    if mask is not None:
        mask = check_mask(mask, targets, key.shape[0], rows)
    if has_bias(bias_k, bias_v, static_k, static_v):
        k, v = (cat([t, bias.repeat(1, batch, 1)]) for t, bias in ((k, bias_k), (v, bias_v)))
        mask, padding_mask = longer(mask), longer(padding_mask)
    q = in_heads(q, None, rows, head_size, "q")
    k, v = in_heads(k, static_k, rows, head_size, "k"), in_heads(v, static_v, rows, head_size, "v")
    if add_zero_attn:
        k, v = (cat([t, F.zeros_of(t, (rows, 1, head_size))], dim=1) for t in (k, v))
        mask, padding_mask = longer(mask), longer(padding_mask)
    mask = merged(mask, padding_mask, batch, num_heads, k.shape[1])
    dropout_p = dropout_p if training else 0.0
    shares = None
    if need_weights:
        attended, shares = attention_and_shares(q, k, v, mask, dropout_p)
    else:
        attended = attention_alone(q, k, v, mask, batch, dropout_p, causal)
    output = linear(attended.reshape(targets * batch, size), out_proj_weight, out_proj_bias)
    output = output.view(targets, batch, output.shape[1])
    if shares is not None:
        shares = shares.view(batch, num_heads, targets, k.shape[1])
        shares = shares.mean(dim=1) if average_attn_weights else shares
    if batched:
        return output, shares
    return output.squeeze(1), None if shares is None else shares.squeeze(0)


def prepared(query: Any, padding_mask: Any, mask: Any, causal: bool, need_weights: bool) -> tuple[Any, ...]:
    """Both masks, to be added, and whether they need not be, the attention being causal and no more."""
    padding_mask = added_mask(padding_mask, "key_padding_mask", query, mask, "attn_mask")
    if causal and mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if causal and padding_mask is None and not need_weights:
        return None, None, True
    return padding_mask, added_mask(mask, "attn_mask", query), False


def has_bias(bias_k: Any, bias_v: Any, static_k: Any, static_v: Any) -> bool:
    """Return whether there is a learned key and value; AssertionError for one without the other."""
    if bias_k is None and bias_v is None:
        return False
    if bias_k is None or bias_v is None:
        given, missing = ("k", "v") if bias_v is None else ("v", "k")
        raise AssertionError(f"bias_{given} is set but bias_{missing} is None")
    for name, static in (("key", static_k), ("value", static_v)):
        if static is not None:
            raise AssertionError(f"bias cannot be added to static {name}.")
    return True


def check_sizes(query: Any, key: Any, value: Any, expected: int, num_heads: int, separate: bool) -> int:
    """Return the size of a head; AssertionError with PyTorch's text for sizes that do not fit."""
    size = query.shape[-1]
    if size != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {size}")
    if size % num_heads:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    return size // num_heads
