"""Weights divided by their greatest singular value (Miyato and others, 2018)."""

from __future__ import annotations

from typing import Any

from ...autograd import no_grad
from ...op import F
from ...ops.linalg import dot, mv
from .. import functional
from ..parameter import Parameter
from ..uninitialized import UninitializedParameter
from .hooked import Hooked, hooked, unhooked


class SpectralNorm(Hooked):
    """Sets the weight before each forward: `name_orig` divided by its greatest singular value, as the
    singular vectors in the buffers `name_u` and `name_v` tell it. While training these come nearer to the
    true ones.
    """

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__(name)
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations, self.dim, self.eps = n_power_iterations, dim, eps

    def matrix(self, weight: Any) -> Any:
        """A weight as a matrix whose rows are the places along `dim`."""
        if self.dim:
            weight = weight.permute(self.dim, *(i for i in range(weight.ndim) if i != self.dim))
        return weight.reshape(len(weight), -1)

    def unit(self, vector: Any) -> Any:
        """A vector of length 1."""
        return functional.normalize(vector, dim=0, eps=self.eps)

    def weight(self, module: Any) -> Any:
        """The weight of a module."""
        return self.divided(module, module.training)

    def divided(self, module: Any, improve: bool) -> Any:
        """The weight; `improve` the singular vectors first."""
        original, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        matrix = self.matrix(original)
        if improve:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(self.unit(mv(matrix.t(), u)))
                    u.copy_(self.unit(mv(matrix, v)))
                u, v = u.clone(), v.clone()
        return original / dot(u, mv(matrix, v))


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Let a module divide a parameter by its greatest singular value, as a matrix of which `dim` numbers the
    rows: 0, or 1 for a transposed convolution, if it is not given.
    """
    if dim is None:
        dim = 1 if getattr(module, "is_transposed", False) else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    hooked(module, hook, "spectral_norm")
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    if isinstance(weight, UninitializedParameter):
        raise ValueError(
            "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the "
            "dummy forward before applying spectral normalization"
        )
    with no_grad():
        sizes = hook.matrix(weight).shape
        u, v = (hook.unit(F.zeros_of(weight, (size,)).normal_(0, 1)) for size in sizes)
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo `spectral_norm`: the weight that it has come to is a parameter again."""
    hook = unhooked(module, SpectralNorm, name, "spectral_norm")
    with no_grad():
        weight = hook.divided(module, False)
    for suffix in ("", "_u", "_v", "_orig"):
        delattr(module, name + suffix)
    module.register_parameter(name, Parameter(weight.detach()))
    return module
