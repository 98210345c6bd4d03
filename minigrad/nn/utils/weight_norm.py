"""Weights whose length and direction are learned apart (Salimans and Kingma, 2016)."""

from __future__ import annotations

import warnings
from typing import Any

from ...ops.weight_norm import _weight_norm_interface
from ..parameter import Parameter
from ..uninitialized import UninitializedParameter
from .hooked import Hooked, hooked, unhooked


def norm_except_dim(v: Any, dim: int) -> Any:
    """The lengths over all dimensions but `dim`, or over all for -1, composed as PyTorch composes them."""
    if dim == -1:
        return v.norm()
    if dim == 0:
        return v.contiguous().view(len(v), -1).norm(2, 1).view(-1, *(1,) * (v.ndim - 1))
    if dim == v.ndim - 1:
        return v.contiguous().view(-1, v.shape[-1]).norm(2, 0).view(*(1,) * (v.ndim - 1), -1)
    return norm_except_dim(v.transpose(0, dim), 0).transpose(0, dim)


class WeightNorm(Hooked):
    """Sets the weight before each forward: the direction `name_v` with the length `name_g`."""

    def __init__(self, name: str, dim: int) -> None:
        super().__init__(name)
        self.dim = dim

    def weight(self, module: Any) -> Any:
        """The weight of a module."""
        v, g = getattr(module, self.name + "_v"), getattr(module, self.name + "_g")
        if self.dim in (0, v.ndim - 1):
            return _weight_norm_interface(v, g, self.dim)[0]
        return v * (g / norm_except_dim(v, self.dim))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Let a module learn the length (`name_g`) and the direction (`name_v`) of a parameter instead of itself:
    a length for each place along `dim`, or one for all if it is None.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    hook = WeightNorm(name, -1 if dim is None else dim)
    hooked(module, hook, "weight_norm")
    weight = getattr(module, name)
    if isinstance(weight, UninitializedParameter):
        raise ValueError(
            "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the "
            "dummy forward before applying weight normalization"
        )
    delattr(module, name)
    module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, hook.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, hook.weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo `weight_norm`: the weight that it has come to is a parameter again."""
    hook = unhooked(module, WeightNorm, name, "weight_norm")
    weight = hook.weight(module)
    for suffix in ("", "_g", "_v"):
        delattr(module, name + suffix)
    setattr(module, name, Parameter(weight.data))
    return module
