"""Anomaly detection, for debugging: where the op was called whose backward fails or gives NaN.

While it is on, the forward pass notes for every node the call that made it, and backward warns with that call
when a node fails. It is on for all threads.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..core import modes
from ..core.guards import check_bool
from ..core.public import public


@public("function")
def is_anomaly_enabled() -> bool:
    """Return whether anomaly detection is on."""
    return modes.anomaly.enabled


@public("function")
def is_anomaly_check_nan_enabled() -> bool:
    """Return whether anomaly detection looks for NaN in gradients."""
    return modes.anomaly.check_nan


@public("function")
def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn anomaly detection on or off; raise PyTorch's TypeError for arguments that are not bools."""
    check_bool("set_anomaly_enabled", "enabled", enabled)
    check_bool("set_anomaly_enabled", "check_nan", check_nan, 2)
    before = modes.anomaly.enabled
    modes.set_anomaly(enabled, check_nan)
    if before != enabled:
        modes.notify("mode_changed", "anomaly", enabled)


class Detection:
    """Base class that restores the previous mode at the end of a block."""

    def __init__(self) -> None:
        self.prev, self.prev_check_nan = modes.anomaly.enabled, modes.anomaly.check_nan

    def __enter__(self) -> Any:
        return None

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class detect_anomaly(Detection):
    """Context manager in which an error in backward also shows the forward call of the failing node.

    Args:
        check_nan: True raises an error when a gradient contains NaN.

    Raises:
        RuntimeError: backward computed NaN and check_nan is True.
        TypeError: check_nan is not a bool.

    Example:
        >>> import warnings
        >>> x = torch.tensor(0.0, requires_grad=True)
        >>> with warnings.catch_warnings(action="ignore"), torch.autograd.detect_anomaly():
        ...     (x.sqrt() * 0).backward()
        Traceback (most recent call last):
        RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.

    Source: PyTorch's page `torch.autograd.detect_anomaly`.
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)


class set_detect_anomaly(Detection):
    """Turn anomaly detection on or off; as a context manager, only until the end of the block.

    Args:
        mode: True turns it on.
        check_nan: True raises an error when a gradient contains NaN.

    Raises:
        TypeError: mode or check_nan is not a bool.

    Example:
        >>> with torch.autograd.set_detect_anomaly(True):
        ...     print(torch.is_anomaly_enabled())
        True

    Source: PyTorch's page `torch.autograd.set_detect_anomaly`.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__()
        set_anomaly_enabled(mode, check_nan)
