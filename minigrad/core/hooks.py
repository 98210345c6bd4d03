"""Handles of registered hooks."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

_ids = itertools.count()


class HookDict(dict[int, Any]):
    """Hooks by id, in order of registration. It can be referenced weakly."""

    __slots__ = ("__weakref__",)


class RemovableHandle:
    """The handle that every `register_*` method returns. `remove()` removes the hook. As a context manager
    the handle removes it at exit.
    """

    def __init__(self, hooks: HookDict, hook: Any) -> None:
        self.id = next(_ids)
        self._hooks = weakref.ref(hooks)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Remove the hook. Nothing happens if it was removed before."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()
