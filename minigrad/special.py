"""Special functions, by the names of `torch.special`; many are tensor methods too."""

from __future__ import annotations

from typing import Any

from .explained import attach_all as _attach_all
from .ops import polynomials
from .ops.bessel import i0
from .ops.bessel import special_i0e as i0e
from .ops.bessel import special_i1 as i1
from .ops.bessel import special_i1e as i1e
from .ops.circular import sinc
from .ops.cylinder import special_airy_ai as airy_ai
from .ops.cylinder import special_bessel_j0 as bessel_j0
from .ops.cylinder import special_bessel_j1 as bessel_j1
from .ops.cylinder import special_bessel_y0 as bessel_y0
from .ops.cylinder import special_bessel_y1 as bessel_y1
from .ops.cylinder import special_modified_bessel_i0 as modified_bessel_i0
from .ops.cylinder import special_modified_bessel_i1 as modified_bessel_i1
from .ops.cylinder import special_modified_bessel_k0 as modified_bessel_k0
from .ops.cylinder import special_modified_bessel_k1 as modified_bessel_k1
from .ops.cylinder import special_scaled_modified_bessel_k0 as scaled_modified_bessel_k0
from .ops.cylinder import special_scaled_modified_bessel_k1 as scaled_modified_bessel_k1
from .ops.cylinder import special_spherical_bessel_j0 as spherical_bessel_j0
from .ops.exponential import exp2, expm1, log1p, logit
from .ops.exponential import special_entr as entr
from .ops.exponential import special_xlog1py as xlog1py
from .ops.gamma import digamma, polygamma
from .ops.gamma import lgamma as gammaln
from .ops.gamma import mvlgamma as multigammaln
from .ops.normal import erf, erfc, erfinv
from .ops.normal import special_erfcx as erfcx
from .ops.normal import special_log_ndtr as log_ndtr
from .ops.normal import special_ndtr as ndtr
from .ops.normal import special_ndtri as ndtri
from .ops.pointwise import sigmoid as expit
from .ops.rounding import round
from .tensor.binary import xlogy
from .tensor.gammas import igamma as gammainc
from .tensor.gammas import igammac as gammaincc
from .tensor.gammas import zeta
from .tensor.operands import of_kinds
from .tensor.reductions import logsumexp
from .tensor.statistics import log_softmax, softmax

psi = digamma


def of_degree(op: Any) -> Any:
    """The function of an op: at `input`, of degree `n`, either of which may be a number."""

    def polynomial(input: Any, n: Any) -> Any:
        return of_kinds(op.__name__, input, n, op, op, op)(input, n)

    polynomial.__name__ = polynomial.__qualname__ = op.__name__.removeprefix("special_")
    polynomial.__doc__ = op.__doc__.replace("`other` at `self`", "`n` at `input`")
    return polynomial


chebyshev_polynomial_t = of_degree(polynomials.chebyshev_polynomial_t)
chebyshev_polynomial_u = of_degree(polynomials.chebyshev_polynomial_u)
chebyshev_polynomial_v = of_degree(polynomials.chebyshev_polynomial_v)
chebyshev_polynomial_w = of_degree(polynomials.chebyshev_polynomial_w)
hermite_polynomial_h = of_degree(polynomials.hermite_polynomial_h)
hermite_polynomial_he = of_degree(polynomials.hermite_polynomial_he)
laguerre_polynomial_l = of_degree(polynomials.laguerre_polynomial_l)
legendre_polynomial_p = of_degree(polynomials.legendre_polynomial_p)
shifted_chebyshev_polynomial_t = of_degree(polynomials.shifted_chebyshev_polynomial_t)
shifted_chebyshev_polynomial_u = of_degree(polynomials.shifted_chebyshev_polynomial_u)
shifted_chebyshev_polynomial_v = of_degree(polynomials.shifted_chebyshev_polynomial_v)
shifted_chebyshev_polynomial_w = of_degree(polynomials.shifted_chebyshev_polynomial_w)

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]

_attach_all(globals(), "special_")
