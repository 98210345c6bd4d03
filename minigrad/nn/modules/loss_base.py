"""The base class of losses."""

from __future__ import annotations

from typing import Any

from .. import functional
from ..functional.reductions import legacy
from .module import Module

__all__ = []


class Loss(Module):
    """Base class of layers that call the loss `function` of `nn.functional`.

    `reduction` is "mean", "sum" or "none"; `size_average` and `reduce` are PyTorch's deprecated flags for
    it.
    """

    function = ""
    settings: tuple[str, ...] = ()
    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = legacy(size_average, reduce)
        self.reduction = reduction

    def forward(self, *given: Any) -> Any:
        """Return the loss of predictions and targets."""
        how = {name: getattr(self, name) for name in (*self.settings, "reduction")}
        return getattr(functional, self.function)(*given, **how)
