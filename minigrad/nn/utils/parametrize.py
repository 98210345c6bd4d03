"""Parameters that are computed from others: `register_parametrization(layer, "weight", module)`.

The layer's class becomes a subclass of its own, with a property instead of the parameter: reading it
calls the parametrizations, one after the other, on what is learned,
`layer.parametrizations.weight.original`. Inside `with cached():` it does so once.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from ...autograd import no_grad
from ...left_out import refusing as _refusing
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

SERIALIZED = (
    "Serialization of parametrized modules is only supported through state_dict(). See:\n"
    "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
    "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
)

# The computed tensors by module and name; None outside `cached`.
_cache: dict[tuple[int, str], Any] | None = None


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Within `with cached():` each parametrized tensor is computed once, when it is first read. The outermost
    block forgets all of them at its end.

    Example:
        >>> layer = nn.Linear(2, 2)
        >>> _ = nn.utils.parametrize.register_parametrization(layer, "weight", nn.Identity())
        >>> with nn.utils.parametrize.cached():
        ...     layer.weight is layer.weight
        True

    Source: PyTorch's page `torch.nn.utils.parametrize.cached`.
    """
    global _cache
    before = _cache
    _cache = {} if before is None else before
    try:
        yield
    finally:
        _cache = before


def keep(module: Module, name: str, t: Any) -> None:
    """Register a tensor with a module, as a parameter if it is one."""
    (module.register_parameter if isinstance(t, Parameter) else module.register_buffer)(name, t)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and `original`, from which they compute it."""

    def __init__(self, module: Module, original: Any) -> None:
        super().__init__([module])
        keep(self, "original", original)
        if hasattr(module, "right_inverse"):
            self.right_inverse(original)

    def right_inverse(self, value: Any) -> None:
        """Set `original`, whose shape may change, so that the parametrizations compute `value`."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    name = type(module).__name__
                    raise RuntimeError(f"parametrization {name} does not implement right_inverse.")
                value = module.right_inverse(value)
            self.original.data = value.detach()

    def forward(self) -> Any:
        """Compute the parametrized tensor."""
        value = self.original
        for module in self:
            value = module(value)
        return value


def refuse_state(self: Module) -> Any:
    """Raise RuntimeError: the class of a parametrized module cannot be found when it is unpickled."""
    raise RuntimeError(SERIALIZED)


def deepcopy_parametrized(self: Module, memo: dict[int, Any]) -> Any:
    """Return a deep copy of a parametrized module, of the same class."""
    replica = memo[id(self)] = self.__new__(type(self))
    replica.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return replica


def computed_property(name: str) -> property:
    """Return the property that replaces a tensor."""

    def read(self: Any) -> Any:
        if _cache is None:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def assign(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, assign)


def check_same(found: Any, wanted: Any) -> None:
    """Raise ValueError unless what was computed has the dtype and shape of what it replaces."""
    for what in ("dtype", "shape"):
        before, now = getattr(wanted, what), getattr(found, what)
        if before != now:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` "
                f"flag is enabled.\nunparametrized {what}: {before}\nparametrized {what}: {now}"
            )


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let `parametrization` compute a parameter or buffer of a module; or, after those that it has already,
    compute it further. ValueError if that changes dtype or shape, unless `unsafe`.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            now = getattr(module, tensor_name)
            check_same(parametrization(now), now)
        module.parametrizations[tensor_name].append(parametrization)
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    before = original.detach()
    found = ParametrizationList(parametrization, original)
    if not unsafe:
        check_same(found(), before)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        cls = type(module)
        body = {"__getstate__": refuse_state, "__deepcopy__": deepcopy_parametrized, "__module__": __name__}
        module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, computed_property(tensor_name))
    module.parametrizations[tensor_name] = found
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a tensor of the module, or any, is parametrized."""
    found = module._modules.get("parametrizations", {})
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Undo `register_parametrization`: what was computed is an ordinary parameter or buffer again, or, unless
    `leave_parametrized`, what it was computed from.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found = module.parametrizations[tensor_name]
    if leave_parametrized:
        with no_grad():
            found.original.data = getattr(module, tensor_name).detach()
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    keep(module, tensor_name, found.original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class of a module without its parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


__getattr__ = _refusing("nn.utils.parametrize")
