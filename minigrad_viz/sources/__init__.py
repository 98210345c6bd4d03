"""Where events come from. A source has `attach(recorder)` and `detach()`; in between it tells the recorder
what its library does on this thread, by calling `created`, `forward`, `detached`, `mutated`, `mode_changed`,
`backward_started` and `backward_ended`, and what `listener` has for what happens inside a backward call,
for saved-tensor hooks and for checkpoints.

`busy` is true while the recorder itself reads tensors, `call` is the number of the backward call that runs
(0 outside), and `shield`, which a source may replace, gives a context in which the recorder reads. A source
may itself note events that occur thousands of times (Note [Fast notes] in `notes`).
"""

from __future__ import annotations

from typing import Any, Protocol

from .minigrad import Minigrad
from .pytorch import PyTorch


class Library(Protocol):
    """One library that is watched. `budget` is how many notes take about a second."""

    budget: int

    def attach(self, recorder: Any) -> None:
        """Begin to tell `recorder` what happens on this thread."""

    def detach(self) -> None:
        """Stop, and leave nothing behind."""

    def is_running(self) -> bool:
        """Whether a backward call of this thread is running."""

    def node_at(self, tensor: Any) -> Any:
        """The node at which a tensor's gradient arrives, or None."""

    def freeze(self, roots: list[Any]) -> tuple[list[Any], list[Any]]:
        """The nodes of a backward call that starts, and for a `BackwardStartNote` their state."""

    def listen(self, live: Any, frozen: Any, starts: Any) -> None:
        """Report from now on what these nodes do, which `freeze` has listed; `starts` are (node, output
        number, gradient) of the roots."""

    def lost(self, keys: list[Any], live: list[Any], ran: set[Any], sure: bool) -> list[Any]:
        """The keys of the nodes of a call whose saved values cannot be read any more; those that `ran` are
        known where hooks tell. `sure`: it ended without an error, and no other call ran inside it."""


def sources() -> list[Library]:
    """All libraries that can be watched."""
    return [Minigrad(), PyTorch()]
