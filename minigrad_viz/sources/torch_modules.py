"""Hooks by which PyTorch tells that an optimizer takes a step."""

from __future__ import annotations

import threading
from typing import Any

OPTIMIZERS = "torch.optim."


def step_told(source: Any, tell: Any) -> Any:
    """A hook that tells of the steps of PyTorch's own optimizers; those of a class of the user's consist
    of steps of the cell."""

    def hook(optimizer: Any, *arguments: Any) -> None:
        if threading.get_ident() == source.thread and type(optimizer).step.__module__.startswith(OPTIMIZERS):
            tell(optimizer)

    return hook
