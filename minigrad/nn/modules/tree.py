"""Iterating over the submodules, parameters and buffers of a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .registered import Registered


class Tree(Registered):
    """Base class that finds modules, parameters and buffers below a module, each once."""

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
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the direct children with their names."""
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """Yield the direct children."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        memo: set[int] = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
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
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield buffers with their dotted names."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Yield buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Any:
        """Return the module of a dotted name, "" for the module itself; raise AttributeError if there is
        none.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Registered):
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
