"""The text of a step, how a line of it is written, and what is kept for backward, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..arithmetic import Line
from ..model.naming import kept_words
from ..model.views import LISTED, NAME, Stage, Where, quoted_span
from ..number_text import one_line, value_in_sentence
from ..protocol import Value
from ..trace.events import COMPILED, Recomputation
from ..trace.graph import SavedChip
from ..words import clean, shorten, text

IN_WORDS = "in_words"  # the kind of the line that says in words what an op's backward does
Shown = tuple[tuple[str, int], ...]  # parts of the picture, and the number of the moment in `Card.stood`


class Frame(NamedTuple):
    """One step.

    `phase` is "forward", "backward" or "update"; `marks` are the parts of the picture that are active in it,
    by the ids of the SVG without its prefix (`s1-c0` a card, `s1-d` a deck, `r2` a forward arrow, `r2-g` its
    gradient arrow, `r2-p` the pill). `label` says where in its phase it is, `text` what happens, with its
    numbers; `lines` are the arithmetic. `span` is what is marked in the cell's source: first line (from 1),
    first column (from 0, in characters), last line, column after the last character; None outside the
    cell. After the step the stations `ready` run next, in this order, and those in `waiting`
    miss so many arrows. `failed`: the text is the error that ended the call or the cell, and what is marked
    is where it stopped, and in the source, by `cause`, what led to that. `recursion` says where the queue has
    waited for several arrows, and what plain recursion does. `shows` are the cards whose tensors differ
    from the step before, each with the number of the moment in its `stood`. `earlier`: it is
    about what was there before this backward call began. `goal` says what a backward step is
    for: it starts with the seed, multiplies, adds where gradients meet, or adds to a `.grad`.
    """

    marks: tuple[str, ...]
    text: str
    lines: tuple[Line, ...] = ()
    span: Where | None = None
    failed: bool = False
    cause: Where | None = None
    phase: str = ""
    label: str = ""
    ready: tuple[str, ...] = ()
    waiting: tuple[tuple[str, int], ...] = ()
    recursion: str = ""
    shows: Shown = ()
    earlier: bool = False
    goal: str = ""

    @property
    def latex(self) -> str:
        """The lines of arithmetic in LaTeX, one below the other; empty without any."""
        return r" \\ ".join(line.latex for line in self.lines if line.latex)


def line(kind: str, label: str, content: str) -> Line:
    """A line of words, without a formula."""
    return Line(kind, clean(label), (("", clean(content)),))


def value_list(values: Iterable[Value | None]) -> str:
    """Values in one line, with commas between."""
    return ", ".join("None" if value is None else value_in_sentence(value) for value in values)


def saved_value_text(value: Any) -> str:
    """A saved value in a sentence."""
    return one_line(value) if isinstance(value, Value) else shorten(clean(str(value)), NAME)


def as_whole(stage: Stage, event: Any) -> list[Line]:
    """What to say about a call that is shown as a whole; nothing of an ordinary op."""
    if getattr(event, "op", "") == COMPILED:
        return [line("words", stage.say("whole_label"), stage.say("step_compiled"))]
    counted = getattr(event, "counted", 0)
    if not counted:
        return []
    return [line("words", stage.say("whole_label"), stage.say("step_counted", n=counted))]


AGAIN = 12  # operations that a checkpoint computed again, one line each


def saved_value_line(stage: Stage, node: str, saved: Sequence[Any]) -> list[Line]:
    """What a new node keeps for backward."""
    parts = [
        f"{s.name} = {saved_value_text(s.value)}"
        for s in saved[:LISTED]
        if s.value is not None and not s.packed
    ]
    lines = []
    if parts:
        content = stage.say("keeps", node=node, saved=", ".join(parts))
        lines.append(line("saved", stage.say("keeps_label"), content))
    return lines + [packing(stage, s) for s in saved[:LISTED] if s.packed]


def packing(stage: Stage, saved: SavedChip) -> Line:
    """What a hook made of a saved value."""
    kept = kept_words(saved, stage.lang)
    value = "" if saved.value is None else f" = {saved_value_text(saved.value)}"
    return line("packed", stage.say("packs_label"), f"{saved.name}{value} → {kept}")


def unpacks(stage: Stage, node: str) -> list[Line]:
    """The saved values that hooks gave back to a node."""
    lines = []
    for event in stage.scene.now.unpacked.get(node, ())[:LISTED]:
        saved = SavedChip(event.name, None, packed=event.kept)
        content = f"{kept_words(saved, stage.lang)} → {event.name} = {saved_value_text(event.value)}"
        lines.append(line("unpacked", stage.say("unpacks_label"), content))
    return lines


def recomputation_text(stage: Stage, event: Recomputation) -> Frame:
    """A checkpoint ran its function again: what it computed, at the stations that it computed before."""
    place = stage.place_of(event.node)
    key, values = "step_recomputed_unseen", {"n": str(len(event.ops))}
    if place is not None:
        values |= {"node": stage.scene.nodes[event.node].name, "name": stage.name(place.states[0].id)}
        key = "step_recomputed"
    lines: list[Line] = []
    marks = list(stage.deck_marks(stage.station(place))[:1])
    for op in event.ops:
        expr = op.op if op.span is None else quoted_span(op.span)
        if len(lines) < AGAIN:
            lines.append(line("again", stage.say("again_label"), f"{expr} = {one_line(op.output)}"))
        places = () if op.span is None else stage.scene.index.places
        made = (p.event for p in places if p.event is not None and p.event.span == op.span)
        same = [o.id for before in made for o in before.outputs if o.value == op.output]
        marks += stage.card_marks(same[:1])[:1]
    told = clean(text(key, stage.lang, **values))
    return Frame(tuple(dict.fromkeys(marks)), told, tuple(lines), stage.call_at)
