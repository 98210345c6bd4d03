"""Parameters that are computed from others: `register_parametrization(layer, "weight", module)`.

The layer's class becomes a subclass of its own, with a property instead of the parameter: reading it
calls the parametrizations, one after the other, on what is learned,
`layer.parametrizations.weight.original`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...autograd import no_grad
from ...left_out import refusing as _refusing
from ...tensor import Tensor
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

_caching = 0
_cache: dict[tuple[int, str], Any] = {}

SERIALIZED = (
    "Serialization of parametrized modules is only supported through state_dict(). See:\n"
    "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
    "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
)
CHANGED = (
    "Registering a parametrization may not change the {} of the tensor, unless {}`unsafe` flag is enabled."
)


@contextmanager
def cached() -> Iterator[None]:
    """Return a context manager in which each parametrized tensor is computed only once."""
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


def keep(module: Module, name: str, t: Any) -> None:
    """Register a tensor with a module, as a parameter if it is one."""
    (module.register_parameter if isinstance(t, Parameter) else module.register_buffer)(name, t)


def write(target: Tensor, source: Tensor) -> None:
    """Copy one tensor's values to another, whose shape may change."""
    target.data = source.detach()


def inverted(modules: Any, value: Any) -> Any:
    """Return the tensors from which the parametrizations compute `value`, as far as they can be inverted."""
    with no_grad():
        for module in reversed(list(modules)):
            if hasattr(module, "right_inverse"):
                try:
                    value = module.right_inverse(value)
                except NotImplementedError:
                    continue
    return value


def check_same(found: Any, wanted: Any, names: tuple[str, str], the: str = "") -> None:
    """Raise ValueError unless `found` has the dtype and shape of `wanted`."""
    if not isinstance(found, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(found).__name__}.")
    for what in ("dtype", "shape"):
        a, b = getattr(wanted, what), getattr(found, what)
        if a != b:
            told = "\n".join(f"{n.format(what)}: {v}" for n, v in zip(names, (a, b)))
            raise ValueError(f"{CHANGED.format(what, the)}\n{told}")


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and what they compute it from: `original`, or `original0`, … if the
    first of them takes several.
    """

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.detach()
        new = inverted(self, original)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if new is not original:
                write(original, new)
            keep(self, "original", original)
        else:
            for i, t in enumerate(new):
                part = Parameter(t, original.requires_grad) if isinstance(original, Parameter) else t
                keep(self, f"original{i}", part.requires_grad_(original.requires_grad))
        if not unsafe:
            check_same(self(), before, ("unparametrized {}", "parametrized {}"))

    def originals(self) -> list[Any]:
        """Return the tensors from which the parametrized tensor is computed."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Let the tensor become `value`, as far as the parametrizations can be inverted."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
        for original, new in zip(self.originals(), [value] if self.is_tensor else value, strict=True):
            if new.dtype != original.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {new.dtype} while `original` has "
                    f"dtype {original.dtype}"
                )
            write(original, new)

    def forward(self) -> Any:
        """Compute the parametrized tensor."""
        first, *others = list(self)
        value = first(*self.originals())
        for module in others:
            value = module(value)
        return value


def refuse_state(self: Module) -> Any:
    """Raise RuntimeError: the class of a parametrized module cannot be found when it is unpickled."""
    raise RuntimeError(SERIALIZED)


def copied(self: Module, memo: dict[int, Any]) -> Any:
    """Return a deep copy of a parametrized module, of the same class."""
    replica = memo[id(self)] = self.__new__(type(self))
    replica.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return replica


def computed(name: str) -> property:
    """Return the property that replaces a tensor."""

    def read(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _caching:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def assign(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, assign)


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
            names = (f"module.{tensor_name}.{{}}", f"parametrization(module.{tensor_name}).{{}}")
            check_same(parametrization(now), now, names, "the ")
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    found = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        cls = type(module)
        body = {"__getstate__": refuse_state, "__deepcopy__": copied, "__module__": __name__}
        module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, computed(tensor_name))
    module.parametrizations[tensor_name] = found
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a tensor of the module, or any, is parametrized."""
    found = module._modules.get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Undo `register_parametrization`: what was computed is an ordinary parameter or buffer again, or, unless
    `leave_parametrized`, what it was computed from.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found = module.parametrizations[tensor_name]
    if found.is_tensor:
        left = found.original
        if leave_parametrized:
            with no_grad():
                write(left, getattr(module, tensor_name))
    elif leave_parametrized:
        left = getattr(module, tensor_name)
        left = Parameter(left) if left.requires_grad else left
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
            "of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    keep(module, tensor_name, left)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class of a module without its parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


__getattr__ = _refusing("nn.utils.parametrize")
