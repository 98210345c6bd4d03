"""The tree of a module: what is registered by assignment, and iterating over it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...tensor import Tensor
from ..parameter import Parameter

# Where a module keeps its values: what PyTorch's errors call them, and what may take their place.
KINDS = {
    "_parameters": ("parameter", "torch.nn.Parameter or None"),
    "_modules": ("child module", "torch.nn.Module or None"),
    "_buffers": ("buffer", "torch.nn.Buffer, torch.Tensor or None"),
}


def type_name(value: Any) -> str:
    """Return a value's class as PyTorch's errors name it, for example torch.FloatTensor."""
    if isinstance(value, Tensor):
        return f"torch.{value.dtype.title}Tensor"
    cls = value if isinstance(value, type) else type(value)
    return cls.__qualname__ if cls.__module__ in ("", "builtins") else f"{cls.__module__}.{cls.__qualname__}"


class Tree:
    """Base class that registers attributes by what is assigned: parameter, buffer, module or anything else,
    and finds what is registered below it.

    `_parameters`, `_buffers` and `_modules` hold them by name, in order of assignment; a value may be
    None.
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
        if isinstance(value, Parameter | Tree):
            kind, what = ("_modules", "module") if isinstance(value, Tree) else ("_parameters", "parameters")
            self._must_be_ready(what)
            for place in (kept, *(kept[other] for other in KINDS if other != kind)):
                place.pop(name, None)
            self._non_persistent_buffers_set.discard(name)
            if isinstance(value, Tree):
                self._modules[name] = value
            else:
                self.register_parameter(name, value)
            return
        for kind, (what, expected) in KINDS.items():
            if name in kept.get(kind, ()):
                if value is not None and not (kind == "_buffers" and isinstance(value, Tensor)):
                    told = f"'{type_name(value)}' as {what} '{name}'"
                    raise TypeError(f"cannot assign {told} ({expected} expected)")
                kept[kind][name] = value
                return
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

    def _check_name(self, name: Any, what: str, kind: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type_name(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[kind]:
            raise KeyError(f"attribute '{name}' already exists")

    def _check_kind(self, name: str, value: Any, what: str, kind: type, title: str) -> None:
        if value is not None and not isinstance(value, kind):
            told = f"object to {what} '{name}' ({title} or None required)"
            raise TypeError(f"cannot assign '{type_name(value)}' {told}")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register `param` under `name`; None reserves the name."""
        self._must_be_ready("parameter")
        self._check_name(name, "parameter", "_parameters")
        self._check_kind(name, param, "parameter", Parameter, "torch.nn.Parameter")
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                "forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that belongs to the state but is not learned; `persistent` puts it into
        `state_dict`.
        """
        self._must_be_ready("buffer")
        self._check_name(name, "buffer", "_buffers")
        self._check_kind(name, tensor, "buffer", Tensor, "torch Tensor")
        self._buffers[name] = tensor
        others = self._non_persistent_buffers_set
        (others.discard if persistent else others.add)(name)

    def add_module(self, name: str, module: Any) -> None:
        """Register a module, or None, under `name`."""
        if module is not None and not isinstance(module, Tree):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name(name, "module", "_modules")
        self._modules[name] = module

    register_module = add_module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield the module itself, under `prefix`, and all modules below it with their dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """Yield the module itself and all modules below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the direct children with their names."""
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """Yield the direct children."""
        return (module for _, module in self.named_children())

    def _named_members(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        memo: set[int] = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for below, module in modules:
            for name, value in module.__dict__[kind].items():
                if value is None or id(value) in memo:
                    continue
                if remove_duplicate:
                    memo.add(id(value))
                yield (f"{below}.{name}" if below else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield parameters with their dotted names; without `recurse` only the module's own."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """Yield parameters, as optimizers take them."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield buffers with their dotted names."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Yield buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Any:
        """Return the module of a dotted name, "" for the module itself; raise AttributeError if there is
        none.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found

    def get_parameter(self, target: str) -> Any:
        """Return the parameter of a dotted name; raise AttributeError if there is none."""
        return self._member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Any:
        """Return the buffer of a dotted name; raise AttributeError if there is none."""
        return self._member(target, "_buffers", "a buffer")

    def _member(self, target: str, kind: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in module.__dict__[kind]:
            raise AttributeError(f"`{name}` is not {what}")
        return module.__dict__[kind][name]
