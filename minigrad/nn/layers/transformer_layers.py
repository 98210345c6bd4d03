"""A layer of a transformer's encoder, and one of its decoder."""

from __future__ import annotations

from typing import Any

from .. import functional
from ..functional.multi_head import added_mask
from ..module import Module
from .attention import MultiheadAttention
from .dropout import Dropout
from .linear import Linear
from .norm import LayerNorm


def activation_of(activation: Any) -> Any:
    """A function, given by name or as it is."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(functional, activation)


class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers with `activation` between them; each is added to its input, and
    the sum normalised (`norm_first`: the input is normalised in place of the sum).
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, dtype=dtype
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, dtype=dtype)
        self.norm_first = norm_first
        for i in (1, 2):
            self.add_module(f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype))
        for i in (1, 2):
            self.add_module(f"dropout{i}", Dropout(dropout))
        self.activation = activation_of(activation)

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Any:
        """Of the shape of `src`; for the masks see MultiheadAttention."""
        padding = added_mask(src_key_padding_mask, "src_key_padding_mask", src, src_mask, "src_mask")
        masks = (added_mask(src_mask, "src_mask", src), padding, is_causal)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, *masks))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x: Any, mask: Any, padding_mask: Any, is_causal: bool) -> Any:
        return self.dropout1(attended(self.self_attn, x, x, mask, padding_mask, is_causal))

    def _ff_block(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to `memory`, then two linear layers with `activation` between them; each is
    added to its input, and the sum normalised (`norm_first`: the input is normalised in place of the sum).
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        for name in ("self_attn", "multihead_attn"):
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, dtype=dtype
            )
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, dtype=dtype)
        self.norm_first = norm_first
        for i in (1, 2, 3):
            self.add_module(f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype))
        for i in (1, 2, 3):
            self.add_module(f"dropout{i}", Dropout(dropout))
        self.activation = activation_of(activation)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """Of the shape of `tgt`; for the masks see MultiheadAttention."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        others = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), *others)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, *others))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(self, x: Any, mask: Any, padding_mask: Any, is_causal: bool) -> Any:
        return self.dropout1(attended(self.self_attn, x, x, mask, padding_mask, is_causal))

    def _mha_block(self, x: Any, memory: Any, mask: Any, padding_mask: Any, is_causal: bool) -> Any:
        return self.dropout2(attended(self.multihead_attn, x, memory, mask, padding_mask, is_causal))

    def _ff_block(self, x: Any) -> Any:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


def attended(attention: Any, x: Any, memory: Any, mask: Any, padding_mask: Any, is_causal: bool) -> Any:
    """What `x` gets from `memory`, without the weights."""
    how = {"attn_mask": mask, "key_padding_mask": padding_mask, "is_causal": is_causal}
    return attention(x, memory, memory, need_weights=False, **how)[0]
