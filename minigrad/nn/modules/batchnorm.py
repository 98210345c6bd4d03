"""Batch normalization layers, and base classes of the other normalization layers."""

from __future__ import annotations

from typing import Any

from ...core.devices import check_device
from ...core.dtypes import int64
from ...creation import ones, tensor, zeros
from .. import functional, init
from ..parameter import Parameter
from ..parameter import create_hidden as kept
from .module import Module

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]


class NormBase(Module):
    """Base class of normalization layers, which may have a weight and a bias."""

    def _learn(self, shape: Any, weight: bool, bias: bool, dtype: Any) -> None:
        self.register_parameter("weight", Parameter(kept(ones, *shape, dtype=dtype)) if weight else None)
        self.register_parameter("bias", Parameter(kept(zeros, *shape, dtype=dtype)) if bias else None)

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


class NormWithStatistics(NormBase):
    """Base class of layers that may keep running statistics and use them in evaluation."""

    _shown = "num_features eps= momentum= affine= bias= track_running_stats="
    ranks: tuple[int, ...] = ()  # how many dimensions an input may have

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        check_device(device)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._learn((num_features,), affine, affine and bias, dtype)
        tracks = track_running_stats
        self.register_buffer("running_mean", kept(zeros, num_features, dtype=dtype) if tracks else None)
        self.register_buffer("running_var", kept(ones, num_features, dtype=dtype) if tracks else None)
        self.register_buffer("num_batches_tracked", kept(tensor, 0, dtype=int64) if tracks else None)

    def reset_parameters(self) -> None:
        """Set the weight to 1, the bias to 0, and the running statistics to their start."""
        self.reset_running_stats()
        super().reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running mean to 0 and the running variance to 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def check(self, input: Any) -> None:
        """Raise ValueError unless the input has a number of dimensions that the layer supports."""
        if input.dim() not in self.ranks:
            expected = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")


class BatchNorm(NormWithStatistics):
    """Base class of `BatchNorm1d`, `BatchNorm2d` and `BatchNorm3d`."""

    def forward(self, input: Any) -> Any:
        """Normalize the input; in training, move the running statistics."""
        self.check(input)
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                share = 1.0 / self.num_batches_tracked.item()
        batch = self.training or self.running_mean is None
        running = not self.training or self.track_running_stats
        return functional.batch_norm(
            input, self.running_mean if running else None, self.running_var if running else None, self.weight,
            self.bias, batch, share, self.eps,
        )  # fmt: skip


class BatchNorm1d(BatchNorm):
    """Layer that normalizes each channel over a batch of vectors or sequences.

    y = (x − mean) / √(var + eps) · weight + bias. See `BatchNorm2d` for training and evaluation.

    Args:
        num_features: number of channels C.
        eps: number added to the variance, so that the root is not 0.
        momentum: weight of a new batch in the running statistics; None averages over all batches.
        affine: False leaves out weight and bias.
        track_running_stats: False keeps no running statistics; every batch is then normalized by its own.
        device: must be the CPU.
        dtype: dtype of parameters and buffers; the default dtype if None.
        bias: False leaves out the bias only.

    Shape:
        (N, C) or (N, C, L) → the same shape.

    Raises:
        ValueError: the input has other dimensions, or a training batch has one value per channel.
        RuntimeError: the input has another number of channels.

    Example:
        >>> nn.BatchNorm1d(1)(torch.tensor([[1.0], [3.0]])).tolist()
        [[-0.9999949932098389], [0.9999949932098389]]

    Source: PyTorch's page `torch.nn.BatchNorm1d`; Ioffe and Szegedy, 2015, arXiv:1502.03167.
    """

    ranks = (2, 3)


class BatchNorm2d(BatchNorm):
    """Layer that normalizes each channel over a batch of images.

    y = (x − mean) / √(var + eps) · weight + bias. In training, mean and var are those of the batch, and the
    running statistics move: running ← (1 − momentum) · running + momentum · batch. In evaluation the layer
    uses the running statistics. With x̂ = (y − bias) / weight and the scaled upstream gradient h = g ·
    weight, the derivative in training is (h − mean(h) − x̂ · mean(h · x̂)) / √(var + eps).

    Args:
        num_features: number of channels C.
        eps: number added to the variance, so that the root is not 0.
        momentum: weight of a new batch in the running statistics; None averages over all batches.
        affine: False leaves out weight and bias.
        track_running_stats: False keeps no running statistics; every batch is then normalized by its own.
        device: must be the CPU.
        dtype: dtype of parameters and buffers; the default dtype if None.
        bias: False leaves out the bias only.

    Shape:
        (N, C, H, W) → the same shape.

    Raises:
        ValueError: the input has other dimensions, or a training batch has one value per channel.
        RuntimeError: the input has another number of channels.

    Example:
        >>> nn.BatchNorm2d(3)(torch.ones(2, 3, 4, 4)).shape
        torch.Size([2, 3, 4, 4])

    Source: PyTorch's page `torch.nn.BatchNorm2d`; Ioffe and Szegedy, 2015, arXiv:1502.03167.
    """

    ranks = (4,)


class BatchNorm3d(BatchNorm):
    """Layer that normalizes each channel of (N, C, D, H, W) over a batch; see `BatchNorm2d`."""

    ranks = (5,)
