"""The transformer (Vaswani and others, 2017): stacks of encoder and decoder layers."""

from __future__ import annotations

import copy
import math
from typing import Any

from ...creation import full
from ...ops.rearranging import triu
from .. import functional, init
from ..functional.multi_head import added_mask
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip


def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
    """A mask (sz, sz) to be added to scores that lets each place attend to itself and those before: -inf
    above the diagonal, else 0.
    """
    return triu(full((sz, sz), -math.inf, dtype=dtype, device=device), diagonal=1)


def is_causal_mask(mask: Any, is_causal: bool | None, x: Any, batch_first: bool) -> bool:
    """Whether a mask for the sequence `x` is the causal one, if nobody has said so."""
    if is_causal is not None or mask is None:
        return is_causal is True
    steps = x.shape[1 if batch_first and x.ndim == 3 else 0]
    return tuple(mask.shape) == (steps, steps) and bool(
        (mask == generate_square_subsequent_mask(steps, dtype=mask.dtype)).all()
    )


class Repeated(Module):
    """Copies of a layer, one after the other, and a normalisation at the end if there is one."""

    def __init__(self, layer: Any, num_layers: int, norm: Any) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _through(self, x: Any, *given: Any, **masks: Any) -> Any:
        """What the layers and the normalisation make of `x`."""
        for layer in self.layers:
            x = layer(x, *given, **masks)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(Repeated):
    """`num_layers` copies of an encoder layer, which all begin with its parameters.

    There are no nested tensors here: `enable_nested_tensor` and `mask_check` make no difference.
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
        """Of the shape of `src`; for the masks see MultiheadAttention."""
        padding = added_mask(src_key_padding_mask, "src_key_padding_mask", src, mask, "mask")
        mask = added_mask(mask, "mask", src)
        causal = is_causal_mask(mask, is_causal, src, self.layers[0].self_attn.batch_first)
        return self._through(src, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)


class TransformerDecoder(Repeated):
    """`num_layers` copies of a decoder layer, which all begin with its parameters."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Of the shape of `tgt`; for the masks see MultiheadAttention."""
        batch_first = self.layers[0].self_attn.batch_first
        return self._through(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=is_causal_mask(tgt_mask, tgt_is_causal, tgt, batch_first),
            memory_is_causal=memory_is_causal,
        )


class Transformer(Module):
    """An encoder, and a decoder that attends to what it gives. All matrices begin by Xavier's rule."""

    generate_square_subsequent_mask = staticmethod(generate_square_subsequent_mask)

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = functional.relu,
        custom_encoder: Any = None, custom_decoder: Any = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
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
        """Of the shape of `tgt`; for the masks see MultiheadAttention."""
        batch_dim = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch_dim] != tgt.shape[batch_dim]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )


def activation_of(activation: Any) -> Any:
    """A function, given by name or as it is."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(functional, activation)


class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers with `activation` between them; each is added to its input, and
    the sum normalised (`norm_first`: the input is normalised instead of the sum).
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = functional.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
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
    added to its input, and the sum normalised (`norm_first`: the input is normalised instead of the sum).
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = functional.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
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
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
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
