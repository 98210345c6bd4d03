"""What each of several hooks on a tensor saw and made of it, in a library that does not tell.

Note [Spies]
    PyTorch calls the hooks of a tensor one after the other, in the order of their dictionary, and hands each
    what the one before it gave. So for one backward call hooks of ours that only look stand between them. A
    single hook needs none: what was sent and what arrived tell what it did.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
from typing import Any

NEVER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR  # calling it gives something


class Spies:
    """Stand between the `hooks` of a tensor. `tell(hook, gradient, other)` is called after each of them (and
    before the first, with None for a hook): what is there now, and whether that is another tensor."""

    def __init__(self, hooks: dict[Any, Any], tell: Any) -> None:
        self.hooks, self.tell = hooks, tell
        self.given: Any = None  # what the next hook is handed
        own = [(None, None), *hooks.items()]
        hooks.clear()
        for i, (id, hook) in enumerate(own):
            if i:
                hooks[id] = hook
            hooks[self, i] = functools.partial(self.look, hook, i == len(own) - 1)
        self.keys = [(self, i) for i in range(len(own))]

    def look(self, hook: Any, last: bool, gradient: Any) -> None:
        """After a hook."""
        self.tell(hook, gradient, gradient is not self.given)
        self.given = None if last else gradient

    def remove(self) -> None:
        """Take them away; a hook may have removed itself meanwhile, or registered others."""
        for key in self.keys:
            self.hooks.pop(key, None)
        self.given = None


def gives(hook: Any) -> bool | None:
    """Whether a hook returns anything, as far as its code tells: False if it only can return None."""
    if hook is print or (isinstance(getattr(hook, "__self__", None), list) and hook.__name__ == "append"):
        return False
    code = getattr(getattr(hook, "__func__", hook), "__code__", None)
    if code is None or code.co_flags & NEVER:
        return None
    steps = list(dis.get_instructions(code))
    consts = [step.argval for step in steps if step.opname == "RETURN_CONST"]
    before = [a for a, b in itertools.pairwise(steps) if b.opname == "RETURN_VALUE"]
    none = all(value is None for value in consts) and all(
        step.opname == "LOAD_CONST" and step.argval is None for step in before
    )
    return False if none else None
