"""Layers of transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import functional
from .attention import MultiheadAttention, added_mask
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]


def activation_of(activation: Any) -> Any:
    """Return a function that is given by name or directly."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(functional, activation)


class TransformerLayerBase(Module):
    """Base class: blocks of attention, one for each name in `attentions`, and a last one of two linear
    layers. Block i has its own `norm` and `dropout` i.
    """

    attentions: tuple[str, ...] = ()

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = functional.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for name in self.attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, dtype=dtype
            )
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, dtype=dtype)
        self.norm_first = norm_first
        blocks = range(1, len(self.attentions) + 2)
        for i in blocks:
            self.add_module(f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype))
        for i in blocks:
            self.add_module(f"dropout{i}", Dropout(dropout))
        self.activation = activation_of(activation)

    def _block(self, i: int, x: Any, run: Callable[[Any], Any]) -> Any:
        """Return the sum of x and block i, which is `run` and a dropout; it is normalized, or x before it."""
        norm, dropout = getattr(self, f"norm{i}"), getattr(self, f"dropout{i}")
        if self.norm_first:
            return x + dropout(run(norm(x)))
        return norm(x + dropout(run(x)))

    def _feed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(TransformerLayerBase):
    """Layer of self-attention followed by two linear layers with an activation between them.

    x ← norm1(x + attention(x)), then norm2(x + linear2(activation(linear1(x)))). With norm_first it is
    x ← x + attention(norm1(x)), then x + linear2(activation(linear1(norm2(x)))).

    Args:
        d_model: number of features.
        nhead: number of heads of the attention.
        dim_feedforward: size between the two linear layers.
        dropout: probability of every dropout.
        activation: "relu", "gelu" or a function.
        layer_norm_eps: eps of both `LayerNorm`.
        batch_first: True puts the batch dimension first.
        norm_first: True normalizes before each block instead of after it.
        bias: False leaves out all biases.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        src (S, N, d_model) → the same shape.

    Raises:
        RuntimeError: activation is another text.
        AssertionError: nhead does not divide d_model.

    Example:
        >>> nn.TransformerEncoderLayer(4, 2, dim_feedforward=8)(torch.ones(3, 1, 4)).shape
        torch.Size([3, 1, 4])

    Source: PyTorch's page `torch.nn.TransformerEncoderLayer`; Vaswani et al., 2017, arXiv:1706.03762.
    """

    attentions = ("self_attn",)

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Any:
        """Return a tensor of the shape of `src`; for the masks see `MultiheadAttention`."""
        padding = added_mask(src_key_padding_mask, "src_key_padding_mask", src, src_mask, "src_mask")
        masks = (added_mask(src_mask, "src_mask", src), padding, is_causal)
        x = self._block(1, src, lambda x: attended(self.self_attn, x, x, *masks))
        return self._block(2, x, self._feed_forward)


class TransformerDecoderLayer(TransformerLayerBase):
    """Layer of self-attention, attention to `memory`, and two linear layers with an activation between them.

    Each of the three blocks is added to its input and the sum is normalized; with norm_first each block
    normalizes its input instead.

    Args:
        d_model: number of features.
        nhead: number of heads of both attentions.
        dim_feedforward: size between the two linear layers.
        dropout: probability of every dropout.
        activation: "relu", "gelu" or a function.
        layer_norm_eps: eps of every `LayerNorm`.
        batch_first: True puts the batch dimension first.
        norm_first: True normalizes before each block instead of after it.
        bias: False leaves out all biases.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        tgt (T, N, d_model), memory (S, N, d_model) → (T, N, d_model).

    Raises:
        RuntimeError: activation is another text.
        AssertionError: nhead does not divide d_model.

    Example:
        >>> layer = nn.TransformerDecoderLayer(4, 2, dim_feedforward=8)
        >>> layer(torch.ones(2, 1, 4), torch.ones(3, 1, 4)).shape
        torch.Size([2, 1, 4])

    Source: PyTorch's page `torch.nn.TransformerDecoderLayer`; Vaswani et al., 2017, arXiv:1706.03762.
    """

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Return a tensor of the shape of `tgt`; for the masks see `MultiheadAttention`."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        others = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = self._block(1, tgt, lambda x: attended(self.self_attn, x, x, *own))
        x = self._block(2, x, lambda x: attended(self.multihead_attn, x, memory, *others))
        return self._block(3, x, self._feed_forward)


def attended(attention: Any, x: Any, memory: Any, mask: Any, padding_mask: Any, is_causal: bool) -> Any:
    """Return the result of attention from `x` to `memory`, without the weights."""
    how = {"attn_mask": mask, "key_padding_mask": padding_mask, "is_causal": is_causal}
    return attention(x, memory, memory, need_weights=False, **how)[0]
