"""Activation functions and attention as layers."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.devices import check_device
from ...core.tensor_state import wrap
from ...creation import full
from ...left_out import refuse
from ...ops.elementary import sigmoid, tanh
from ...ops.products import baddbmm, bmm
from .. import functional, init
from ..init import constant_
from ..parameter import Parameter, create_hidden
from .function_layers import FunctionLayer
from .linear import Linear, empty
from .module import Module

__all__ = [
    "ELU",
    "GELU",
    "Hardshrink",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "MultiheadAttention",
]


# ─── Activation layers


class ReLU(FunctionLayer, function="relu"):
    """Layer that returns max(0, x) for each element.

    The derivative is 1 where x > 0 and 0 elsewhere.

    Args:
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Example:
        >>> nn.ReLU()(torch.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]

    Source: PyTorch's page `torch.nn.ReLU`.
    """


class ReLU6(FunctionLayer, function="relu6"):
    """Layer that returns min(max(0, x), 6)."""


class SiLU(FunctionLayer, function="silu"):
    """Layer that returns x · sigmoid(x)."""


class Mish(FunctionLayer, function="mish"):
    """Layer that returns x · tanh(softplus(x))."""


class SELU(FunctionLayer, function="selu"):
    """ELU with the scale that keeps mean 0 and variance 1 (Klambauer et al., 2017)."""


class Sigmoid(FunctionLayer, function="sigmoid"):
    """Layer that returns the logistic function y = 1 / (1 + e⁻ˣ) of each element.

    The derivative is y · (1 − y).

    Shape:
        (*) → (*).

    Example:
        >>> nn.Sigmoid()(torch.zeros(2)).tolist()
        [0.5, 0.5]

    Source: PyTorch's page `torch.nn.Sigmoid`.
    """

    def forward(self, input: Any) -> Any:
        """Apply the function."""
        return sigmoid(input)


class Tanh(FunctionLayer, function="tanh"):
    """Layer that returns the hyperbolic tangent y = (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ) of each element.

    The derivative is 1 − y².

    Shape:
        (*) → (*).

    Example:
        >>> nn.Tanh()(torch.zeros(2)).tolist()
        [0.0, 0.0]

    Source: PyTorch's page `torch.nn.Tanh`.
    """

    def forward(self, input: Any) -> Any:
        """Apply the function."""
        return tanh(input)


class LogSigmoid(FunctionLayer, function="logsigmoid"):
    """Layer that returns log sigmoid(x)."""


class Softsign(FunctionLayer, function="softsign"):
    """Layer that returns x / (1 + |x|)."""


class Tanhshrink(FunctionLayer, function="tanhshrink"):
    """Layer that returns x − tanh(x)."""


class LeakyReLU(FunctionLayer, function="leaky_relu"):
    """Layer that returns x where x > 0 and negative_slope · x elsewhere.

    The derivative is 1 where x > 0 and negative_slope elsewhere.

    Args:
        negative_slope: slope where x ≤ 0.
        inplace: True writes the result into the input.

    Shape:
        (*) → (*).

    Raises:
        RuntimeError: inplace with a leaf that requires a gradient.

    Example:
        >>> nn.LeakyReLU(0.5)(torch.tensor([-2.0, 2.0])).tolist()
        [-1.0, 2.0]

    Source: PyTorch's page `torch.nn.LeakyReLU`; Maas et al., 2013.
    """


class ELU(FunctionLayer, function="elu"):
    """Layer that returns x where x > 0 and alpha · (eˣ − 1) elsewhere (Clevert et al., 2015)."""


class GELU(FunctionLayer, function="gelu"):
    """Layer that returns x · Φ(x), where Φ is the distribution function of the normal distribution.

    The derivative is Φ(x) + x · φ(x), where φ is the density of the normal distribution. "tanh" computes
    x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) instead.

    Args:
        approximate: "none" or "tanh".

    Shape:
        (*) → (*).

    Raises:
        RuntimeError: approximate is another text.

    Example:
        >>> nn.GELU()(torch.zeros(2)).tolist()
        [0.0, 0.0]

    Source: PyTorch's page `torch.nn.GELU`; Hendrycks and Gimpel, 2016, arXiv:1606.08415.
    """


class Softplus(FunctionLayer, function="softplus", beta=1.0, threshold=20.0):
    """Layer that returns log(1 + e^(beta · x)) / beta, a smooth form of ReLU.

    Where beta · x is above the threshold it returns x. The derivative is sigmoid(beta · x), or 1 there.

    Args:
        beta: sharpness of the bend at 0.
        threshold: value of beta · x above which the result is x.

    Shape:
        (*) → (*).

    Example:
        >>> nn.Softplus()(torch.tensor([0.0, 30.0])).tolist()
        [0.6931471824645996, 30.0]

    Source: PyTorch's page `torch.nn.Softplus`.
    """


class Hardtanh(FunctionLayer, function="hardtanh"):
    """Layer that clamps x to [min_val, max_val]."""

    def _configure(self, settings: dict[str, Any]) -> None:
        super()._configure(settings)
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")


class Shrink(FunctionLayer):
    """Base class of layers with a threshold `lambd` around 0."""

    _shown = "lambd"


class Hardshrink(Shrink, function="hardshrink"):
    """Layer that returns x, and 0 where |x| ≤ lambd."""


class Softshrink(Shrink, function="softshrink"):
    """Layer that moves x toward 0 by lambd."""


class Threshold(FunctionLayer, function="threshold"):
    """Layer that returns x where it is above `threshold`, and `value` elsewhere."""


class Softmax(FunctionLayer, function="softmax", settings="dim"):
    """Layer that returns y = eˣ / Σ eˣ along a dimension, so that the elements sum to 1.

    The gradient with respect to x is y · (g − Σ g · y).

    Args:
        dim: dimension along which the elements sum to 1; None is deprecated.

    Shape:
        (*) → (*).

    Raises:
        IndexError: the input has no such dimension.

    Example:
        >>> nn.Softmax(dim=1)(torch.zeros(1, 2)).tolist()
        [[0.5, 0.5]]

    Source: PyTorch's page `torch.nn.Softmax`.
    """


class Softmin(FunctionLayer, function="softmin", settings="dim"):
    """Layer that returns e⁻ˣ / Σ e⁻ˣ along a dimension."""


class LogSoftmax(FunctionLayer, function="log_softmax", settings="dim"):
    """Layer that returns y = x − log Σ eˣ along a dimension: the logarithm of the softmax, without overflow.

    The gradient with respect to x is g − eʸ · Σ g.

    Args:
        dim: dimension along which the elements of eʸ sum to 1; None is deprecated.

    Shape:
        (*) → (*).

    Raises:
        IndexError: the input has no such dimension.

    Example:
        >>> nn.LogSoftmax(dim=0)(torch.tensor([0.0])).tolist()
        [0.0]

    Source: PyTorch's page `torch.nn.LogSoftmax`.
    """


class PReLU(Module):
    """Layer that returns x where x > 0 and a · x elsewhere, with a learned slope a.

    The derivative with respect to x is 1 where x > 0 and a elsewhere; with respect to a it is min(0, x).

    Args:
        num_parameters: number of slopes: 1, or one for each channel (dimension 1).
        init: first value of the slopes.
        device: must be the CPU.
        dtype: dtype of the slopes; the default dtype if None.

    Shape:
        (*) → (*), or (N, C, *) → (N, C, *) with C slopes.

    Raises:
        RuntimeError: the number of slopes is neither 1 nor the number of channels.

    Example:
        >>> nn.PReLU(init=0.25)(torch.tensor([-4.0, 4.0])).tolist()
        [-1.0, 4.0]

    Source: PyTorch's page `torch.nn.PReLU`; He et al., 2015, arXiv:1502.01852.
    """

    _shown = "num_parameters="

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        check_device(device)
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(create_hidden(full, (num_parameters,), init, dtype=dtype))

    def reset_parameters(self) -> None:
        """Initialize the parameters again."""
        constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """Apply the activation."""
        return functional.prelu(input, self.weight)


# ─── Multi-head attention, composed as PyTorch composes it


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
        add_bias_kv: must be False.
        add_zero_attn: must be False.
        kdim: must be None or embed_dim.
        vdim: must be None or embed_dim.
        batch_first: True puts the batch dimension first.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        query (L, N, embed_dim), key and value (S, N, embed_dim) → output (L, N, embed_dim) and attention
        weights (N, L, S); all without N if there is no batch.

    Raises:
        ValueError: embed_dim or num_heads is not positive.
        AssertionError: num_heads does not divide embed_dim, or the shapes do not fit.
        NotImplementedError: add_bias_kv, add_zero_attn, or another kdim or vdim than embed_dim.

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
        other_sizes = {"kdim": kdim not in (None, embed_dim), "vdim": vdim not in (None, embed_dim)}
        refuse("MultiheadAttention", add_bias_kv=add_bias_kv, add_zero_attn=add_zero_attn, **other_sizes)
        super().__init__()
        check_device(device)
        self.embed_dim = self.kdim = self.vdim = embed_dim
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.dropout, self.batch_first = dropout, batch_first
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.in_proj_weight = empty(3 * embed_dim, embed_dim, dtype=dtype)
        self.register_parameter("in_proj_bias", empty(3 * embed_dim, dtype=dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, dtype=dtype)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        init.xavier_uniform_(self.in_proj_weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Return the output and the attention weights, averaged over heads (None without `need_weights`).

        `key_padding_mask` (N, S) and `attn_mask` (L, S) or (N · heads, L, S) are True where a query may
        not attend, or numbers that are added to the scores. `is_causal` promises that `attn_mask` is the
        causal mask.
        """
        padding = added_mask(key_padding_mask, "key_padding_mask", query, attn_mask, "attn_mask")
        mask = added_mask(attn_mask, "attn_mask", query)
        batched = check_dimensions(query, key, value, padding, mask, self.num_heads)
        if not batched or self.batch_first:
            query, key, value = with_batch_second(query, key, value, batched)
            padding = padding if batched or padding is None else padding.unsqueeze(0)
        if is_causal and mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                "`generate_square_subsequent_mask` to create this mask."
            )
        plain = is_causal and padding is None and not need_weights  # then no mask is needed
        targets, batch, size = query.shape
        sources, heads = key.shape[0], self.num_heads
        q, k, v = self._projected(query, key, value)
        q, k, v = (t.view(t.shape[0], batch * heads, self.head_dim).transpose(0, 1) for t in (q, k, v))
        mask = merged_mask(None if plain else mask, padding, targets, sources, batch, heads)
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            attended, weights = attention_and_weights(q, k, v, mask, dropout)
            weights = weights.view(batch, heads, targets, sources)
        else:
            attended = attention_alone(q, k, v, mask, batch, dropout, plain)
        last, attended = self.out_proj, attended.reshape(targets * batch, size)
        output = functional.linear(attended, last.weight, last.bias).view(targets, batch, size)
        if weights is not None and average_attn_weights:
            weights = weights.mean(dim=1)
        if batched:
            return (output.transpose(1, 0) if self.batch_first else output), weights
        return output.squeeze(1), None if weights is None else weights.squeeze(0)

    def _projected(self, query: Any, key: Any, value: Any) -> tuple[Any, ...]:
        """Project queries, keys and values; tensors that are the same object share one product."""
        size, bias = self.embed_dim, self.in_proj_bias
        if query.shape[-1] != size:
            raise AssertionError(f"was expecting embedding dimension of {size}, but got {query.shape[-1]}")
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if key is not value:
            biases = (None, None, None) if bias is None else bias.chunk(3)
            parts = zip((query, key, value), self.in_proj_weight.chunk(3), biases)
            return tuple(functional.linear(*part) for part in parts)
        if query is key:
            return split_projections(functional.linear(query, self.in_proj_weight, bias), 3)
        of_query, of_both = self.in_proj_weight.split([size, size * 2])
        bias_query, bias_both = (None, None) if bias is None else bias.split([size, size * 2])
        both = split_projections(functional.linear(key, of_both, bias_both), 2)
        return functional.linear(query, of_query, bias_query), *both


def with_batch_second(query: Any, key: Any, value: Any, batched: bool) -> tuple[Any, ...]:
    """Return the inputs as (steps, batch, size), of (batch, steps, size) or (steps, size). What was one
    tensor stays one if there is a batch, so that it is projected at once.
    """
    if not batched:
        return tuple(t.unsqueeze(1) for t in (query, key, value))
    moved = {i: t.transpose(1, 0) for i, t in {id(t): t for t in (query, key, value)}.items()}
    return moved[id(query)], moved[id(key)], moved[id(value)]


def check_dimensions(query: Any, key: Any, value: Any, padding: Any, mask: Any, heads: int) -> bool:
    """Return whether there is a batch; raise an AssertionError for tensors of other dimensions."""
    n = query.dim()
    if n not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor"
        )
    for name, t, fit in (
        ("key", key, (n,)), ("value", value, (n,)), ("key_padding_mask", padding, (n - 1,)),
        ("attn_mask", mask, (2, 3)),
    ):  # fmt: skip
        if t is not None and t.ndim not in fit:
            raise AssertionError(
                f"For {'' if n == 3 else 'un'}batched ({n}-D) `query`, expected `{name}` to be "
                f"{' or '.join(f'{k}-D' for k in fit)} but found {t.ndim}-D tensor instead"
            )
    expected = (heads, query.shape[0], key.shape[0])
    if n == 2 and mask is not None and mask.ndim == 3 and mask.shape != expected:
        raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {mask.shape}")
    return n == 3


def added_mask(mask: Any, name: str, like: Any, other: Any = None, other_name: str = "") -> Any:
    """Turn a boolean mask into one that can be added to scores: -inf where True, 0 where False.

    It warns if the dtype differs from that of the `other` mask.
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


def split_projections(projected: Any, count: int) -> tuple[Any, ...]:
    """Split a projection (*, count · E) into `count` projections (*, E)."""
    apart = projected.unflatten(-1, (count, projected.shape[-1] // count))
    together = apart.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(together[i] for i in range(count))


def merged_mask(mask: Any, padding: Any, targets: int, sources: int, batch: int, heads: int) -> Any:
    """Merge both masks into one of shape (1 or rows, 1 or targets, sources); PyTorch's errors for others."""
    if mask is not None:
        expected = (targets, sources) if mask.ndim == 2 else (batch * heads, targets, sources)
        if mask.shape != expected:
            told = f"is {mask.shape}, but should be {expected}."
            raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask {told}")
        mask = mask.unsqueeze(0) if mask.ndim == 2 else mask
    if padding is None:
        return mask
    if padding.shape != (batch, sources):
        told = f"{(batch, sources)}, but got {tuple(padding.shape)}"
        raise AssertionError(f"Expected key_padding_mask of shape {told}")
    padding = padding.view(batch, 1, 1, sources).expand(-1, heads, -1, -1)
    padding = padding.reshape(batch * heads, 1, sources)
    return padding if mask is None else mask + padding


def attention_and_weights(q: Any, k: Any, v: Any, mask: Any, dropout: float) -> tuple[Any, Any]:
    """Return the result of each head, (targets, rows, size), and the attention weights."""
    q = q * math.sqrt(1.0 / q.shape[-1])
    transposed = k.transpose(-2, -1)
    scores = bmm(q, transposed) if mask is None else baddbmm(mask, q, transposed)
    weights = functional.softmax(scores, dim=-1)
    if dropout > 0.0:
        weights = functional.dropout(weights, dropout)
    return bmm(weights, v).transpose(0, 1), weights


def attention_alone(q: Any, k: Any, v: Any, mask: Any, batch: int, dropout: float, causal: bool) -> Any:
    """Return the result of each head, (targets, batch, heads, size)."""
    q, k, v = (t.view(batch, -1, *t.shape[1:]) for t in (q, k, v))
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.view(batch, -1, *mask.shape[1:])
    attended = functional.scaled_dot_product_attention(q, k, v, mask, dropout, causal)
    return attended.permute(2, 0, 1, 3)
