"""Convolution layers, and their base class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.devices import check_device
from ...left_out import refuse
from .. import functional
from .linear import Affine, empty

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def repeat_per_dimension(value: Any, dims: int) -> tuple[int, ...]:
    """Return one number for each dimension."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims


class ConvBase(Affine):
    """Base class of convolution layers of `dims` dimensions, which call `function`. Weight and bias are
    drawn uniformly from ±1/√(channels in / groups · kernel elements).
    """

    dims, function = 0, ""
    is_transposed = False
    padding_mode = "zeros"

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        output_padding: Any, groups: int, bias: bool, dtype: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation, self.output_padding = (
            repeat_per_dimension(value, self.dims)
            for value in (kernel_size, stride, dilation, output_padding)
        )
        self.padding: Any = padding if isinstance(padding, str) else repeat_per_dimension(padding, self.dims)
        first, second = (in_channels, out_channels) if self.is_transposed else (out_channels, in_channels)
        self.weight = empty(first, second // groups, *self.kernel_size, dtype=dtype)
        self.register_parameter("bias", empty(out_channels, dtype=dtype) if bias else None)
        self.reset_parameters()

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        told = f"{self.in_channels}, {self.out_channels}"
        told += f", kernel_size={self.kernel_size}, stride={self.stride}"
        zeros = (0,) * self.dims
        usual = {"padding": zeros, "dilation": (1,) * self.dims, "output_padding": zeros, "groups": 1}
        told += "".join(f", {n}={getattr(self, n)}" for n in usual if getattr(self, n) != usual[n])
        told += "" if self.bias is not None else ", bias=False"
        return told if self.padding_mode == "zeros" else f"{told}, padding_mode={self.padding_mode}"


class Conv(ConvBase):
    """Base class of `Conv1d`, `Conv2d` and `Conv3d`."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode not in PADDING_MODES:
            told = ", ".join(map(repr, PADDING_MODES))
            raise ValueError(f"padding_mode must be one of {{{told}}}, but got padding_mode='{padding_mode}'")
        refuse(type(self).__name__, **{"padding_mode='circular'": padding_mode == "circular"})
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
        if padding == "same" and any(n != 1 for n in repeat_per_dimension(stride, self.dims)):
            raise ValueError("padding='same' is not supported for strided convolutions")
        sizes = (kernel_size, stride, padding, dilation, 0)
        super().__init__(in_channels, out_channels, *sizes, groups, bias, dtype)
        check_device(device)
        self.padding_mode = padding_mode

    def forward(self, input: Any) -> Any:
        """Convolve the input."""
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = functional.pad(input, self._borders(), self.padding_mode)
            padding = 0
        return getattr(functional, self.function)(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def _borders(self) -> tuple[int, ...]:
        """Return the widths before and after along the last dimension, then the one before, and so on."""
        padding: Any = self.padding
        if padding == "valid":
            return (0,) * (2 * self.dims)
        if padding != "same":
            return tuple(n for n in reversed(padding) for _ in range(2))
        total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
        return tuple(part for n in reversed(total) for part in (n // 2, n - n // 2))


class Conv1d(Conv):
    """Layer that applies a one-dimensional cross-correlation with learned kernels.

    y[n, o, l] = b[o] + Σ_c Σ_k W[o, c, k] · x[n, c, stride · l + dilation · k − padding]. The derivative with
    respect to x is a transposed convolution of the upstream gradient. See `Conv2d` for the other arguments.

    Args:
        in_channels: number of channels of the input.
        out_channels: number of channels of the output, one kernel each.
        kernel_size: number of elements of a kernel along L.
        stride: step from one window to the next.
        padding: number of elements added at both ends, or "same" or "valid".
        dilation: distance between the elements of a kernel.
        groups: number of groups of channels that are convolved separately.
        bias: False leaves out b.
        padding_mode: "zeros", "reflect" or "replicate".
        device: must be the CPU.
        dtype: dtype of W and b; the default dtype if None.

    Shape:
        (N, in_channels, L) or (in_channels, L) → (N, out_channels, Lₒ) or (out_channels, Lₒ), where
        Lₒ = ⌊(L + 2 · padding − dilation · (kernel_size − 1) − 1) / stride⌋ + 1.

    Raises:
        ValueError: groups does not divide the channels, or the padding or its mode is unknown.
        RuntimeError: the input has another number of channels, or it is smaller than a kernel.

    Example:
        >>> nn.Conv1d(1, 4, kernel_size=3)(torch.ones(2, 1, 10)).shape
        torch.Size([2, 4, 8])

    Source: PyTorch's page `torch.nn.Conv1d`.
    """

    dims, function = 1, "conv1d"


class Conv2d(Conv):
    """Layer that applies a two-dimensional cross-correlation with learned kernels.

    y[n, o, i, j] = b[o] + Σ_c Σ_k Σ_l W[o, c, k, l] · x[n, c, i · stride + k · dilation − padding, …]. The
    derivative with respect to x is a transposed convolution of the upstream gradient with the same kernels.
    W and b are drawn uniformly from ±1/√(in_channels / groups · elements of a kernel).

    Args:
        in_channels: number of channels of the input.
        out_channels: number of channels of the output, one kernel each.
        kernel_size: height and width of a kernel, or one number for both; so for the next three.
        stride: step from one window to the next.
        padding: number of rows and columns added on each side, or "same" or "valid".
        dilation: distance between the elements of a kernel.
        groups: number of groups of channels that are convolved separately.
        bias: False leaves out b.
        padding_mode: "zeros", "reflect" or "replicate".
        device: must be the CPU.
        dtype: dtype of W and b; the default dtype if None.

    Shape:
        (N, in_channels, H, W) or (in_channels, H, W) → (N, out_channels, Hₒ, Wₒ) or (out_channels, Hₒ, Wₒ),
        where Hₒ = ⌊(H + 2 · padding − dilation · (kernel_size − 1) − 1) / stride⌋ + 1, and Wₒ likewise.

    Raises:
        ValueError: groups does not divide the channels, or the padding or its mode is unknown.
        RuntimeError: the input has another number of channels, or it is smaller than a kernel.

    Example:
        >>> nn.Conv2d(3, 8, kernel_size=3, padding=1)(torch.ones(2, 3, 5, 5)).shape
        torch.Size([2, 8, 5, 5])

    Source: PyTorch's page `torch.nn.Conv2d`.
    """

    dims, function = 2, "conv2d"


class Conv3d(Conv):
    """Layer that applies a three-dimensional cross-correlation with learned kernels.

    The formula is that of `Conv2d` with one more dimension. The derivative with respect to x is a transposed
    convolution of the upstream gradient with the same kernels.

    Args:
        in_channels: number of channels of the input.
        out_channels: number of channels of the output, one kernel each.
        kernel_size: depth, height and width of a kernel, or one number for all; so for the next three.
        stride: step from one window to the next.
        padding: number of elements added on each side, or "same" or "valid".
        dilation: distance between the elements of a kernel.
        groups: number of groups of channels that are convolved separately.
        bias: False leaves out b.
        padding_mode: "zeros", "reflect" or "replicate".
        device: must be the CPU.
        dtype: dtype of W and b; the default dtype if None.

    Shape:
        (N, in_channels, D, H, W) or (in_channels, D, H, W) → (N, out_channels, Dₒ, Hₒ, Wₒ) or without N. For
        the sizes of the output see `Conv2d`.

    Raises:
        ValueError: groups does not divide the channels, or the padding or its mode is unknown.
        RuntimeError: the input has another number of channels, or it is smaller than a kernel.

    Example:
        >>> nn.Conv3d(1, 2, kernel_size=2)(torch.ones(1, 1, 4, 4, 4)).shape
        torch.Size([1, 2, 3, 3, 3])

    Source: PyTorch's page `torch.nn.Conv3d`.
    """

    dims, function = 3, "conv3d"


class ConvTranspose(ConvBase):
    """Base class of `ConvTranspose1d`, `ConvTranspose2d` and `ConvTranspose3d`."""

    is_transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        sizes = (kernel_size, stride, padding, dilation, output_padding)
        super().__init__(in_channels, out_channels, *sizes, groups, bias, dtype)
        check_device(device)

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """Apply the transposed convolution."""
        refuse(type(self).__name__, output_size=output_size is not None)
        how = (self.stride, self.padding, self.output_padding, self.groups, self.dilation)
        return getattr(functional, self.function)(input, self.weight, self.bias, *how)


class ConvTranspose1d(ConvTranspose):
    """Layer that applies a transposed one-dimensional convolution; see `ConvTranspose2d`."""

    dims, function = 1, "conv_transpose1d"


class ConvTranspose2d(ConvTranspose):
    """Layer that applies a transposed two-dimensional convolution.

    It multiplies each element of the input by the kernel and adds the products where the windows overlap.
    This is the derivative of `Conv2d` with respect to its input; its own derivative is a convolution.

    Args:
        in_channels: number of channels of the input.
        out_channels: number of channels of the output.
        kernel_size: height and width of a kernel, or one number for both; so for the next three.
        stride: step from one window to the next in the output.
        padding: number of rows and columns removed on each side of the output.
        output_padding: number of rows and columns added at the end of the output.
        groups: number of groups of channels that are convolved separately.
        bias: False leaves out the bias.
        dilation: distance between the elements of a kernel.
        padding_mode: only "zeros".
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        (N, in_channels, H, W) or (in_channels, H, W) → (N, out_channels, Hₒ, Wₒ) or without N, where
        Hₒ = (H − 1) · stride − 2 · padding + dilation · (kernel_size − 1) + output_padding + 1.

    Raises:
        ValueError: groups does not divide the channels, or padding_mode or `output_size` is not possible.
        RuntimeError: the input has another number of channels.

    Example:
        >>> nn.ConvTranspose2d(4, 1, kernel_size=2, stride=2)(torch.ones(1, 4, 3, 3)).shape
        torch.Size([1, 1, 6, 6])

    Source: PyTorch's page `torch.nn.ConvTranspose2d`; Zeiler et al., "Deconvolutional Networks", 2010.
    """

    dims, function = 2, "conv_transpose2d"


class ConvTranspose3d(ConvTranspose):
    """Layer that applies a transposed three-dimensional convolution; see `ConvTranspose2d`."""

    dims, function = 3, "conv_transpose3d"
