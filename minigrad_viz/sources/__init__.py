"""Where events come from. A source has `attach(recorder)` and `detach()`; in between it tells the recorder
what its library does on this thread, by calling `created`, `forward`, `detached`, `mutated`,
`backward_started` and `backward_ended`.

A source knows nothing of the recorder but these methods and three attributes: `busy` is true while the
recorder itself reads tensors, `call` is the number of the backward call that runs (0 outside), and
`shield`, which a source may replace, gives a context in which the recorder reads.
"""

from __future__ import annotations

from typing import Any, Protocol

from .minigrad import Minigrad
from .pytorch import PyTorch


class Source(Protocol):
    """One library that is watched."""

    def attach(self, recorder: Any) -> None:
        """Begin to tell `recorder` what happens on this thread."""

    def detach(self) -> None:
        """Stop, and leave nothing behind."""


def sources() -> list[Source]:
    """All libraries that can be watched."""
    return [Minigrad(), PyTorch()]
