"""What observers are told, and memory while the cycle collector is off."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

from minigrad.core import modes


class Watcher:
    """An observer that notes events as (name, *arguments): those of some names, or all."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.told: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args: self.told.append((name, *args)) if name in (self.names or (name,)) else None


@contextlib.contextmanager
def watched(*names: str) -> Iterator[list[tuple[Any, ...]]]:
    """Give the list of the events of these names, or of all, that observers are told in the block."""
    watcher = Watcher(*names)
    modes.add_observer(watcher)
    try:
        yield watcher.told
    finally:
        modes.remove_observer(watcher)


@contextlib.contextmanager
def collector_off() -> Iterator[None]:
    """What is gone inside is gone without the cycle collector."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
