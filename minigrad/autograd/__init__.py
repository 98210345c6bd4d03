"""backward, grad, custom Functions, grad modes, gradcheck: PyTorch's `torch.autograd`."""

from __future__ import annotations

from .function import Function
from .grad_mode import enable_grad, no_grad, set_grad_enabled
from .gradcheck import GradcheckError, gradcheck
from .run import backward, grad

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "no_grad",
    "set_grad_enabled",
]
