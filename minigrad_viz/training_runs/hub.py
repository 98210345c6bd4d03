"""The functions of a library that are replaced while a doctor watches, and who receives their calls.

They are replaced once, for all doctors of a process, and put back when the last one leaves; so the order in
which doctors come and go does not matter.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from ..isolation import pass_on
from ..training_faults.evidence import Place

HOMES = ("torch", "minigrad", "minigrad_viz", "runpy", "contextlib", "functools", "importlib", "IPython")


def user_place(depth: int = 1) -> Place | None:
    """The innermost line that runs and belongs to no library."""
    frame: Any = sys._getframe(depth)
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        if module.partition(".")[0] not in HOMES and not frame.f_code.co_filename.startswith("<frozen"):
            return Place(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def user_frame(depth: int = 1) -> Any:
    """The innermost frame that belongs to no library."""
    frame: Any = sys._getframe(depth)
    while frame is not None and (frame.f_globals.get("__name__") or "").partition(".")[0] in HOMES:
        frame = frame.f_back
    return frame


def folder_of(module: Any) -> str:
    """The folder of a package."""
    return str(Path(module.__file__).parent)


class Listener:
    """A part of an observer (`run`). It may have methods `before_NAME(args, kwargs)`, `after_NAME(args,
    kwargs, result)` and `failed_NAME(error)` for each of `Library.patches`; it receives the calls of its own
    thread."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.library, self.evidence = run.library, run.evidence
        self.thread, self.guarded = run.thread, run.guarded


class Hub:
    """The replaced functions of one library, and who listens to their calls."""

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self._methods: dict[str, list[tuple[Listener, Callable[..., Any]]]] = {}  # who has a method, and it
        self._originals: list[tuple[Any, str, Any, Any]] = []

    def add(self, listeners: Iterable[Listener], patches: list[tuple[Any, str, str]]) -> None:
        """Tell these listeners; replace the functions if they are the first."""
        self.listeners += listeners
        self._methods.clear()
        if self._originals:
            return
        for owner, name, label in patches:
            original = vars(owner)[name]
            replaced = self._replacement(label, original)
            setattr(owner, name, replaced)
            self._originals.append((owner, name, original, replaced))

    def remove(self, listeners: Collection[Listener]) -> None:
        """Tell them no more; put the functions back after the last one. One that somebody else has replaced
        since then stays: it only passes calls on."""
        self.listeners = [each for each in self.listeners if each not in listeners]
        self._methods.clear()
        if not self.listeners:
            for owner, name, original, replaced in reversed(self._originals):
                if vars(owner).get(name) is replaced:
                    setattr(owner, name, original)
            self._originals.clear()

    def _replacement(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        before, after, failed = f"before_{name}", f"after_{name}", f"failed_{name}"

        @functools.wraps(original)
        def replaced(*args: Any, **kwargs: Any) -> Any:
            if not self.listeners:
                return original(*args, **kwargs)
            self._tell(before, args, kwargs)
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                self._tell(failed, error)
                raise
            self._tell(after, args, kwargs, result)
            return result

        return replaced

    def _tell(self, method: str, *values: Any) -> None:
        told = self._methods.get(method)
        if told is None:
            found = [(each, getattr(each, method, None)) for each in self.listeners]
            told = self._methods[method] = [(each, it) for each, it in found if it is not None]
        for listener, function in told:
            if listener.thread == threading.get_ident():
                listener.guarded(function, *values)


HUBS: dict[str, Hub] = {}  # by the name of the library


def call_guarded(problems: list[str], function: Callable[..., Any], *values: Any) -> None:
    """Call a function of ours inside the user's run: a fault of ours is noted and does not end it."""
    try:
        function(*values)
    except Exception as problem:
        pass_on(problem)
        if len(problems) < 5:
            problems.append(f"{type(problem).__name__}: {problem}")
