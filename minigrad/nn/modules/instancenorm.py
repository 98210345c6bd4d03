"""Instance normalization layers."""

from __future__ import annotations

from typing import Any

from ...core.user_warnings import warn
from .. import functional
from .batchnorm import NormWithStatistics

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


UNUSED = (
    "input's size at dim={} does not match num_features. You can silence this warning by not passing in "
    "num_features, which is not used because affine=False"
)


class InstanceNorm(NormWithStatistics):
    """Base class of `InstanceNorm1d`, `InstanceNorm2d` and `InstanceNorm3d`."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Any) -> Any:
        """Normalize the input."""
        self.check(input)
        alone = input.ndim == min(self.ranks)
        dim = 0 if alone else 1
        if input.shape[dim] != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but "
                    f"got: {input.shape[dim]}."
                )
            warn(UNUSED.format(dim))
        result = functional.instance_norm(
            input.unsqueeze(0) if alone else input, self.running_mean, self.running_var, self.weight,
            self.bias, self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return result.squeeze(0) if alone else result


class InstanceNorm1d(InstanceNorm):
    """Layer that normalizes each channel of each example of (N, C, L) or (C, L)."""

    ranks = (2, 3)


class InstanceNorm2d(InstanceNorm):
    """Layer that normalizes each channel of each image by its own mean and variance.

    y = (x − mean) / √(var + eps) · weight + bias, where mean and var are taken over H and W. The derivative
    is that of `BatchNorm2d` for a batch of one image.

    Args:
        num_features: number of channels C.
        eps: number added to the variance, so that the root is not 0.
        momentum: weight of a new batch in the running statistics.
        affine: True learns weight and bias.
        track_running_stats: True keeps running statistics and uses them in evaluation.
        device: must be the CPU.
        dtype: dtype of parameters and buffers; the default dtype if None.
        bias: False leaves out the bias only.

    Shape:
        (N, C, H, W) or (C, H, W) → the same shape.

    Raises:
        ValueError: the input has other dimensions, or an image has only one element per channel.

    Example:
        >>> nn.InstanceNorm2d(3)(torch.ones(2, 3, 4, 4)).sum().item()
        0.0

    Source: PyTorch's page `torch.nn.InstanceNorm2d`; Ulyanov et al., 2016, arXiv:1607.08022.
    """

    ranks = (3, 4)


class InstanceNorm3d(InstanceNorm):
    """Layer that normalizes each channel of each example of (N, C, D, H, W) or (C, D, H, W)."""

    ranks = (4, 5)
