"""DataParallel, which calls its module: minigrad has one device."""

from __future__ import annotations

from typing import Any

from .modules.module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Module that calls `module`; minigrad has one device, so nothing is split.

    The parameters keep PyTorch's names, which begin with `module.`.

    Args:
        module: module to call.
        device_ids: accepted and ignored.
        output_device: accepted and ignored.
        dim: accepted and ignored.

    Shape:
        Those of `module`.

    Raises:
        Whatever `module` raises.

    Example:
        >>> nn.DataParallel(nn.Linear(2, 3))(torch.ones(1, 2)).shape
        torch.Size([1, 3])

    Source: PyTorch's page `torch.nn.DataParallel`.
    """

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.dim = module, dim
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the module's result."""
        return self.module(*inputs, **kwargs)
