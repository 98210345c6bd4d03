"""Layers that bring mean and spread to 0 and 1, then scale and shift with learned numbers."""

from __future__ import annotations

from typing import Any

from ...creation import ones, tensor, zeros
from ...dtypes import int64
from .. import functional, init
from ..module import Module
from ..parameter import Parameter, kept


class Normalising(Module):
    """Weight and bias of a shape, if there are any."""

    def _learn(self, shape: Any, weight: bool, bias: bool, dtype: Any) -> None:
        self.register_parameter("weight", Parameter(kept(ones, *shape, dtype=dtype)) if weight else None)
        self.register_parameter("bias", Parameter(kept(zeros, *shape, dtype=dtype)) if bias else None)

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


class Tracking(Normalising):
    """Normalises over the batch, or within each example; may keep running mean and variance, which take the
    place of the batch's in evaluation.
    """

    ranks: tuple[int, ...] = ()  # how many dimensions an input may have

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._learn((num_features,), affine, affine and bias, dtype)
        tracks = track_running_stats
        self.register_buffer("running_mean", kept(zeros, num_features, dtype=dtype) if tracks else None)
        self.register_buffer("running_var", kept(ones, num_features, dtype=dtype) if tracks else None)
        self.register_buffer("num_batches_tracked", kept(tensor, 0, dtype=int64) if tracks else None)

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def check(self, input: Any) -> None:
        """ValueError unless the input has as many dimensions as this layer takes."""
        if input.ndim not in self.ranks:
            expected = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        """The settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm(Tracking):
    """Batch norm of any number of dimensions."""

    def forward(self, input: Any) -> Any:
        """The normalised input; in training the running statistics move on."""
        self.check(input)
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                share = 1.0 / self.num_batches_tracked.item()
        batch = self.training or self.running_mean is None
        running = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if running else None,
            self.running_var if running else None,
            self.weight,
            self.bias,
            batch,
            share,
            self.eps,
        )


class BatchNorm1d(BatchNorm):
    """Batch norm of (N, C) or (N, C, L), over all but C."""

    ranks = (2, 3)


class BatchNorm2d(BatchNorm):
    """Batch norm of (N, C, H, W), over all but C."""

    ranks = (4,)


class BatchNorm3d(BatchNorm):
    """Batch norm of (N, C, D, H, W), over all but C."""

    ranks = (5,)


class InstanceNorm(Tracking):
    """Instance norm of any number of dimensions."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        self.check(input)
        alone = input.ndim == min(self.ranks)
        result = functional.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return result.squeeze(0) if alone else result


class InstanceNorm1d(InstanceNorm):
    """Normalises each channel of each example of (N, C, L) or (C, L)."""

    ranks = (2, 3)


class InstanceNorm2d(InstanceNorm):
    """Normalises each channel of each example of (N, C, H, W) or (C, H, W)."""

    ranks = (3, 4)


class InstanceNorm3d(InstanceNorm):
    """Normalises each channel of each example of (N, C, D, H, W) or (C, D, H, W)."""

    ranks = (4, 5)


def shape_of(size: Any) -> tuple[int, ...]:
    """A shape given as a number or a sequence."""
    return (size,) if isinstance(size, int) else tuple(size)


class LayerNorm(Normalising):
    """Normalises each example over its last dimensions, of shape `normalized_shape`."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps = shape_of(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        self._learn(self.normalized_shape, elementwise_affine, elementwise_affine and bias, dtype)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Normalising):
    """Divides by the root of the mean square over the last dimensions, of shape `normalized_shape`."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps = shape_of(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        weight = Parameter(kept(ones, *self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The settings."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Normalising):
    """Normalises each example over groups of channels."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._learn((num_channels,), affine, affine and bias, dtype)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The settings."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Divides by what neighbouring channels have: see `nn.functional.local_response_norm`."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
