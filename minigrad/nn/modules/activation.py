"""Activation layers."""

from __future__ import annotations

from .applied import Applied, InPlace
from .attention import MultiheadAttention as MultiheadAttention
from .prelu import PReLU
from .softmaxes import GLU, LogSoftmax, Softmax, Softmax2d, Softmin

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax",
    "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


class ReLU(InPlace):
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

    function = "relu"


class ReLU6(InPlace):
    """Layer that returns min(max(0, x), 6)."""

    function = "relu6"


class SiLU(InPlace):
    """Layer that returns x · sigmoid(x)."""

    function = "silu"


class Mish(InPlace):
    """Layer that returns x · tanh(softplus(x))."""

    function = "mish"


class SELU(InPlace):
    """ELU with the scale that keeps mean 0 and variance 1 (Klambauer et al., 2017)."""

    function = "selu"


class Hardswish(InPlace):
    """Layer that returns x · relu6(x + 3) / 6."""

    function = "hardswish"


class Hardsigmoid(InPlace):
    """Layer that returns relu6(x + 3) / 6."""

    function = "hardsigmoid"


class Sigmoid(Applied):
    """Layer that returns the logistic function y = 1 / (1 + e⁻ˣ) of each element.

    The derivative is y · (1 − y).

    Shape:
        (*) → (*).

    Example:
        >>> nn.Sigmoid()(torch.zeros(2)).tolist()
        [0.5, 0.5]

    Source: PyTorch's page `torch.nn.Sigmoid`.
    """

    function = "sigmoid"


class Tanh(Applied):
    """Layer that returns the hyperbolic tangent y = (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ) of each element.

    The derivative is 1 − y².

    Shape:
        (*) → (*).

    Example:
        >>> nn.Tanh()(torch.zeros(2)).tolist()
        [0.0, 0.0]

    Source: PyTorch's page `torch.nn.Tanh`.
    """

    function = "tanh"


class LogSigmoid(Applied):
    """Layer that returns log sigmoid(x)."""

    function = "logsigmoid"


class Softsign(Applied):
    """Layer that returns x / (1 + |x|)."""

    function = "softsign"


class Tanhshrink(Applied):
    """Layer that returns x − tanh(x)."""

    function = "tanhshrink"


class LeakyReLU(Applied):
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

    function, settings = "leaky_relu", ("negative_slope", "inplace")

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace


class ELU(Applied):
    """Layer that returns x where x > 0 and alpha · (eˣ − 1) elsewhere (Clevert et al., 2015)."""

    function, settings = "elu", ("alpha", "inplace")

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


class CELU(ELU):
    """Layer that returns x where x > 0 and alpha · (e^(x / alpha) − 1) elsewhere."""

    function = "celu"


class GELU(Applied):
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

    function, settings = "gelu", ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate


class Softplus(Applied):
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

    function, settings = "softplus", ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold


class Hardtanh(Applied):
    """Layer that clamps x to [min_val, max_val]."""

    function, settings = "hardtanh", ("min_val", "max_val", "inplace")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace
        if not max_val > min_val:
            raise AssertionError("max_val must be larger than min_val")


class Shrink(Applied):
    """Base class of layers with a threshold `lambd` around 0."""

    settings = ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return str(self.lambd)


class Hardshrink(Shrink):
    """Layer that returns x, and 0 where |x| ≤ lambd."""

    function = "hardshrink"


class Softshrink(Shrink):
    """Layer that moves x toward 0 by lambd."""

    function = "softshrink"


class Threshold(Applied):
    """Layer that returns x where it is above `threshold`, and `value` elsewhere."""

    function, settings = "threshold", ("threshold", "value", "inplace")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace
