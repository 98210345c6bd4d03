"""Switches of PyTorch that programs set: threads, determinism, precision, the default device.

They are remembered, as programs may ask for them, and change nothing: NumPy computes on one thread (except
products of matrices), always in the same order, in full precision and on the CPU.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from .core.devices import CPU, check_device, device
from .core.public import public

_settings: dict[str, Any] = {
    "threads": os.cpu_count() or 1, "deterministic": False, "precision": "highest", "warn_always": False
}  # fmt: skip


@public("function")
def get_num_threads() -> int:
    """The number of threads that `set_num_threads` was given, at first that of the processors."""
    return _settings["threads"]


@public("function")
def set_num_threads(count: Any) -> None:
    """Remember a number of threads; RuntimeError for what is none."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _settings["threads"] = count


@public("function")
def use_deterministic_algorithms(mode: Any, *, warn_only: bool = False) -> None:
    """Ask for the same numbers in every run, which there are anyway."""
    if not isinstance(mode, bool):
        told = f"argument 'mode' (position 1) must be bool, not {type(mode).__name__}"
        raise TypeError(f"_set_deterministic_algorithms(): {told}")
    _settings["deterministic"] = mode


@public("function")
def are_deterministic_algorithms_enabled() -> bool:
    """Return the value last given to `use_deterministic_algorithms`."""
    return _settings["deterministic"]


@public("function")
def get_float32_matmul_precision() -> str:
    """Return the value last given to `set_float32_matmul_precision`, initially "highest"."""
    return _settings["precision"]


@public("function")
def set_float32_matmul_precision(precision: str) -> None:
    """Remember a precision, "highest", "high" or "medium": products are always as exact as can be."""
    if precision in ("highest", "high", "medium"):
        _settings["precision"] = precision
    else:
        told = "is not one of 'highest', 'high', or 'medium'; the current"
        warnings.warn(f"{precision} {told}setFloat32MatmulPrecision call has no effect.", stacklevel=2)


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
    _settings["warn_always"] = b


@public("function")
def is_warn_always_enabled() -> bool:
    """Return the value last given to `set_warn_always`."""
    return _settings["warn_always"]


@public("function")
def compile(model: Any = None, **options: Any) -> Any:
    """`model` itself, a function or a module: nothing is compiled here."""
    return (lambda given: given) if model is None else model
