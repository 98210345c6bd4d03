"""Transforms of functions: PyTorch's `torch.func`."""

from __future__ import annotations

from .forward import jvp, linearize
from .jacobians import hessian, jacfwd, jacrev
from .mapping import vmap
from .modules import functional_call, stack_module_state
from .reverse import grad, grad_and_value, vjp

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "stack_module_state", "vjp", "vmap",
]  # fmt: skip
