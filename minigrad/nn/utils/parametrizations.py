"""Weights with a length and a direction of their own, and weights whose largest singular value is 1."""

from __future__ import annotations

from typing import Any
from typing import NoReturn as _NoReturn

from ...autograd import no_grad
from ...core import F
from ...left_out import missing as _missing
from ...ops.linalg import mv, vdot
from ...tensor import Tensor
from .. import functional
from ..modules.module import Module
from .parametrize import register_parametrization


def lengths(v: Any, dim: int) -> Any:
    """Return the norms over all dimensions but `dim`, or over all for -1."""
    return v.norm() if dim == -1 else v.norm(2, [d for d in range(v.ndim) if d != dim], keepdim=True)


class _WeightNorm(Module):
    """Parametrization of a weight by lengths and a direction (Salimans and Kingma, 2016)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        """Return the direction with the given lengths."""
        return weight_v * (weight_g / lengths(weight_v, self.dim))

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """Return the lengths and the direction of a weight."""
        return lengths(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Parametrize a weight by its length (`original0`) and direction (`original1`).

    There is one length for each index along `dim`, or a single one if it is None.
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    """Parametrization that divides a weight by its largest singular value (Miyato et al., 2018).

    The buffers `_u` and `_v` approximate the singular vectors; each training step improves them.
    """

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps, self.n_power_iterations = dim % ndim, eps, n_power_iterations
        if ndim > 1:
            matrix = self.matrix(weight.detach())
            for vector, size in zip(("_u", "_v"), matrix.shape):
                self.register_buffer(vector, self.unit(F.zeros_of(matrix, (size,)).normal_(0, 1)))
            self.improve(matrix, 15)

    def matrix(self, weight: Any) -> Any:
        """Return a weight as a matrix whose rows are the indices along `dim`."""
        if self.dim:
            weight = weight.permute(self.dim, *(d for d in range(weight.ndim) if d != self.dim))
        return weight.flatten(1)

    def unit(self, vector: Any) -> Any:
        """Scale a vector to length 1."""
        return functional.normalize(vector, dim=0, eps=self.eps)

    def improve(self, matrix: Any, times: int) -> None:
        """Improve the singular vectors by power iteration."""
        with no_grad():
            for _ in range(times):
                self._u.copy_(self.unit(mv(matrix, self._v)))
                self._v.copy_(self.unit(mv(matrix.t(), self._u)))

    def forward(self, weight: Any) -> Any:
        """Return the weight divided by its largest singular value."""
        if weight.ndim == 1:
            return self.unit(weight)
        matrix = self.matrix(weight)
        if self.training:
            self.improve(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        """Return the weight unchanged."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Module:  # fmt: skip
    """Divide a weight by its largest singular value, as a matrix whose rows are the indices along `dim`.

    `dim` is 0 by default, and 1 for a transposed convolution.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if getattr(module, "is_transposed", False) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


def __getattr__(name: str) -> _NoReturn:
    raise _missing("nn.utils.parametrizations", name)
