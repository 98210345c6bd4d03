"""minigrad: automatic differentiation on NumPy with PyTorch's API and observable behavior.

`import minigrad as torch` runs ordinary autograd code. `set_dialect("1.4" | "2")` chooses which version of
PyTorch decides how nodes are printed.

Importing the package loads all ops and the class `Tensor`. Names that are published with `core.public` become
functions of this package and methods of `Tensor` (see `tensor.publishing`). Subpackages such as `nn` are
loaded when they are first used.
"""

from __future__ import annotations

import math as _math
import sys as _sys
from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from . import random, settings  # which publish functions
from .as_torch import install_as_torch
from .autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .core import devices as _devices
from .core import dtypes as _dtypes
from .core import hooks as _hooks
from .core.devices import *
from .core.dialect import get_dialect, set_dialect
from .core.dtypes import *
from .core.dtypes import bool_ as bool
from .core.modes import is_grad_enabled, is_inference_mode_enabled
from .creation.data import *
from .left_out import missing as _missing
from .ops.generator import Generator, default_generator
from .tensor import Size, Tensor
from .tensor import memory as _memory
from .tensor.printing import printoptions, set_printoptions
from .tensor.properties import finfo, iinfo
from .tensor.publishing import install as _install

float, double, half = _dtypes.float32, _dtypes.float64, _dtypes.float16
short, int, long = _dtypes.int16, _dtypes.int32, _dtypes.int64
e, inf, nan, newaxis, pi = _math.e, _math.inf, _math.nan, None, _math.pi
cfloat, cdouble = _dtypes.complex64, _dtypes.complex128
__version__ = "0.1.0"


def is_tensor(obj: Any) -> Any:
    """Return whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


_install(globals(), Tensor)
# Where pickles of an earlier version look for dtypes, devices and dictionaries of hooks.
for _earlier in (_devices, _dtypes, _hooks):
    _sys.modules[f"{__name__}.{_earlier.__name__.rpartition('.')[2]}"] = _earlier
_sys.modules[f"{__name__}.tensor.copying"] = _memory
_PACKAGES = """
accelerator backends cuda distributions fft func linalg nn optim profiler return_types special utils version
"""


def __getattr__(name: str) -> Any:
    """Return a subpackage, which is imported on first use, or a function that one of them publishes, such as
    `conv2d`. Any other name raises AttributeError; the error says so if minigrad leaves the name out.
    """
    if name in _PACKAGES.split():
        return _import_module(f".{name}", __name__)
    if name[:2] != "__" or name == "__all__":
        _load_all()
    if name == "__all__":  # for `from minigrad import *`
        return [each for each in __dir__() if not each.startswith("_")]
    if name in globals():
        return globals()[name]
    raise _missing("torch", name)


def _load_all() -> None:
    """Import the subpackages that publish functions of this one."""
    for package in ("nn", "func", "serialization"):
        _import_module(f".{package}", __name__)


def __dir__() -> list[str]:
    _load_all()
    return sorted({*globals(), *_PACKAGES.split()})


if TYPE_CHECKING:
    from . import backends, cuda, distributions, fft, func, linalg, nn, optim, profiler, special, utils
