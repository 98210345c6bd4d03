"""Special functions, by the names of `torch.special`; many are tensor methods too."""

from __future__ import annotations

from .ops.bessel import i0
from .ops.bessel import special_i0e as i0e
from .ops.bessel import special_i1 as i1
from .ops.bessel import special_i1e as i1e
from .ops.circular import sinc
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
from .tensor.reductions import logsumexp
from .tensor.statistics import log_softmax, softmax

psi = digamma

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]
