"""What is kept for backward, in words: what a node saves, what saved-tensor hooks make of it, and what a
checkpoint does not keep but computes again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arithmetic import Line
from ..drawing.decks import kept_words
from ..numbers import short
from ..trace.events import Recomputed
from ..trace.graph import Saved
from ..words import clean, text
from .stage import LISTED, Stage, Told, shown, written

AGAIN = 12  # operations that a checkpoint computed again, one line each


class Keeping(Stage):
    """Tells of saved values."""

    def saved(self, node: str, saved: Sequence[Any]) -> list[Line]:
        """What a new node keeps for backward."""
        parts = [
            f"{s.name} = {shown(s.value)}" for s in saved[:LISTED] if s.value is not None and not s.packed
        ]
        lines = []
        if parts:
            content = self.say("keeps", node=node, saved=", ".join(parts))
            lines.append(self.line("saved", self.say("keeps_label"), content))
        return lines + [self.packing(s) for s in saved[:LISTED] if s.packed]

    def packing(self, saved: Saved) -> Line:
        """What a hook made of a saved value."""
        kept = kept_words(saved, self.lang)
        value = "" if saved.value is None else f" = {shown(saved.value)}"
        return self.line("packed", self.say("packs_label"), f"{saved.name}{value} → {kept}")

    def unpacks(self, node: str) -> list[Line]:
        """The saved values that hooks gave back to a node."""
        lines = []
        for event in self.unpacked.get(node, ())[:LISTED]:
            saved = Saved(event.name, None, packed=event.kept)
            content = f"{kept_words(saved, self.lang)} → {event.name} = {shown(event.value)}"
            lines.append(self.line("unpacked", self.say("unpacks_label"), content))
        return lines

    def recomputed(self, event: Recomputed) -> Told:
        """A checkpoint ran its function again: what it computed, at the stations that it computed before."""
        place = self.place_of(event.node)
        key, values = "step_recomputed_unseen", {"n": str(len(event.ops))}
        if place is not None:
            values |= {"node": self.builder.nodes[event.node].name, "name": self.name(place.states[0].id)}
            key = "step_recomputed"
        lines: list[Line] = []
        marks = list(self.deck_marks(self.station(place))[:1])
        for op in event.ops:
            expr = op.op if op.span is None else written(op.span)
            if len(lines) < AGAIN:
                lines.append(self.line("again", self.say("again_label"), f"{expr} = {short(op.output)}"))
            made = self.used.get(op.span, ()) if op.span is not None else ()
            same = [o.id for before in made for o in before.outputs if o.value == op.output]
            marks += self.card_marks(same[:1])[:1]
        told = clean(text(key, self.lang, **values))
        return Told(tuple(dict.fromkeys(marks)), told, tuple(lines), self.call_at)
