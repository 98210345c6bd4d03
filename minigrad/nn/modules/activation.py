"""Functions of nn.functional as modules."""

from __future__ import annotations

from typing import Any

from ...creation import full
from .. import functional
from ..init import constant_
from ..parameter import Parameter, kept
from .attention import MultiheadAttention as MultiheadAttention
from .module import Module

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax",
    "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


class Applied(Module):
    """A function of `nn.functional`, called `function`, with `settings`: names of its arguments and of
    attributes of the module. `shown` are those that the repr tells; an `inplace` that is False it leaves out.
    """

    function = ""
    settings: tuple[str, ...] = ()

    def forward(self, input: Any) -> Any:
        """What the function gives."""
        given = {name: getattr(self, name) for name in self.settings}
        return getattr(functional, self.function)(input, **given)

    def extra_repr(self) -> str:
        """The settings."""
        told = [name for name in self.settings if name != "inplace" or self.inplace]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in told)


class InPlace(Applied):
    """A function whose only setting is whether it writes into its input."""

    settings = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(InPlace):
    """max(0, x)."""

    function = "relu"


class ReLU6(InPlace):
    """min(max(0, x), 6)."""

    function = "relu6"


class SiLU(InPlace):
    """x · sigmoid(x)."""

    function = "silu"


class Mish(InPlace):
    """x · tanh(softplus(x))."""

    function = "mish"


class SELU(InPlace):
    """ELU with the scale that keeps mean and spread (Klambauer and others, 2017)."""

    function = "selu"


class Hardswish(InPlace):
    """x · relu6(x + 3) / 6."""

    function = "hardswish"


class Hardsigmoid(InPlace):
    """relu6(x + 3) / 6."""

    function = "hardsigmoid"


class Sigmoid(Applied):
    """1 / (1 + e⁻ˣ)."""

    function = "sigmoid"


class Tanh(Applied):
    """Hyperbolic tangent."""

    function = "tanh"


class LogSigmoid(Applied):
    """log sigmoid(x)."""

    function = "logsigmoid"


class Softsign(Applied):
    """x / (1 + |x|)."""

    function = "softsign"


class Tanhshrink(Applied):
    """x − tanh(x)."""

    function = "tanhshrink"


class LeakyReLU(Applied):
    """x, or negative_slope · x where x is negative."""

    function, settings = "leaky_relu", ("negative_slope", "inplace")

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace


class ELU(Applied):
    """x, or alpha · (eˣ − 1) where x is negative."""

    function, settings = "elu", ("alpha", "inplace")

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


class CELU(ELU):
    """x, or alpha · (e^(x / alpha) − 1) where x is negative."""

    function = "celu"


class GELU(Applied):
    """x · Φ(x), Φ being the normal distribution; `approximate="tanh"` computes it by a tanh."""

    function, settings = "gelu", ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate


class Softplus(Applied):
    """log(1 + e^(beta · x)) / beta, and x itself where beta · x is above the threshold."""

    function, settings = "softplus", ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold


class Hardtanh(Applied):
    """x, kept within min_val and max_val."""

    function, settings = "hardtanh", ("min_val", "max_val", "inplace")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace
        if not max_val > min_val:
            raise AssertionError("max_val must be larger than min_val")


class Shrink(Applied):
    """A function with a width around 0."""

    settings = ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """The width."""
        return str(self.lambd)


class Hardshrink(Shrink):
    """x, or 0 where |x| is at most lambd."""

    function = "hardshrink"


class Softshrink(Shrink):
    """x moved towards 0 by lambd."""

    function = "softshrink"


class Along(Applied):
    """A function along one dimension."""

    settings = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class Softmax(Along):
    """eˣ / Σ eˣ along a dimension."""

    function = "softmax"


class Softmin(Along):
    """e⁻ˣ / Σ e⁻ˣ along a dimension."""

    function = "softmin"


class LogSoftmax(Along):
    """x − log Σ eˣ along a dimension."""

    function = "log_softmax"


class GLU(Along):
    """a · sigmoid(b), where a and b are the halves along a dimension."""

    function = "glu"

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W), at each place of the image."""

    def forward(self, input: Any) -> Any:
        """The shares of the channels."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return functional.softmax(input, -3)


class Threshold(Applied):
    """x where it is above the threshold, `value` elsewhere."""

    function, settings = "threshold", ("threshold", "value", "inplace")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace


class PReLU(Module):
    """x, or a · x where x is negative; a, one for all or one for each channel, is learned and begins as
    `init`.
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(kept(full, (num_parameters,), init, dtype=dtype))

    def reset_parameters(self) -> None:
        """Begin anew."""
        constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """x or a · x."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """How many slopes are learned."""
        return f"num_parameters={self.num_parameters}"
