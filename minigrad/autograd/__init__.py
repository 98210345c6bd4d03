"""backward, grad, custom Functions, grad modes, gradcheck: PyTorch's `torch.autograd`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..later import late_modules, later
from ..op.packed import SavedTensor
from ..tensor.late import Late
from ..tensor_base import TensorBase
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .gradcheck import gradcheck, gradgradcheck

if TYPE_CHECKING:
    from . import anomaly_mode, forward_ad, functional, graph
    from .anomaly_mode import detect_anomaly, set_detect_anomaly
    from .function import Function
    from .gradcheck import GradcheckError
    from .run import backward, grad
    from .variable import Variable

# Loaded when it is first used.
LATER = {
    "": "anomaly_mode forward_ad function functional graph",
    "anomaly_mode": "detect_anomaly set_detect_anomaly",
    "function": "Function",
    "gradcheck.texts": "GradcheckError",
    "run": "backward grad",
    "variable": "Variable",
}
__getattr__, __dir__ = later(globals(), LATER)

(run,) = late_modules(__name__, "run")
TensorBase.run_backward = late_backward = Late(run, "backward")
late_backward.__set_name__(TensorBase, "run_backward")

__all__ = [
    "Function",
    "GradcheckError",
    "SavedTensor",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
