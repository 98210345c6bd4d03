"""What one of two runs did, in words."""

from __future__ import annotations

from functools import cached_property

from ..model.main_part import main_part
from ..model.scene import Scene, Scenes
from ..numbers import short
from ..protocol import Value
from ..trace.events import Trace
from ..trace.graph import Graph
from ..words import clean, shorten, text
from .deeds import (
    ADDED,
    CREATED,
    FAILED,
    HOOKED,
    PASSED,
    RAN,
    RETURNED,
    SET,
    STEPPED,
    WROTE,
    Deed,
    DeedReader,
)
from .differences import ARGUMENTS, DEED, INPUTS, NODE, VALUE, Difference

SOURCE, NUMBERS = 44, 40  # columns of source and of numbers in a sentence
LISTED = 4  # names, settings
FLOWED = {
    HOOKED: "compare_hooked", SET: "compare_set", RETURNED: "compare_returned", ADDED: "compare_added",
}  # fmt: skip


class Run:
    """One of two runs that are compared, called `label`."""

    def __init__(self, trace: Trace, label: str, lang: str | None) -> None:
        self.trace, self.label, self.lang = trace, label, lang
        self.scenes = Scenes(trace)
        self.deeds = tuple(DeedReader(trace).deeds())

    @cached_property
    def names(self) -> dict[str, str]:
        """What tensors are called, by their ids: as variables, else as their source."""
        found: dict[str, str] = {}
        for deed in self.deeds:
            for state in deed.outputs:
                if deed.span is not None:
                    found.setdefault(state.id, source_of(deed))
        return found | {
            id: name for call in self.scenes.calls for id, name in self.scenes.of(call).named.items()
        }

    def name(self, id: str | None) -> str:
        """What a tensor is called."""
        return self.names.get(id or "", "") or text("compare_unnamed", self.lang)

    def scene(self, deed: Deed | None) -> Scene:
        """The picture that a deed belongs to: that of its backward call, of the one whose gradients it used
        to update something, or of the next one."""
        if deed is None:
            return self.scenes.last
        calls = self.scenes.calls
        updated = [u.call for u in self.scenes.index.updates if not set(u.times).isdisjoint(moments(deed))]
        call = next(iter(updated), deed.call)
        if call:
            later = [each for each in calls if each >= call]
        else:
            begins = self.scenes.index.calls
            later = [each for each in calls if each in begins and begins[each].begin > deed.time]
        return self.scenes.of(later[0]) if later else self.scenes.last

    def graph(self, deed: Deed | None) -> Graph:
        """The graph of that picture: without what has no part in it, unless the deed does."""
        scene = self.scene(deed)
        shown, _ = main_part(scene, scene.graph)
        there = {card.id for _, card in shown.cards()}
        about = set() if deed is None else set(deed.tensors)
        return shown if not about or about & there else scene.graph

    # ── in words ────────────────────────────────────────────────────────────────────────────────────────────

    def told(self, deed: Deed | None, found: Difference | None = None) -> str:
        """What a deed did, in a sentence with its line; of a difference, what the other run did not do."""
        what = text("compare_end", self.lang) if deed is None else self.what(deed, found)
        line = "" if deed is None or deed.span is None or deed.span.origin else deed.span.line
        return text("compare_in", self.lang, run=self.label, line=line, what=what)

    def line(self, deed: Deed) -> str:
        """What a deed did, with its line and without the name of the run."""
        what = self.what(deed, None)
        if deed.kind == RAN and deed.values[0] is not None:
            what = text("compare_computes", self.lang, source=source_of(deed), value=written(deed.values, 0))
        if deed.span is None or deed.span.origin:
            return what
        return text("compare_line", self.lang, line=deed.span.line, what=what)

    def what(self, deed: Deed, found: Difference | None) -> str:
        """What a deed did."""
        lang, source = self.lang, source_of(deed)
        what = DEED if found is None else found.what
        if what == INPUTS and deed.kind == RAN:
            return text("compare_uses", lang, source=source, names=self.listed(deed.inputs))
        if what == NODE:
            return self.left(deed)
        if deed.kind == FAILED:
            return text("compare_failed", lang, error=shorten(clean(deed.detail), 120))
        if deed.kind == STEPPED:
            return text("compare_stepped", lang, kind=deed.op, settings=self.settings(deed, found))
        if deed.kind == PASSED or deed.kind in FLOWED:
            return self.flowed(deed, found)
        if deed.kind in (CREATED, WROTE) or what == VALUE:
            key = "compare_becomes" if deed.kind == WROTE else "compare_is"
            index = found.at if found is not None and found.what == VALUE else 0
            return text(key, lang, name=self.name(deed.tensors[0]), value=written(deed.values, index))
        if found is not None and found.a and found.b and source_of(found.a) == source_of(found.b):
            return text("compare_runs_op", lang, source=source, op=deed.op)
        return text("compare_runs", lang, source=source)

    def left(self, deed: Deed) -> str:
        """Which node an op left."""
        name, node = self.name(deed.tensors[0]), deed.outputs[0].grad_fn
        if node:
            return text("compare_node", self.lang, name=name, node=node)
        key = "compare_no_node" if not deed.outputs[0].requires_grad else "compare_leaf"
        return text(key, self.lang, name=name)

    def flowed(self, deed: Deed, found: Difference | None) -> str:
        """What a gradient came to be."""
        index = found.at if found is not None and found.what == VALUE else deed.received
        name, lang = self.name(deed.inputs[min(index, len(deed.inputs) - 1)]), self.lang
        if deed.kind == PASSED:
            passed = "compare_passes" if deed.op != "AccumulateGrad" else "compare_runs_node"
            key, name = "compare_receives" if index < deed.received else passed, self.name(deed.inputs[0])
            return text(key, lang, node=deed.detail, name=name, value=written(deed.values, index))
        value = written(deed.values, min(index, len(deed.values) - 1))
        return text(FLOWED[deed.kind], lang, name=name, value=value)

    def settings(self, deed: Deed, found: Difference | None) -> str:
        """The settings of an optimizer, as far as they differ."""
        other: set[str | None] = set()
        if found is not None and found.what == ARGUMENTS and found.a and found.b:
            other = set(found.a.arguments) & set(found.b.arguments)
        told = [str(each) for each in deed.arguments if each not in other] or list(map(str, deed.arguments))
        return ", ".join(told[:LISTED])

    def listed(self, ids: tuple[str | None, ...]) -> str:
        """The names of some tensors."""
        return ", ".join(self.name(id) for id in ids if id is not None)


def moments(deed: Deed) -> tuple[int, ...]:
    """When a deed happened. An optimizer tells of a step just before it writes the first parameter."""
    return (deed.time, deed.time + 1) if deed.kind == STEPPED else (deed.time,)


def source_of(deed: Deed) -> str:
    """The source of a deed, in short; the op where that is not known."""
    return deed.op if deed.span is None else shorten(clean(deed.span.flat), SOURCE)


def written(values: tuple[Value | None, ...], index: int) -> str:
    """One of some numbers as text."""
    value = values[index] if index < len(values) else None
    return "None" if value is None else short(value, NUMBERS)
