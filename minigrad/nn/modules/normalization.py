"""Layer, group and local response normalization."""

from __future__ import annotations

from typing import Any

from ...core.devices import check_device
from ...creation import ones
from .. import functional
from ..parameter import Parameter, create_hidden
from .batchnorm import NormBase
from .function_layers import FunctionLayer

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


def as_normalized_shape(size: Any) -> tuple[int, ...]:
    """Return a shape that is given as a number or a sequence."""
    return (size,) if isinstance(size, int) else tuple(size)


class LayerNorm(NormBase):
    """Layer that normalizes each example over its last dimensions.

    y = (x − mean) / √(var + eps) · weight + bias, where mean and var are taken over the last dimensions of
    one example. With x̂ = (x − mean) / √(var + eps) and h = g · weight, the derivative with respect to x is
    (h − mean(h) − x̂ · mean(h · x̂)) / √(var + eps).

    Args:
        normalized_shape: shape of the last dimensions, or one number for the last.
        eps: number added to the variance, so that the root is not 0.
        elementwise_affine: False leaves out weight and bias.
        bias: False leaves out the bias only.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        (*, normalized_shape) → the same shape.

    Raises:
        RuntimeError: the last dimensions of the input are not normalized_shape.

    Example:
        >>> nn.LayerNorm(2)(torch.tensor([1.0, 3.0])).tolist()
        [-0.9999949932098389, 0.9999949932098389]

    Source: PyTorch's page `torch.nn.LayerNorm`; Ba et al., 2016, arXiv:1607.06450.
    """

    _shown = "normalized_shape eps= elementwise_affine= bias="

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_device(device)
        self.normalized_shape, self.eps = as_normalized_shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        self._learn(self.normalized_shape, elementwise_affine, elementwise_affine and bias, dtype)

    def forward(self, input: Any) -> Any:
        """Normalize the input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(NormBase):
    """Layer that divides by the root mean square over the last dimensions (Zhang and Sennrich, 2019)."""

    _shown = "normalized_shape eps= elementwise_affine="

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_device(device)
        self.normalized_shape, self.eps = as_normalized_shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        weight = (
            Parameter(create_hidden(ones, *self.normalized_shape, dtype=dtype))
            if elementwise_affine
            else None
        )
        self.register_parameter("weight", weight)

    def forward(self, input: Any) -> Any:
        """Normalize the input."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(NormBase):
    """Layer that normalizes each example over groups of channels (Wu and He, 2018)."""

    _shown = "num_groups num_channels eps= affine= bias="

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        check_device(device)
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._learn((num_channels,), affine, affine and bias, dtype)

    def forward(self, input: Any) -> Any:
        """Normalize the input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class LocalResponseNorm(FunctionLayer, function="local_response_norm"):
    """Layer that divides by a norm of neighboring channels: see `nn.functional.local_response_norm`."""

    _shown = "size alpha= beta= k="
