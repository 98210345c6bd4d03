"""Initial values of parameters."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ..autograd import no_grad
from ..core import F
from ..left_out import refusing as _refusing
from ..ops.decompositions import qr
from ..tensor import Tensor

# ─── Initialization with structure: truncated, orthogonal, sparse and identity weights


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Any = None,
) -> Tensor:  # fmt: skip
    """Fill a tensor from a normal distribution truncated to [a, b].

    Values outside are drawn again. Where that would be nearly all, the inverse of the distribution
    function is used, and the numbers differ from PyTorch's.
    """
    low, high = distribution((a - mean) / std), distribution((b - mean) / std)
    with no_grad():
        if high - low <= 0.3:
            tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
            tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean)
            return tensor.clamp_(min=a, max=b)
        drawn = tensor.normal_(mean, std, generator=generator).detach()
        while bool((outside := F.logical_or(drawn < a, drawn > b)).any()):
            again = F.zeros_like(drawn).normal_(mean, std, generator=generator)
            drawn = F.where(outside, again, drawn)
        return tensor.copy_(drawn)


def distribution(x: float) -> float:
    """Return the normal distribution function at `x`."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill a matrix with random orthogonal rows or columns, times `gain` (Saxe et al., 2013).

    The dimensions after the first are joined.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    with no_grad():
        drawn = F.zeros_of(tensor, (len(tensor), tensor.numel() // len(tensor)))
        drawn = drawn.normal_(0, 1, generator=generator)
        is_wide = drawn.shape[0] < drawn.shape[1]
        q, r = qr(drawn.t() if is_wide else drawn)
        q = q * r.diagonal().sign()
        tensor.copy_((q.t() if is_wide else q).reshape(tensor.shape))
        return tensor.mul_(gain)


# ─── Initialization of parameters, in place and outside any graph


GAINS = {"sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
LINEAR = ("linear", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor for weights that keeps the variance after a nonlinearity; `param` is leaky_relu's
    slope.
    """
    if nonlinearity in LINEAR:
        return 1
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill a tensor with numbers drawn uniformly from a to b.

    Args:
        tensor: tensor to fill, in place and outside any graph.
        a: lower bound.
        b: upper bound.
        generator: source of the random numbers; the default generator if None.

    Returns:
        The tensor.

    Raises:
        RuntimeError: a is greater than b.

    Example:
        >>> nn.init.uniform_(torch.empty(2), 3.0, 3.0).tolist()
        [3.0, 3.0]

    Source: PyTorch's page `torch.nn.init`.
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill a tensor with numbers drawn from a normal distribution.

    Args:
        tensor: tensor to fill, in place and outside any graph.
        mean: mean of the distribution.
        std: standard deviation of the distribution.
        generator: source of the random numbers; the default generator if None.

    Returns:
        The tensor.

    Raises:
        RuntimeError: std is negative.

    Example:
        >>> nn.init.normal_(torch.empty(2), mean=1.0, std=0.0).tolist()
        [1.0, 1.0]

    Source: PyTorch's page `torch.nn.init`.
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill a tensor with one value.

    Args:
        tensor: tensor to fill, in place and outside any graph.
        val: the value.

    Returns:
        The tensor.

    Example:
        >>> nn.init.constant_(torch.empty(2), 0.5).tolist()
        [0.5, 0.5]

    Source: PyTorch's page `torch.nn.init`.
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill a tensor with ones.

    Args:
        tensor: tensor to fill, in place and outside any graph.

    Returns:
        The tensor.

    Example:
        >>> nn.init.ones_(torch.empty(2)).tolist()
        [1.0, 1.0]

    Source: PyTorch's page `torch.nn.init`.
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill a tensor with zeros.

    Args:
        tensor: tensor to fill, in place and outside any graph.

    Returns:
        The tensor.

    Example:
        >>> nn.init.zeros_(torch.empty(2)).tolist()
        [0.0, 0.0]

    Source: PyTorch's page `torch.nn.init`.
    """
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on the diagonal and zeros elsewhere."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1.0)
    return tensor


def fans(tensor: Tensor) -> tuple[int, int]:
    """Return fan_in, the number of inputs of one output, and fan_out, the number of outputs of one input."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill a weight with numbers drawn uniformly from ±gain · √(6 / (fan_in + fan_out)).

    fan_in is the number of inputs of one output, and fan_out the number of outputs of one input. Activations
    and gradients then keep about the same variance from layer to layer.

    Args:
        tensor: weight to fill, in place and outside any graph.
        gain: factor; see `calculate_gain`.
        generator: source of the random numbers; the default generator if None.

    Returns:
        The tensor.

    Raises:
        ValueError: the tensor has fewer than two dimensions.

    Example:
        >>> nn.init.xavier_uniform_(torch.empty(2, 4)).abs().max().item() <= 1.0
        True

    Source: PyTorch's page `torch.nn.init`; Glorot and Bengio, 2010.
    """
    bound = gain * math.sqrt(2.0 / sum(fans(tensor))) * math.sqrt(3.0)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill a weight from a normal distribution of standard deviation gain·√(2 / (fan_in + fan_out))."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor))), generator)


def deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    """Return Kaiming's standard deviation: gain / √fan."""
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[mode == "fan_out"])


def is_empty(tensor: Tensor) -> bool:
    """Return whether there is nothing to initialize; warn if so."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return 0 in tensor.shape


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:  # fmt: skip
    """Fill a weight with numbers drawn uniformly from ±gain · √(3 / fan).

    The gain is √(2 / (1 + a²)) for leaky_relu; see `calculate_gain`. Activations ("fan_in") or gradients
    ("fan_out") then keep about the same variance from layer to layer.

    Args:
        tensor: weight to fill, in place and outside any graph.
        a: negative slope of leaky_relu.
        mode: "fan_in" or "fan_out".
        nonlinearity: name of the function after the layer.
        generator: source of the random numbers; the default generator if None.

    Returns:
        The tensor.

    Raises:
        ValueError: the tensor has fewer than two dimensions, or mode or nonlinearity is unknown.

    Example:
        >>> nn.init.kaiming_uniform_(torch.empty(2, 6)).abs().max().item() <= 1.0
        True

    Source: PyTorch's page `torch.nn.init`; He et al., 2015, arXiv:1502.01852.
    """
    if is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:  # fmt: skip
    """Fill a weight with numbers drawn from a normal distribution of standard deviation gain / √fan.

    See `kaiming_uniform_`.

    Args:
        tensor: weight to fill, in place and outside any graph.
        a: negative slope of leaky_relu.
        mode: "fan_in" or "fan_out".
        nonlinearity: name of the function after the layer.
        generator: source of the random numbers; the default generator if None.

    Returns:
        The tensor.

    Raises:
        ValueError: the tensor has fewer than two dimensions, or mode or nonlinearity is unknown.

    Example:
        >>> nn.init.kaiming_normal_(torch.empty(2, 4)).shape
        torch.Size([2, 4])

    Source: PyTorch's page `torch.nn.init`; He et al., 2015, arXiv:1502.01852.
    """
    if is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, deviation(tensor, a, mode, nonlinearity), generator)


def deprecated_alias(method: Any) -> Any:
    """Return the old name of a function, without the underscore at the end."""
    new = method.__name__
    old = new[:-1]

    def call(*args: Any, **kwargs: Any) -> Any:
        text = f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`."
        warnings.warn(text, FutureWarning, stacklevel=2)
        return method(*args, **kwargs)

    call.__name__ = call.__qualname__ = old
    call.__doc__ = f"Deprecated: `{new}`."
    return call


uniform, normal, constant = map(deprecated_alias, (uniform_, normal_, constant_))
eye, orthogonal = deprecated_alias(eye_), deprecated_alias(orthogonal_)
xavier_uniform, xavier_normal = deprecated_alias(xavier_uniform_), deprecated_alias(xavier_normal_)
kaiming_uniform, kaiming_normal = deprecated_alias(kaiming_uniform_), deprecated_alias(kaiming_normal_)

__getattr__ = _refusing("nn.init")
