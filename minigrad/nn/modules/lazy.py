"""Layers that find out from their first input how many numbers come in.

Until then their parameters have no shape. The first call gives them one, draws their numbers, and makes the
layer one of the ordinary class.
"""

from __future__ import annotations

from typing import Any

from ...tensor import Tensor
from ..parameter import Uninitialized, UninitializedBuffer, UninitializedParameter
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .linear import Linear
from .module import Module

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
    "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d",
    "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
]  # fmt: skip


class Lazy(Module):
    """A layer without the number that is its first argument, which it keeps as `counted`."""

    cls_to_become: type[Module]
    counted = "in_features"

    def _forget_shapes(self) -> None:
        """Put parameters and buffers without a shape instead of those that were made for no input."""
        for name, t in self._parameters.items():
            if t is not None:
                self._parameters[name] = UninitializedParameter(dtype=t.dtype)
        for name, t in self._buffers.items():
            if t is not None and t.ndim:
                self._buffers[name] = UninitializedBuffer(dtype=t.dtype)

    def _found(self, input: Any) -> int:
        """The number that an input tells."""
        raise NotImplementedError

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of parameters and buffers, now that the number is known."""
        raise NotImplementedError

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        kept = (*self._parameters.values(), *self._buffers.values())
        return any(isinstance(t, Uninitialized) for t in kept)

    def initialize_parameters(self, input: Any) -> None:
        """Give parameters and buffers the shapes that the input asks for, and draw their numbers."""
        if self.has_uninitialized_params():
            setattr(self, self.counted, self._found(input))
            for name, shape in self._shapes().items():
                t = getattr(self, name)
                if t is not None:
                    t.materialize(shape)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the numbers anew, once there are any."""
        if getattr(self, self.counted) and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def _load(self, name: str, t: Any, key: str, given: Any, assign: bool) -> list[str]:
        if isinstance(t, Uninitialized) and isinstance(given, Tensor):
            if isinstance(given, Uninitialized):
                return []
            t.materialize(given.shape)
        return super()._load(name, t, key, given, assign)

    def __call__(self, input: Any, *args: Any, **kwargs: Any) -> Any:
        self.initialize_parameters(input)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]
        return self(input, *args, **kwargs)


class LazyLinear(Lazy, Linear):
    """Linear whose `in_features` are those of its first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        Linear.__init__(self, 0, out_features, bias, device, dtype)
        self._forget_shapes()

    def _found(self, input: Any) -> int:
        return int(input.shape[-1])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}

    def initialize_parameters(self, input: Any) -> None:
        """Give weight and bias their shapes and draw them; AssertionError if the weight was loaded and does
        not fit.
        """
        super().initialize_parameters(input)
        if self.in_features == 0:
            found, has = input.shape[-1], self.weight.shape[-1]
            if found != has:
                raise AssertionError(
                    f"The in_features inferred from input: {found} is not equal to in_features from "
                    f"self.weight: {has}"
                )
            self.in_features = found


class LazyConvolving(Lazy):
    """A convolution whose `in_channels` are those of its first input."""

    counted = "in_channels"

    def __init__(self, out_channels: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, out_channels, kernel_size, *args, **kwargs)  # type: ignore[call-arg]
        self._forget_shapes()

    def _found(self, input: Any) -> int:
        n = self.dims + 1
        if input.ndim not in (n, n + 1):
            raise RuntimeError(
                f"Expected {n}D (unbatched) or {n + 1}D (batched) input to {self._get_name()}, but got input "
                f"of size: {input.shape}"
            )
        channels = int(input.shape[-n])
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        return channels

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        first, second = self.out_channels, self.in_channels
        if self.is_transposed:
            first, second = second, first
        return {"weight": (first, second // self.groups, *self.kernel_size), "bias": (self.out_channels,)}


class LazyConv1d(LazyConvolving, Conv1d):
    """Conv1d whose `in_channels` are those of its first input."""

    cls_to_become = Conv1d


class LazyConv2d(LazyConvolving, Conv2d):
    """Conv2d whose `in_channels` are those of its first input."""

    cls_to_become = Conv2d


class LazyConv3d(LazyConvolving, Conv3d):
    """Conv3d whose `in_channels` are those of its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(LazyConvolving, ConvTranspose1d):
    """ConvTranspose1d whose `in_channels` are those of its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(LazyConvolving, ConvTranspose2d):
    """ConvTranspose2d whose `in_channels` are those of its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(LazyConvolving, ConvTranspose3d):
    """ConvTranspose3d whose `in_channels` are those of its first input."""

    cls_to_become = ConvTranspose3d


class LazyNorm(Lazy):
    """A normalisation whose `num_features` are the channels of its first input."""

    counted = "num_features"

    def __init__(
        self, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True, track_running_stats: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        settings = (eps, momentum, affine, track_running_stats, device, dtype)
        super().__init__(0, *settings, bias=bias)  # type: ignore[call-arg]
        self._forget_shapes()

    def _found(self, input: Any) -> int:
        return int(input.shape[1])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("weight", "bias", "running_mean", "running_var"), (self.num_features,))

    def reset_parameters(self) -> None:
        """Begin anew, once there is something to begin with."""
        if self.num_features and not self.has_uninitialized_params():
            self.reset_running_stats()
        super().reset_parameters()


class LazyBatchNorm1d(LazyNorm, BatchNorm1d):
    """BatchNorm1d whose `num_features` are the channels of its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(LazyNorm, BatchNorm2d):
    """BatchNorm2d whose `num_features` are the channels of its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(LazyNorm, BatchNorm3d):
    """BatchNorm3d whose `num_features` are the channels of its first input."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(LazyNorm, InstanceNorm1d):
    """InstanceNorm1d whose `num_features` are the channels of its first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(LazyNorm, InstanceNorm2d):
    """InstanceNorm2d whose `num_features` are the channels of its first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(LazyNorm, InstanceNorm3d):
    """InstanceNorm3d whose `num_features` are the channels of its first input."""

    cls_to_become = InstanceNorm3d
