"""What is kept for backward, in words: what a node saves, what saved-tensor hooks make of it, and what a
checkpoint does not keep but computes again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arithmetic import Line
from ..model.card_names import kept_words
from ..model.stage import LISTED, Stage, written
from ..numbers import short
from ..trace.events import Recomputed
from ..trace.graph import Saved
from ..words import clean, text
from .told import Told, line, shown

AGAIN = 12  # operations that a checkpoint computed again, one line each


def saved(stage: Stage, node: str, saved: Sequence[Any]) -> list[Line]:
    """What a new node keeps for backward."""
    parts = [f"{s.name} = {shown(s.value)}" for s in saved[:LISTED] if s.value is not None and not s.packed]
    lines = []
    if parts:
        content = stage.say("keeps", node=node, saved=", ".join(parts))
        lines.append(line("saved", stage.say("keeps_label"), content))
    return lines + [packing(stage, s) for s in saved[:LISTED] if s.packed]


def packing(stage: Stage, saved: Saved) -> Line:
    """What a hook made of a saved value."""
    kept = kept_words(saved, stage.lang)
    value = "" if saved.value is None else f" = {shown(saved.value)}"
    return line("packed", stage.say("packs_label"), f"{saved.name}{value} → {kept}")


def unpacks(stage: Stage, node: str) -> list[Line]:
    """The saved values that hooks gave back to a node."""
    lines = []
    for event in stage.scene.now.unpacked.get(node, ())[:LISTED]:
        saved = Saved(event.name, None, packed=event.kept)
        content = f"{kept_words(saved, stage.lang)} → {event.name} = {shown(event.value)}"
        lines.append(line("unpacked", stage.say("unpacks_label"), content))
    return lines


def recomputed(stage: Stage, event: Recomputed) -> Told:
    """A checkpoint ran its function again: what it computed, at the stations that it computed before."""
    place = stage.place_of(event.node)
    key, values = "step_recomputed_unseen", {"n": str(len(event.ops))}
    if place is not None:
        values |= {"node": stage.scene.nodes[event.node].name, "name": stage.name(place.states[0].id)}
        key = "step_recomputed"
    lines: list[Line] = []
    marks = list(stage.deck_marks(stage.station(place))[:1])
    for op in event.ops:
        expr = op.op if op.span is None else written(op.span)
        if len(lines) < AGAIN:
            lines.append(line("again", stage.say("again_label"), f"{expr} = {short(op.output)}"))
        made = stage.scene.index.used.get(op.span, ()) if op.span is not None else ()
        same = [o.id for before in made for o in before.outputs if o.value == op.output]
        marks += stage.card_marks(same[:1])[:1]
    told = clean(text(key, stage.lang, **values))
    return Told(tuple(dict.fromkeys(marks)), told, tuple(lines), stage.call_at)
