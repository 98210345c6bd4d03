"""The norm that distances are."""

from __future__ import annotations

from ..op import differentiable
from .norms import norm_of, norm_vjp
from .reduction import over

NORM = {"self": norm_vjp}


@differentiable(self=norm_vjp, complexes=NORM, node="NormBackward1")
def norm_dim(self, p, dim, keepdim):
    """The p-norm over some dimensions; a real number."""
    return norm_of(self, float(p), over(dim, self.ndim), keepdim)
