"""Products of Householder reflections `H = I - τ · v @ vᴴ`, as which a QR factorisation has its Q.

The vectors v are the columns of a matrix below its diagonal, on which stands a 1 that is not written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import RAW, F, composite, differentiable
from ..tensor_base import TensorBase, wrap
from .factors import adjoint

# ── kernels
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def reflected(vectors: Any, tau: Any, c: Any, adjoint: bool = False) -> Any:
    """`H₁ @ H₂ @ … @ c`, or with the adjoint of that product; `c` may be written to."""
    n = tau.shape[-1]
    for i in range(n) if adjoint else reversed(range(n)):
        v = unit(np.zeros_like(vectors[..., 0]) + vectors[..., i], i)
        factor = tau[..., i].conj() if adjoint else tau[..., i]
        c = c - factor[..., None, None] * v[..., None] * (v[..., None, :].conj() @ c)
    return c


def unit(v: Any, i: int) -> Any:
    """The vector of reflection `i`: zeros, a 1 and what follows."""
    v[..., :i] = 0
    v[..., i] = 1
    return v


def identity(like: Any) -> Any:
    """The first columns of the identity in the shape of each matrix of a batch."""
    return np.broadcast_to(np.eye(*like.shape[-2:], dtype=like.dtype), like.shape)


# ── derivatives
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@composite
def unit_lower(x: Any, count: int) -> Any:
    """The first `count` columns below the diagonal, with 1 on it."""
    x = F.tril(F.slice(x, -1, 0, count, 1), -1)
    if not isinstance(x, (TensorBase, *RAW)):
        raise TypeError("a symbol has no diagonal")
    raw = x if isinstance(x, RAW) else x._data
    ones = np.eye(*raw.shape[-2:], dtype=raw.dtype)
    return x + (wrap(ones) if isinstance(x, TensorBase) else ones)


@composite
def identity_for(x: Any) -> Any:
    """The first columns of the identity in the shape of `x`."""
    if not isinstance(x, (TensorBase, *RAW)):
        raise TypeError("a symbol has no diagonal")
    raw = x if isinstance(x, RAW) else x._data
    made = np.array(identity(raw))
    return made if isinstance(x, RAW) else wrap(made)


def through_reflections(g: Any, vectors: Any, tau: Any, end: Any) -> tuple[Any, Any]:
    """The gradients of all vectors, as columns, and of `tau`, through `H₁ @ H₂ @ … @ end`."""
    count = tau.shape[-1]
    if not count:
        return F.zeros_like(vectors), F.zeros_like(tau)
    columns = [F.slice(vectors, -1, i, i + 1, 1) for i in range(count)]
    factors = [F.unsqueeze(F.slice(tau, -1, i, i + 1, 1), -1) for i in range(count)]
    ends = [end]  # the product of those after each reflection
    for v, factor in zip(columns[:0:-1], factors[:0:-1]):
        ends.append(ends[-1] - factor * (v @ (adjoint(v) @ ends[-1])))
    of_columns, of_factors = [], []
    for v, factor in zip(columns, factors):
        rest = ends.pop()
        right, left = g @ (adjoint(rest) @ v), rest @ (adjoint(g) @ v)
        of_columns.append(F.neg(F.conj(factor) * right + factor * left))
        of_factors.append(F.neg(adjoint(v) @ right))
        g = g - F.conj(factor) * (v @ (adjoint(v) @ g))
    return F.tril(F.cat(of_columns, -1), -1), F.squeeze_dim(F.cat(of_factors, -2), -1)


def householder_input_vjp(g: Any, input: Any, tau: Any, result: Any) -> Any:
    """See `through_reflections`."""
    sent, _ = through_reflections(g, unit_lower(input, tau.shape[-1]), tau, identity_for(g))
    return F.constant_pad_nd(sent, (0, input.shape[-1] - tau.shape[-1]), 0)


def householder_tau_vjp(g: Any, input: Any, tau: Any, result: Any) -> Any:
    """See `through_reflections`."""
    return through_reflections(g, unit_lower(input, tau.shape[-1]), tau, identity_for(g))[1]


@differentiable(
    input=householder_input_vjp,
    tau=householder_tau_vjp,
    complexes={"input": householder_input_vjp, "tau": householder_tau_vjp},
)
def linalg_householder_product(input, tau):
    """The first columns of the product of the reflections, as many as `input` has."""
    return reflected(input, tau, identity(input))


# ── times a matrix
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def ormqr_parts(g: Any, input3: Any, left: Any, transpose: Any) -> tuple[Any, Any]:
    """The gradient and the end of the product of reflections that a call amounts to."""
    if not left:
        g, input3 = adjoint(g), adjoint(input3)
    return (g, input3) if left != transpose else (input3, g)


def ormqr_self_vjp(g: Any, self: Any, input2: Any, input3: Any, left: Any, transpose: Any) -> Any:
    """See `through_reflections`."""
    vectors = unit_lower(self, input2.shape[-1])
    sent, _ = through_reflections(*with_vectors(g, vectors, input2, input3, left, transpose))
    return F.constant_pad_nd(sent, (0, self.shape[-1] - input2.shape[-1]), 0)


def ormqr_tau_vjp(g: Any, self: Any, input2: Any, input3: Any, left: Any, transpose: Any) -> Any:
    """See `through_reflections`."""
    vectors = unit_lower(self, input2.shape[-1])
    return through_reflections(*with_vectors(g, vectors, input2, input3, left, transpose))[1]


def with_vectors(g: Any, vectors: Any, tau: Any, input3: Any, left: Any, transpose: Any) -> Any:
    """The arguments of `through_reflections`."""
    g, end = ormqr_parts(g, input3, left, transpose)
    return g, vectors, tau, end


def ormqr_other_vjp(g: Any, self: Any, input2: Any, left: Any, transpose: Any, result: Any) -> Any:
    """The product with the adjoint."""
    return F.ormqr(self, input2, g, left, not transpose)


@differentiable(
    self=ormqr_self_vjp,
    input2=ormqr_tau_vjp,
    input3=ormqr_other_vjp,
    complexes={"self": ormqr_self_vjp, "input2": ormqr_tau_vjp, "input3": ormqr_other_vjp},
)
def ormqr(self, input2, input3, left=True, transpose=False):
    """The whole product Q of the reflections `self` with factors `input2` times `input3`: Q @ input3, or
    input3 @ Q unless `left`; with the adjoint of Q for `transpose`.
    """
    if left:
        return reflected(self, input2, input3, transpose)
    return reflected(self, input2, input3.conj().mT, not transpose).conj().mT


def geqrf_vjp(grads: Any) -> Any:
    """PyTorch has none."""
    raise NotImplementedError("the derivative for 'geqrf' is not implemented.")


@differentiable(self=geqrf_vjp, several=("a", "tau"))
def geqrf(self):
    """The QR factors of each matrix as reflections: R with the vectors below its diagonal, and their
    factors.
    """
    a, tau = np.linalg.qr(self, mode="raw")
    return a.mT, tau
