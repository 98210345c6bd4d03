"""Models on several devices. There is one, so the model runs as it is."""

from __future__ import annotations

from typing import Any

from .modules.module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Calls `module`, which keeps its parameters under names that begin with `module.`."""

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.dim = module, dim
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self.module(*inputs, **kwargs)
