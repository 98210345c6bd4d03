"""Multi-head attention."""

from __future__ import annotations

from typing import Any

from .. import init
from ..functional.multi_head import added_mask, multi_head_attention_forward
from .linear import Linear, empty
from .module import Module

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear layer under the name that PyTorch uses inside attention."""


class MultiheadAttention(Module):
    """Layer that lets each query attend to keys and returns a mean of their values, in several heads.

    Each head computes softmax(Q Kᵀ / √d) V for learned projections Q, K and V of size d = embed_dim /
    num_heads. A linear layer joins the heads. For the derivative of the softmax see `Softmax`.

    Args:
        embed_dim: number of features of queries and of the output.
        num_heads: number of heads; it divides embed_dim.
        dropout: probability of dropout on the attention weights.
        bias: False leaves out the biases of the projections.
        add_bias_kv: True adds one learned key and value.
        add_zero_attn: True adds one key and value of zeros.
        kdim: number of features of keys; embed_dim if None.
        vdim: number of features of values; embed_dim if None.
        batch_first: True puts the batch dimension first.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim) → output (L, N, embed_dim) and attention
        weights (N, L, S); all without N if there is no batch.

    Raises:
        ValueError: embed_dim or num_heads is not positive.
        AssertionError: num_heads does not divide embed_dim, or the shapes do not fit.

    Example:
        >>> x = torch.ones(5, 1, 4)
        >>> nn.MultiheadAttention(4, 2)(x, x, x)[0].shape
        torch.Size([5, 1, 4])

    Source: PyTorch's page `torch.nn.MultiheadAttention`; Vaswani et al., 2017, arXiv:1706.03762.
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
        """Create one weight for queries, keys and values of the same size, otherwise one for each."""
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
        """Return the output and the attention weights, averaged over heads (None without `need_weights`).

        `key_padding_mask` (N, S) and `attn_mask` (L, S) or (N · heads, L, S) are True where a query may
        not attend, or numbers that are added to the scores. `is_causal` promises that `attn_mask` is the
        causal mask.
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
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
            self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight,
            self.out_proj.bias, training=self.training, key_padding_mask=key_padding_mask,
            need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim, q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (output.transpose(1, 0) if turned else output), shares
