"""What saved-tensor hooks make of saved values, and what a checkpoint computes again: as events."""

from __future__ import annotations

from typing import Any

from ..kept import kept_text
from ..protocol import is_tensor, value_of
from ..trace.events import Inside, Packed, Recomputed, Unpacked
from .tape import Tape, observing


class Packing:
    """The part of a recorder that receives packing, unpacking and recomputation of saved tensors."""

    def __init__(self, tape: Tape) -> None:
        self.tape, self.ids, self.notes = tape, tape.ids, tape.notes
        self._ops: list[Inside] = []  # what they have computed

    @observing
    def packed(self, node: Any, name: str, tensor: Any, kept: Any) -> None:
        """A hook packed what `node` saves as `name`; a checkpoint does so for itself as it computes."""
        if not self.tape.again and self.tape.depth < 2:
            told = self.ids.node(node), saved_name(name), value_of(tensor), kept_text(kept)
            self.notes.append(Packed(self.tape.call, *told))

    @observing
    def unpacked(self, node: Any, name: str, kept: Any, tensor: Any) -> None:
        """A saved tensor was unpacked. If a checkpoint had to compute it, that is reported first."""
        if self.tape.again or self.tape.depth > 1:
            return
        key = self.ids.node(node)
        self.told_again(key)
        value = value_of(tensor) if is_tensor(tensor) else None
        self.notes.append(Unpacked(self.tape.call, key, saved_name(name), kept_text(kept), value))

    def recomputed(self, started: bool) -> None:
        """A checkpoint begins to run its function again, or ends."""
        self.tape.again += 1 if started else -1

    @observing
    def ran_again(self, title: str, inputs: list[Any], result: Any) -> None:
        """An op ran in such a function."""
        if is_tensor(result) and self.tape.depth < 2:
            self._ops.append(self.tape.inside_op("", title, inputs, result, self.tape.here()))

    def told_again(self, key: str) -> None:
        """Tell what was computed again for a node, if anything was."""
        if self._ops:
            ops = tuple(op._replace(node=key) for op in self._ops)
            self._ops = []
            self.notes.append(Recomputed(self.tape.call, key, ops))


def saved_name(name: str) -> str:
    """A saved value's name as `kept.saved_of` has it: that of a custom Function is its number."""
    return f"saved[{name}]" if name.isdigit() else name
