"""Attention in several heads as a module."""

from __future__ import annotations

from typing import Any

from .. import init
from ..functional.multi_head import added_mask, multi_head_attention_forward
from .linear import Linear, empty
from .module import Module

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, under the name that it has within attention."""


class MultiheadAttention(Module):
    """Each query gets a mean of the values, weighted by how well their keys match it, in `num_heads` heads of
    size embed_dim / num_heads each.

    Inputs are (L, N, E), or (N, L, E) with `batch_first`, or (L, E); keys and values have sizes `kdim` and
    `vdim`. `add_bias_kv` adds a learned key and value, `add_zero_attn` ones of zeros.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
        vdim: int | None = None, batch_first: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.dropout, self.batch_first = dropout, batch_first
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self._add_projections(dtype)
        self.register_parameter("in_proj_bias", empty(3 * embed_dim, dtype=dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, dtype=dtype)
        self.bias_k = empty(1, 1, embed_dim, dtype=dtype) if add_bias_kv else None
        self.bias_v = empty(1, 1, embed_dim, dtype=dtype) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _add_projections(self, dtype: Any) -> None:
        """One weight for queries, keys and values if they are of one size, else one for each."""
        size, same = self.embed_dim, self._qkv_same_embed_dim
        if same:
            self.in_proj_weight = empty(3 * size, size, dtype=dtype)
        for name, width in (("q", size), ("k", self.kdim), ("v", self.vdim)):
            weight = None if same else empty(size, width, dtype=dtype)
            self.register_parameter(f"{name}_proj_weight", weight)
        if not same:
            self.register_parameter("in_proj_weight", None)

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """What each query gets, of its shape, and how much of each value: (N, L, S), the mean of all heads,
        or (N, heads, L, S) without `average_attn_weights`, or None without `need_weights`.

        `key_padding_mask` (N, S) and `attn_mask` (L, S) or (N · heads, L, S) are true where not to attend, or
        numbers that are added to the scores; `is_causal` is a hint that `attn_mask` is the causal one.
        """
        key_padding_mask = added_mask(key_padding_mask, "key_padding_mask", query, attn_mask, "attn_mask")
        attn_mask = added_mask(attn_mask, "attn_mask", query)
        turned = self.batch_first and query.ndim == 3
        if turned:  # what was one tensor stays one, so that it is projected at once
            same = query is key is value
            pair = key is value
            query = query.transpose(1, 0)
            key = query if same else key.transpose(1, 0)
            value = key if pair else value.transpose(1, 0)
        output, shares = multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(1, 0) if turned else output), shares
