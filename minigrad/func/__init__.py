"""Transforms of functions: PyTorch's `torch.func`."""

from __future__ import annotations

from .forward import jvp, linearize
from .jacobians import hessian, jacfwd, jacrev
from .mapping import vmap
from .reverse import grad, grad_and_value, vjp

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp", "vmap"]
