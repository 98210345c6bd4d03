"""Parameters that a hook computes from others before each forward."""

from __future__ import annotations

from typing import Any


class Hooked:
    """A hook that sets the attribute `name` of its module before each forward."""

    def __init__(self, name: str) -> None:
        self.name = name

    def weight(self, module: Any) -> Any:
        """What it sets."""
        raise NotImplementedError

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.weight(module))


def hooked(module: Any, hook: Hooked, what: str) -> None:
    """RuntimeError if a module has such a hook for the same parameter already."""
    for other, _ in module._forward_pre_hooks.values():
        if isinstance(other, type(hook)) and other.name == hook.name:
            raise RuntimeError(f"Cannot register two {what} hooks on the same parameter {hook.name}")


def unhooked(module: Any, kind: type[Hooked], name: str, what: str) -> Any:
    """The hook that computes a parameter, which is taken from its module; ValueError if there is none."""
    for key, (hook, _) in list(module._forward_pre_hooks.items()):
        if isinstance(hook, kind) and hook.name == name:
            del module._forward_pre_hooks[key]
            return hook
    raise ValueError(f"{what} of '{name}' not found in {module}")
