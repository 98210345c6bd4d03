"""backward, grad, custom Functions, grad modes, gradcheck: PyTorch's `torch.autograd`."""

from __future__ import annotations

from ..core.saved_values import SavedTensor
from . import anomaly_mode, forward_ad, functional, graph, profiler, tensor_backward
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .run import backward, grad
from .variable import Variable

__all__ = [
    "Function", "GradcheckError", "SavedTensor", "Variable", "anomaly_mode", "backward", "detect_anomaly",
    "enable_grad", "functional", "grad", "gradcheck", "gradgradcheck", "graph", "inference_mode",
    "is_multithreading_enabled", "no_grad", "profiler", "set_detect_anomaly", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip
