"""nn.Parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import modes
from ..tensor import Tensor
from ..tensor.copying import attributes
from ..tensor.tensor import describe
from ..tensor_base import check_can_require_grad, wrap
from ..views import Unobserved


class Parameter(Tensor):
    """A leaf that a model learns: shares memory with `data` and requires a gradient unless told otherwise."""

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """A parameter on the memory of tensor `data`; without one, an empty parameter."""
        with Unobserved(modes.is_grad_enabled()):  # what comes of it is the parameter, not a tensor beside it
            source = wrap(np.empty(0, np.float32)) if data is None else data.detach()
        self = object.__new__(cls)
        for name in ("_data", "_fn", "_nr", "_acc", "_grad", "_storage", "_view"):
            setattr(self, name, getattr(source, name))
        if source._inference:
            self._inference = True
        if requires_grad:
            check_can_require_grad(self._data)
        self.requires_grad = requires_grad
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return rebuild_parameter, (self.data, self.requires_grad, attributes(self))

    def __repr__(self) -> str:
        return "Parameter containing:\n" + describe(self)


def kept(create: Any, *args: Any, **how: Any) -> Any:
    """A tensor that `create` makes for a module to keep. Nobody who watches is told: it is no step of a
    user's.
    """
    with Unobserved(modes.is_grad_enabled()):
        return create(*args, **how)


def rebuild_parameter(data: Tensor, requires_grad: bool, noted: dict[str, Any]) -> Parameter:
    """What a copy or pickle of a parameter becomes: a `Parameter`, also of a subclass, as in PyTorch."""
    result: Parameter = Parameter(data, requires_grad)
    result.__dict__.update(noted)
    return result
