"""nn.Parameter."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from ..tensor.tensor import describe


class Parameter(Tensor):
    """A leaf that a model learns: shares memory with `data` and requires a gradient unless told otherwise."""

    __slots__ = ()

    def __new__(cls, data: Any = (), requires_grad: bool = True) -> Any:
        """A parameter on the memory of tensor `data`."""
        source = data.detach() if isinstance(data, Tensor) else Tensor(data)
        self = object.__new__(cls)
        for name in ("_data", "_fn", "_nr", "_acc", "_grad", "_storage", "_view"):
            setattr(self, name, getattr(source, name))
        self.requires_grad = requires_grad
        return self

    def __repr__(self) -> str:
        return "Parameter containing:\n" + describe(self)
