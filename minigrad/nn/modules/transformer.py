"""Transformers: encoder, decoder, and their layers."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ...core.devices import check_device
from ...creation import full
from ...ops.rearranging import triu
from ...tensor.binder import public_form
from .. import functional, init
from .activation import MultiheadAttention, added_mask
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = [
    "TransformerDecoderLayer",
    "TransformerEncoderLayer",
    "Transformer",
    "TransformerDecoder",
    "TransformerEncoder",
]


# ─── Layers of transformers


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
        check_device(device)
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
        x = self._block(1, src, lambda x: attend(self.self_attn, x, x, *masks))
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
        x = self._block(1, tgt, lambda x: attend(self.self_attn, x, x, *own))
        x = self._block(2, x, lambda x: attend(self.multihead_attn, x, memory, *others))
        return self._block(3, x, self._feed_forward)


def attend(attention: Any, x: Any, memory: Any, mask: Any, padding_mask: Any, is_causal: bool) -> Any:
    """Return the result of attention from `x` to `memory`, without the weights."""
    how = {"attn_mask": mask, "key_padding_mask": padding_mask, "is_causal": is_causal}
    return attention(x, memory, memory, need_weights=False, **how)[0]


# ─── The transformer (Vaswani et al., 2017): stacks of encoder and decoder layers


def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
    """Return a causal mask (sz, sz) for scores: -inf above the diagonal, 0 elsewhere."""
    return triu(public_form(full)((sz, sz), -math.inf, dtype=dtype, device=device), diagonal=1)


def is_causal_mask(mask: Any, is_causal: bool | None, x: Any, batch_first: bool) -> bool:
    """Return whether a mask for the sequence `x` is the causal one, if `is_causal` does not say so."""
    if is_causal is not None or mask is None:
        return is_causal is True
    steps = x.shape[1 if batch_first and x.ndim == 3 else 0]
    return tuple(mask.shape) == (steps, steps) and bool(
        (mask == generate_square_subsequent_mask(steps, dtype=mask.dtype)).all()
    )


class StackBase(Module):
    """Base class of stacks: copies of a layer, and an optional normalization after the last."""

    def __init__(self, layer: Any, num_layers: int, norm: Any) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _through(self, x: Any, *given: Any, **masks: Any) -> Any:
        """Apply the layers and the normalization to `x`."""
        for layer in self.layers:
            x = layer(x, *given, **masks)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(StackBase):
    """Stack of copies of an encoder layer.

    All copies start with the parameters of the given layer.

    Args:
        encoder_layer: layer to copy.
        num_layers: number of copies.
        norm: layer after the last copy, or None.
        enable_nested_tensor: accepted and ignored; minigrad has no nested tensors.
        mask_check: accepted and ignored.

    Shape:
        src (S, N, d_model) → the same shape.

    Raises:
        AssertionError: a mask is neither boolean nor floating point.

    Example:
        >>> layer = nn.TransformerEncoderLayer(4, 2, dim_feedforward=8)
        >>> nn.TransformerEncoder(layer, num_layers=2)(torch.ones(3, 1, 4)).shape
        torch.Size([3, 1, 4])

    Source: PyTorch's page `torch.nn.TransformerEncoder`; Vaswani et al., 2017, arXiv:1706.03762.
    """

    def __init__(
        self, encoder_layer: Any, num_layers: int, norm: Any = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None
    ) -> Any:
        """Return a tensor of the shape of `src`; for the masks see `MultiheadAttention`."""
        padding = added_mask(src_key_padding_mask, "src_key_padding_mask", src, mask, "mask")
        mask = added_mask(mask, "mask", src)
        causal = is_causal_mask(mask, is_causal, src, self.layers[0].self_attn.batch_first)
        return self._through(src, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)


class TransformerDecoder(StackBase):
    """Stack of copies of a decoder layer.

    All copies start with the parameters of the given layer.

    Args:
        decoder_layer: layer to copy.
        num_layers: number of copies.
        norm: layer after the last copy, or None.

    Shape:
        tgt (T, N, d_model), memory (S, N, d_model) → (T, N, d_model).

    Raises:
        AssertionError: a mask is neither boolean nor floating point.

    Example:
        >>> layer = nn.TransformerDecoderLayer(4, 2, dim_feedforward=8)
        >>> nn.TransformerDecoder(layer, num_layers=2)(torch.ones(2, 1, 4), torch.ones(3, 1, 4)).shape
        torch.Size([2, 1, 4])

    Source: PyTorch's page `torch.nn.TransformerDecoder`; Vaswani et al., 2017, arXiv:1706.03762.
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Return a tensor of the shape of `tgt`; for the masks see `MultiheadAttention`."""
        batch_first = self.layers[0].self_attn.batch_first
        return self._through(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=is_causal_mask(tgt_mask, tgt_is_causal, tgt, batch_first),
            memory_is_causal=memory_is_causal,
        )  # fmt: skip


class Transformer(Module):
    """Model with a stack of encoder layers and a stack of decoder layers that attend to its output.

    All matrices are drawn by `init.xavier_uniform_`.

    Args:
        d_model: number of features of source and target.
        nhead: number of heads of each attention.
        num_encoder_layers: number of encoder layers.
        num_decoder_layers: number of decoder layers.
        dim_feedforward: size between the two linear layers of each layer.
        dropout: probability of every dropout.
        activation: "relu", "gelu" or a function, between the two linear layers.
        custom_encoder: module that is used instead of the encoder.
        custom_decoder: module that is used instead of the decoder.
        layer_norm_eps: eps of every `LayerNorm`.
        batch_first: True puts the batch dimension first.
        norm_first: True normalizes before each block instead of after it.
        bias: False leaves out all biases.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        src (S, N, d_model), tgt (T, N, d_model) → (T, N, d_model).

    Raises:
        RuntimeError: src and tgt have different batch sizes, or features other than d_model.

    Example:
        >>> model = nn.Transformer(4, 2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=8)
        >>> model(torch.ones(3, 1, 4), torch.ones(2, 1, 4)).shape
        torch.Size([2, 1, 4])

    Source: PyTorch's page `torch.nn.Transformer`; Vaswani et al., 2017, arXiv:1706.03762.
    """

    generate_square_subsequent_mask = staticmethod(generate_square_subsequent_mask)

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = functional.relu,
        custom_encoder: Any = None, custom_decoder: Any = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_device(device)
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first)
        self.encoder, self.decoder = custom_encoder, custom_decoder
        for name, layer_class, stack_class, count in (
            ("encoder", TransformerEncoderLayer, TransformerEncoder, num_encoder_layers),
            ("decoder", TransformerDecoderLayer, TransformerDecoder, num_decoder_layers),
        ):
            if getattr(self, name) is None:
                layer = layer_class(*sizes, norm_first, bias, dtype=dtype)
                norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype)
                setattr(self, name, stack_class(layer, count, norm))
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None,
        src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Return a tensor of the shape of `tgt`; for the masks see `MultiheadAttention`."""
        batch_dim = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch_dim] != tgt.shape[batch_dim]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal,
        )  # fmt: skip
