"""Special functions, by the names of `torch.special`; many are tensor methods too."""

from __future__ import annotations

from typing import Any as _Any

from .left_out import refusing as _refusing
from .ops.elementary import exp2, expm1, log1p, logit
from .ops.elementary import sigmoid as expit
from .ops.rounding import round as _round
from .ops.softmax_losses import log_softmax, softmax
from .ops.special import digamma, erf, erfc, erfinv, polygamma
from .ops.special import lgamma as gammaln
from .ops.special import special_ndtr as ndtr
from .ops.statistics import logsumexp
from .tensor.binder import attach_all as _attach_all

psi = digamma


def round(input: _Any, *, decimals: int = 0) -> _Any:
    """Return each element rounded to `decimals` digits after the point."""
    return _round(input, decimals=decimals)


__all__ = [
    "digamma", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "log1p", "log_softmax", "logit",
    "logsumexp", "ndtr", "polygamma", "psi", "round", "softmax",
]  # fmt: skip

_attach_all(globals(), "special_")

__getattr__ = _refusing("special")
