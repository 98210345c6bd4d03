"""Orthogonal polynomials of degree n, each by its recurrence from degrees k and k - 1 to k + 1.

The degree is cut to a whole number; of a negative one the result is 0. PyTorch does not differentiate them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import float16
from ..op import differentiable
from .elementwise import COMPLEX, no_kernel


def by_recurrence(x: Any, n: Any, first: Any, step: Any) -> Any:
    """The polynomials of degree `n`, of which `first(x)` is that of degree 1 and `step(k, x, p, q)` that of
    k + 1.
    """
    x, n = np.broadcast_arrays(np.asarray(x, np.float64), np.trunc(np.asarray(n, np.float64)))
    q, p = np.ones_like(x), first(x)
    found = np.where(n < 0, 0.0, np.where(n == 0, q, p))
    for k in range(1, int(n.max(initial=0))):
        q, p = p, step(k, x, p, q)
        found = np.where(n == k + 1, p, found)
    return found


def polynomial(
    name: str, text: str, first: Callable[..., Any], step: Callable[..., Any], shifted: bool = False
) -> Any:
    """Declare the op of a family of polynomials, or of the same at 2x - 1 if `shifted`."""

    def kernel(self: Any, other: Any) -> Any:
        kind = np.result_type(*(x.dtype for x in (self, other) if hasattr(x, "dtype")))
        x = 2 * np.asarray(self, np.float64) - 1 if shifted else self
        return by_recurrence(x, other, first, step).astype(kind)[()]

    kernel.__name__ = "special_" + name
    kernel.__doc__ = f"{text}, of degree `other` at `self`."
    check = no_kernel(name + "_cpu", float16, COMPLEX)
    return differentiable(elementwise=True, floating=True, check=check)(kernel)


def chebyshev(kind: str, which: str, first: Callable[..., Any]) -> tuple[Any, Any]:
    """Declare one of the four kinds, and the same for the interval from 0 to 1."""

    def step(k: int, x: Any, p: Any, q: Any) -> Any:
        return 2 * x * p - q

    name, text = f"chebyshev_polynomial_{kind}", f"Chebyshev's polynomial of the {which} kind"
    longer = f"{text} for the interval from 0 to 1"
    return polynomial(name, text, first, step), polynomial("shifted_" + name, longer, first, step, True)


chebyshev_polynomial_t, shifted_chebyshev_polynomial_t = chebyshev("t", "first", lambda x: x)
chebyshev_polynomial_u, shifted_chebyshev_polynomial_u = chebyshev("u", "second", lambda x: 2 * x)
chebyshev_polynomial_v, shifted_chebyshev_polynomial_v = chebyshev("v", "third", lambda x: 2 * x - 1)
chebyshev_polynomial_w, shifted_chebyshev_polynomial_w = chebyshev("w", "fourth", lambda x: 2 * x + 1)
hermite_polynomial_h = polynomial(
    "hermite_polynomial_h",
    "Hermite's polynomial as physicists write it",
    lambda x: 2 * x,
    lambda k, x, p, q: 2 * (x * p - k * q),
)
hermite_polynomial_he = polynomial(
    "hermite_polynomial_he",
    "Hermite's polynomial as probability theory writes it",
    lambda x: x,
    lambda k, x, p, q: x * p - k * q,
)
laguerre_polynomial_l = polynomial(
    "laguerre_polynomial_l",
    "Laguerre's polynomial",
    lambda x: 1 - x,
    lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1),
)
legendre_polynomial_p = polynomial(
    "legendre_polynomial_p",
    "Legendre's polynomial",
    lambda x: x,
    lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1),
)
