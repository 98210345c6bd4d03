"""Base classes of layers that call a function of `nn.functional`."""

from __future__ import annotations

from typing import Any

from .. import functional
from .attention import MultiheadAttention as MultiheadAttention
from .module import Module

__all__ = []


class Applied(Module):
    """Layer that calls the function `function` of `nn.functional` with its `settings`.

    `settings` are the names of the function's arguments and of the layer's attributes. The repr leaves out
    `inplace=False`.
    """

    function = ""
    settings: tuple[str, ...] = ()

    def forward(self, input: Any) -> Any:
        """Apply the function."""
        given = {name: getattr(self, name) for name in self.settings}
        return getattr(functional, self.function)(input, **given)

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        told = [name for name in self.settings if name != "inplace" or self.inplace]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in told)


class InPlace(Applied):
    """Layer whose only setting is `inplace`."""

    settings = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
