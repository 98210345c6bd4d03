"""Layers that find out from their first input how many numbers come in.

Until then their parameters have no shape. The first call gives them one, draws their numbers, and makes the
layer one of the ordinary class.
"""

from __future__ import annotations

from inspect import Signature, signature
from typing import Any

from ...core.guards import check_batch
from ...tensor import Tensor
from ..parameter import UninitializedBuffer, UninitializedParameter
from ..parameter import UninitializedTensor as Uninitialized
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .conv import Conv1d, Conv2d, Conv3d
from .linear import Linear
from .module import Module

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
    "LazyLinear",
]  # fmt: skip


class Lazy(Module):
    """Base class of layers whose first argument, `counted`, is read from the first input. The ordinary class,
    which such a layer becomes, comes after it among the bases.
    """

    cls_to_become: type[Module]
    counted = ""

    def __init_subclass__(cls) -> None:
        ordinary: Any = cls.__bases__[-1]
        if not issubclass(ordinary, Lazy):
            first, *others = signature(ordinary).parameters.values()
            cls.cls_to_become, cls.counted = ordinary, first.name
            cls.__signature__ = Signature(others)  # type: ignore[attr-defined]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, *args, **kwargs)  # type: ignore[call-arg]
        kept = self._parameters | self._buffers
        self._planned = {name: t.shape for name, t in kept.items() if t is not None and t.ndim}
        for name in self._planned:  # 0 stands for the unknown size in these shapes
            if name in self._parameters:
                self._parameters[name] = UninitializedParameter(dtype=kept[name].dtype)
            else:
                self._buffers[name] = UninitializedBuffer(dtype=kept[name].dtype)

    def _found(self, input: Any) -> int:
        """Return the number that the input determines."""
        return int(input.shape[1])

    def has_uninitialized_params(self) -> bool:
        """Return whether a parameter or buffer has no shape yet."""
        kept = (*self._parameters.values(), *self._buffers.values())
        return any(isinstance(t, Uninitialized) for t in kept)

    def initialize_parameters(self, input: Any) -> None:
        """Give parameters and buffers the shapes that fit the input, and initialize them."""
        if self.has_uninitialized_params():
            found = self._found(input)
            setattr(self, self.counted, found)
            for name, shape in self._planned.items():
                getattr(self, name).materialize([n or found // getattr(self, "groups", 1) for n in shape])
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the parameters again, once they have a shape."""
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
    """Linear layer that reads `in_features` from its first input.

    It has no weight until then, and becomes an ordinary `Linear` with the first call.

    Args:
        out_features: size of the last dimension of the output.
        bias: False leaves out the bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        (*, in_features) → (*, out_features).

    Raises:
        RuntimeError: `.shape` of a parameter is read before the first call.
        ValueError: a parameter is modified in place before the first call.

    Example:
        >>> nn.LazyLinear(3)(torch.ones(1, 2)).shape
        torch.Size([1, 3])

    Source: PyTorch's page `torch.nn.LazyLinear`.
    """

    def _found(self, input: Any) -> int:
        return int(input.shape[-1])

    def initialize_parameters(self, input: Any) -> None:
        """Give weight and bias their shapes; loaded ones may have them already."""
        super().initialize_parameters(input)
        self.in_features = self._found(input)


class LazyConvBase(Lazy):
    """Base class of convolution layers that read `in_channels` from their first input."""

    def _found(self, input: Any) -> int:
        n = self.dims + 1
        check_batch(input, self.dims, self._get_name(), input.shape)
        channels = int(input.shape[-n])
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        return channels


class LazyConv1d(LazyConvBase, Conv1d):
    """Conv1d that reads `in_channels` from its first input."""


class LazyConv2d(LazyConvBase, Conv2d):
    """Conv2d that reads `in_channels` from its first input."""


class LazyConv3d(LazyConvBase, Conv3d):
    """Conv3d that reads `in_channels` from its first input."""


class LazyBatchNorm1d(Lazy, BatchNorm1d):
    """BatchNorm1d that reads `num_features` from its first input."""


class LazyBatchNorm2d(Lazy, BatchNorm2d):
    """BatchNorm2d that reads `num_features` from its first input."""


class LazyBatchNorm3d(Lazy, BatchNorm3d):
    """BatchNorm3d that reads `num_features` from its first input."""
