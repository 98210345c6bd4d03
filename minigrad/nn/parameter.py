"""nn.Parameter, and parameters and buffers without a shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import modes
from ..core.modes import hidden_from_observers
from ..core.tensor_state import as_class, check_can_require_grad, wrap
from ..creation import zeros
from ..tensor import Tensor
from ..tensor.binder import public_form
from ..tensor.memory import attributes
from ..tensor.printing import describe


class Parameter(Tensor):
    """Leaf tensor that a module learns; assigning it as an attribute registers it with the module.

    It shares memory with `data`.

    Args:
        data: tensor that holds the values; an empty one if None.
        requires_grad: False freezes the parameter.

    Shape:
        That of `data`.

    Raises:
        RuntimeError: data is integer or boolean and requires_grad is True.

    Example:
        >>> nn.Parameter(torch.ones(2)).requires_grad
        True

    Source: PyTorch's page `torch.nn.parameter.Parameter`.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """Create a parameter that shares memory with `data`; without it, an empty parameter."""
        with hidden_from_observers(
            modes.is_grad_enabled()
        ):  # what comes of it is the parameter, not a tensor beside it
            source = wrap(np.empty(0, np.float32)) if data is None else data.detach()
        self: Any = as_class(cls, source)
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


def create_hidden(create: Any, *args: Any, **how: Any) -> Any:
    """Create a tensor for a module to keep, hidden from observers: it is not a step of the user's."""
    with hidden_from_observers(modes.is_grad_enabled()):
        return public_form(create)(*args, **how)


def rebuild_parameter(data: Tensor, requires_grad: bool, noted: dict[str, Any]) -> Parameter:
    """Rebuild the copy or pickle of a parameter: a `Parameter`, also for a subclass, as in PyTorch."""
    result: Parameter = Parameter(data, requires_grad)
    result.__dict__.update(noted)
    return result


NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
    "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
    "`forward` to initialize the parameters before accessing their attributes."
)


class UninitializedTensor(Tensor):
    """Tensor of a module without a shape; it cannot be written to."""

    __slots__ = ()
    becomes: type[Tensor] = Tensor

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give it a shape and make it an ordinary tensor."""
        self.data = create_hidden(zeros, *shape, dtype=dtype or self.dtype)
        self.__class__ = self.becomes  # type: ignore[assignment]

    def detach(self) -> Any:
        """Return itself: there are no values to share."""
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Return one of another dtype, or itself."""
        make: Any = type(self)
        found = super().to(*args, **kwargs)
        return self if found is self else make(self.requires_grad, dtype=found.dtype)

    def __getattribute__(self, name: str) -> Any:
        if name == "shape":
            raise RuntimeError(NO_SHAPE)
        if name.endswith("_") and not name.startswith("_") and name != "requires_grad_":
            shown = type(self).__name__
            raise ValueError(
                f"Attempted to use an uninitialized parameter in {name}. This error happens when you are "
                f"using a `LazyModule` or explicitly manipulating `torch.nn.parameter.{shown}` objects. When "
                "using LazyModules Call `forward` with a dummy batch to initialize the parameters before "
                "calling torch functions"
            )
        return super().__getattribute__(name)

    def __repr__(self, **_: Any) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        make: Any = type(self)
        return memo.setdefault(id(self), make(self.requires_grad, dtype=self.dtype))


class UninitializedParameter(UninitializedTensor, Parameter):
    """Parameter without a shape."""

    __slots__ = ()
    becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """Create one of `dtype`, or the default dtype."""
        return Parameter.__new__(cls, create_hidden(zeros, 0, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensor):
    """Buffer without a shape."""

    __slots__ = ()

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> Any:
        """Create one of `dtype`, or the default dtype."""
        made = create_hidden(zeros, 0, dtype=dtype)
        made.__class__ = cls
        return made
