"""What a module keeps under its names: parameters, buffers and other modules."""

from __future__ import annotations

from typing import Any

from ...tensor import Tensor
from ..parameter import Parameter

KINDS = ("_parameters", "_buffers", "_modules")


def type_name(value: Any) -> str:
    """What PyTorch's errors call a value's class: with its module, unless that is Python's own; a tensor's by
    its dtype, torch.FloatTensor.
    """
    if isinstance(value, Tensor):
        return f"torch.{value.dtype.title}Tensor"
    cls = value if isinstance(value, type) else type(value)
    return cls.__qualname__ if cls.__module__ in ("", "builtins") else f"{cls.__module__}.{cls.__qualname__}"


class Registered:
    """Attributes that are told apart by what is assigned: a Parameter, a tensor instead of a buffer, a
    module, or anything else.

    `_parameters`, `_buffers` and `_modules` have them by name, in the order in which they came; a value may
    be None. All other attributes are Python's. They have to be there before the first assignment, hence the
    error before `Module.__init__()` has run.
    """

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        for kind in KINDS:
            object.__setattr__(self, kind, {})
        object.__setattr__(self, "_non_persistent_buffers_set", set())

    def __getattr__(self, name: str) -> Any:
        kept = self.__dict__
        for kind in KINDS:
            found = kept.get(kind)
            if found and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        kept = self.__dict__
        if isinstance(value, Parameter):
            self._must_be_ready("parameters")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif isinstance(value, Registered):
            self._must_be_ready("module")
            self._forget(name, "_parameters", "_buffers")
            self._modules[name] = value
        elif name in kept.get("_parameters", ()):
            self._must_be_none(name, value, "parameter", "torch.nn.Parameter or None")
            self.register_parameter(name, None)
        elif name in kept.get("_modules", ()):
            self._must_be_none(name, value, "child module", "torch.nn.Module or None")
            self._modules[name] = None
        elif name in kept.get("_buffers", ()):
            if not isinstance(value, Tensor):
                self._must_be_none(name, value, "buffer", "torch.nn.Buffer, torch.Tensor or None")
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for kind in KINDS:
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[0].isdigit())

    def _must_be_ready(self, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _must_be_none(self, name: str, value: Any, what: str, expected: str) -> None:
        if value is not None:
            raise TypeError(f"cannot assign '{type_name(value)}' as {what} '{name}' ({expected} expected)")

    def _forget(self, name: str, *kinds: str) -> None:
        """Take a name from where it was, before something of another kind gets it."""
        for kind in kinds:
            self.__dict__[kind].pop(name, None)
        self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _check_name(self, name: Any, what: str, kind: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type_name(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[kind]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Keep `param` under `name`; None keeps the name free for one."""
        self._must_be_ready("parameter")
        self._check_name(name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                "forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep a tensor that is part of the module's state but is not learned; `state_dict` has it if it is
        `persistent`.
        """
        self._must_be_ready("buffer")
        self._check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(
            name
        )

    def add_module(self, name: str, module: Any) -> None:
        """Keep a module, or None, under `name`."""
        if module is not None and not isinstance(module, Registered):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name(name, "module", "_modules")
        self._modules[name] = module

    register_module = add_module
