"""Activation layers."""

from __future__ import annotations

from typing import Any

from ...creation import full
from ...ops.pointwise import sigmoid, tanh
from .. import functional
from ..init import constant_
from ..parameter import Parameter, kept
from .applied import Applied
from .attention import MultiheadAttention as MultiheadAttention
from .module import Module

__all__ = [
    "ELU", "GELU", "Hardshrink", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax",
    "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
]  # fmt: skip


class ReLU(Applied, function="relu"):
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


class ReLU6(Applied, function="relu6"):
    """Layer that returns min(max(0, x), 6)."""


class SiLU(Applied, function="silu"):
    """Layer that returns x · sigmoid(x)."""


class Mish(Applied, function="mish"):
    """Layer that returns x · tanh(softplus(x))."""


class SELU(Applied, function="selu"):
    """ELU with the scale that keeps mean 0 and variance 1 (Klambauer et al., 2017)."""


class Sigmoid(Applied, function="sigmoid"):
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


class Tanh(Applied, function="tanh"):
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


class LogSigmoid(Applied, function="logsigmoid"):
    """Layer that returns log sigmoid(x)."""


class Softsign(Applied, function="softsign"):
    """Layer that returns x / (1 + |x|)."""


class Tanhshrink(Applied, function="tanhshrink"):
    """Layer that returns x − tanh(x)."""


class LeakyReLU(Applied, function="leaky_relu"):
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


class ELU(Applied, function="elu"):
    """Layer that returns x where x > 0 and alpha · (eˣ − 1) elsewhere (Clevert et al., 2015)."""


class GELU(Applied, function="gelu"):
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


class Softplus(Applied, function="softplus", beta=1.0, threshold=20.0):
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


class Hardtanh(Applied, function="hardtanh"):
    """Layer that clamps x to [min_val, max_val]."""

    def _configure(self, settings: dict[str, Any]) -> None:
        super()._configure(settings)
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")


class Shrink(Applied):
    """Base class of layers with a threshold `lambd` around 0."""

    _shown = "lambd"


class Hardshrink(Shrink, function="hardshrink"):
    """Layer that returns x, and 0 where |x| ≤ lambd."""


class Softshrink(Shrink, function="softshrink"):
    """Layer that moves x toward 0 by lambd."""


class Softmax(Applied, function="softmax", settings="dim"):
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


class Softmin(Applied, function="softmin", settings="dim"):
    """Layer that returns e⁻ˣ / Σ e⁻ˣ along a dimension."""


class LogSoftmax(Applied, function="log_softmax", settings="dim"):
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
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(kept(full, (num_parameters,), init, dtype=dtype))

    def reset_parameters(self) -> None:
        """Initialize the parameters again."""
        constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """Apply the activation."""
        return functional.prelu(input, self.weight)
