"""The pseudoinverse, and the least-squares solution of linear equations.

Derivatives as in PyTorch's FunctionsManual.cpp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import RAW, F, differentiable
from .arithmetic import plus
from .decompositions import adjoint


def pinv_vjp(g: Any, self: Any, result: Any) -> Any:
    """Composed as in PyTorch's `pinv_backward`, by the shorter way for tall and for wide matrices."""
    turned, g = adjoint(result), adjoint(g)
    if self.shape[-2] <= self.shape[-1]:
        inside = g @ result
        back = inside @ turned
        rest = (turned @ result) @ (g - inside @ self)
        return back - (self @ result) @ back - adjoint(result @ inside) + rest
    inside = result @ g
    back = turned @ inside
    rest = ((g - self @ inside) @ result) @ turned
    return rest + back - (back @ result) @ self - adjoint(inside @ result)


@differentiable(self=pinv_vjp, complexes=True)
def linalg_pinv(self, atol=None, rtol=None, hermitian=False):
    """Return the pseudoinverse: singular values up to max(atol, rtol · the largest) count as zero."""
    if self.size == 0:
        return np.zeros((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)
    if rtol is None:
        no_atol = atol is None or not np.any(np.asarray(atol) > 0)
        rtol = max(self.shape[-2:]) * np.finfo(self.dtype).eps if no_atol else 0
    if hermitian:
        s, u = np.linalg.eigh(self)
        vh = u.conj().mT
    else:
        u, s, vh = np.linalg.svd(self, full_matrices=False)
    sizes = np.abs(s)
    limit = np.maximum(
        np.asarray(atol or 0 if not isinstance(atol, RAW) else atol)[..., None],
        np.asarray(rtol)[..., None] * sizes.max(-1, keepdims=True),
    )
    inverse = np.where(sizes > limit, 1 / np.where(sizes > limit, s, 1), 0).astype(self.dtype)
    return (vh.conj().mT * inverse[..., None, :]) @ u.conj().mT


def has_residuals(g: Any) -> bool:
    """Return whether a gradient comes from residuals; they may be an empty tensor."""
    return g is not None and 0 not in g.shape


def residual_gradient(g: Any, A: Any, b: Any, solution: Any) -> Any:
    """`2 · (A @ X - B) · g`, g being the gradient of the sums of squares."""
    return F.mul_scalar((A @ solution - b) * F.unsqueeze(g, -2), 2)


def lstsq_b_vjp(grads: Any, self: Any, b: Any, solution: Any) -> Any:
    """`A⁺ᴴ @ g`, and minus the gradient of the residual."""
    sent = None if grads[0] is None else adjoint(F.linalg_pinv(self)) @ grads[0]
    if not has_residuals(grads[1]):
        return sent
    of_residual = F.neg(residual_gradient(grads[1], self, b, solution))
    return plus(sent, of_residual)


def lstsq_a_vjp(grads: Any, self: Any, b: Any, solution: Any) -> Any:
    """Through the pseudoinverse, of which the solution is the product with b, and through the residual."""
    sent = None
    if grads[0] is not None:
        sent = pinv_vjp(grads[0] @ adjoint(b), self, F.linalg_pinv(self))
    if not has_residuals(grads[1]):
        return sent
    of_residual = residual_gradient(grads[1], self, b, solution) @ adjoint(solution)
    return plus(sent, of_residual)


@differentiable(
    self=lstsq_a_vjp,
    b=lstsq_b_vjp,
    complexes=True,
    several=("solution", "residuals", "rank", "singular_values"),
    constants=("rank", "singular_values"),
)
def linalg_lstsq(self, b, rcond, driver):
    """Return the shortest X for which `self @ X - b` is shortest; the sums of squares of that; the rank;
    singular values. Singular values up to `rcond` · the largest count as zero.
    """
    u, s, vh = np.linalg.svd(self, full_matrices=False)
    real = s.dtype
    kept = s > rcond * s.max(-1, keepdims=True, initial=0)
    inverse = np.where(kept, 1 / np.where(kept, s, 1), 0).astype(real)
    solution = vh.conj().mT @ (inverse[..., None] * (u.conj().mT @ b))
    rank = kept.sum(-1)
    rows, columns = self.shape[-2:]
    residuals = values = np.zeros(0, real)
    if rows > columns and driver != "gelsy" and np.all(rank == columns):
        residuals = (np.abs(self @ solution - b) ** 2).sum(-2).astype(real)
    if driver in ("gelsd", "gelss"):
        values = s
    return solution, residuals, np.zeros(0, np.int64) if driver == "gels" else rank, values
