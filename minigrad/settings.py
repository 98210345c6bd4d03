"""Switches of PyTorch that programs set: threads, determinism, precision, the default device.

They are remembered, as programs may ask for them, and change nothing: NumPy computes on one thread (but for
products of matrices), always in the same order, in full precision and on the CPU.
"""

from __future__ import annotations

import os
import types
import warnings
from typing import Any

from .core import dialect, dtypes
from .core.devices import CPU, check_device, device
from .core.public import public
from .tensor import Tensor
from .tensor.storages import Memory

_threads = {"intra": os.cpu_count() or 1, "inter": os.cpu_count() or 1}
_deterministic = {"enabled": False, "warn_only": False}
_precision = "highest"
_warn_always = False
PRECISIONS = ("highest", "high", "medium")
LEVELS = {"default": 0, "warn": 1, "error": 2}


def checked_threads(name: str, count: Any) -> int:
    """A number of threads; RuntimeError with PyTorch's text for what is none."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"{name} expects an int, but got {type(count).__name__}")
    if count < 1:
        raise RuntimeError(f"{name} expects a positive integer")
    return count


@public("function")
def get_num_threads() -> int:
    """The number of threads that `set_num_threads` was given, at first that of the processors."""
    return _threads["intra"]


@public("function")
def set_num_threads(count: Any) -> None:
    """Remember a number of threads."""
    _threads["intra"] = checked_threads("set_num_threads", count)


@public("function")
def get_num_interop_threads() -> int:
    """The number of threads that `set_num_interop_threads` was given, at first that of the processors."""
    return _threads["inter"]


@public("function")
def set_num_interop_threads(count: Any) -> None:
    """Remember a number of threads."""
    _threads["inter"] = checked_threads("set_num_interop_threads", count)


@public("function")
def use_deterministic_algorithms(mode: Any, *, warn_only: bool = False) -> None:
    """Ask for the same numbers in every run, which there are anyway."""
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    _deterministic.update(enabled=mode, warn_only=warn_only)


@public("function")
def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told last."""
    return _deterministic["enabled"]


@public("function")
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was asked to warn only."""
    return _deterministic["warn_only"]


@public("function")
def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """`use_deterministic_algorithms` by level: 0 or "default", 1 or "warn", 2 or "error"."""
    if isinstance(debug_mode, str) and debug_mode not in LEVELS:
        raise RuntimeError(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got " + debug_mode
        )
    level = LEVELS[debug_mode] if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {level}")
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


@public("function")
def get_deterministic_debug_mode() -> int:
    """The level of `set_deterministic_debug_mode`."""
    return (1 if _deterministic["warn_only"] else 2) if _deterministic["enabled"] else 0


@public("function")
def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was told last, at first "highest"."""
    return _precision


@public("function")
def set_float32_matmul_precision(precision: str) -> None:
    """Remember a precision, "highest", "high" or "medium": products are always as exact as can be."""
    global _precision
    if precision not in PRECISIONS:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            UserWarning,
            stacklevel=2,
        )
        return
    _precision = precision


@public("function")
def get_default_device() -> device:
    """The CPU."""
    return CPU


@public("function")
def set_default_device(device: Any) -> None:
    """Set the device on which new tensors are made: the CPU is the only one.

    Args:
        device: "cpu" or None.
    Shape: none.
    Returns: None.
    Raises: RuntimeError for another device.
    Source: torch.set_default_device

    >>> torch.set_default_device('cpu')
    """
    check_device(device)


@public("function")
def set_warn_always(b: bool, /) -> None:
    """Remember whether warnings are to be given each time."""
    global _warn_always
    _warn_always = b


@public("function")
def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was told last."""
    return _warn_always


@public("function")
def set_flush_denormal(mode: bool) -> bool:
    """False: very small numbers stay what they are."""
    return False


@public("function")
def compile(model: Any = None, **options: Any) -> Any:
    """`model` itself, a function or a module: nothing is compiled here."""
    return (lambda given: given) if model is None else model


@public("function")
def is_storage(obj: Any, /) -> bool:
    """Whether `obj` is a storage: the memory of tensors."""
    return isinstance(obj, Memory)


@public("function")
def typename(obj: Any, /) -> str:
    """The name of the type of `obj`, of a function or class its own, with its module."""
    if isinstance(obj, Tensor):
        return obj.type()
    if isinstance(obj, (dtypes.dtype, device)):
        return f"{dialect.library}.{type(obj).__name__}"
    if isinstance(obj, types.ModuleType):
        return obj.__name__
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", "") or ""
    return named.__qualname__ if module in ("", "builtins") else f"{module}.{named.__qualname__}"
