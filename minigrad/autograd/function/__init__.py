"""Functions with a derivative of the user's own: PyTorch's `torch.autograd.function`."""

from __future__ import annotations

from .context import BackwardCFunction, FunctionCtx
from .function import Function, FunctionMeta, InplaceFunction, once_differentiable

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]
