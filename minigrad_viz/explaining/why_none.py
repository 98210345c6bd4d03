"""Why `x.grad` is None: one sentence, from what a cell is known to have done, or from the graph alone.

Every answer is certain or left out (None). The questions are asked in an order in which the first answer is
the most telling: what `x` is, what happened to its `.grad`, and last what each backward call did not do.
"""

from __future__ import annotations

from typing import NamedTuple

from ..model.births import came_from, made_by, upstream
from ..model.cuts import WHOLE
from ..model.scene import Scenes
from ..numbers import short
from ..protocol import Value
from ..trace.events import Asked, BackwardStarted, Deposited, Failed, GradSet, NodeRan
from ..words import clean, text
from .case import Case, listed
from .history import Lost, asked_at, complete, cut_before, lost_by, reached


class Facts(NamedTuple):
    """What a tensor tells of itself: what to call it, its dtype, whether it requires gradients, is a leaf,
    and retains its gradient; and its `.grad`."""

    name: str
    dtype: str
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool
    grad: Value | None


class Answer(NamedTuple):
    """A sentence, and its key in the catalogue; and what repairs a path that was cut."""

    key: str
    sentence: str
    repair: str = ""


def of_itself(facts: Facts, lang: str | None) -> Answer | None:
    """What the tensor alone tells."""
    if facts.grad is not None:
        return said("why_has_grad", lang, name=facts.name, value=short(facts.grad))
    if not facts.requires_grad and facts.dtype.startswith(WHOLE):
        return said("why_integer", lang, name=facts.name, dtype=facts.dtype)
    return None


def in_general(facts: Facts, lang: str | None) -> Answer | None:
    """What follows from what it is, where nothing more is known."""
    if not facts.requires_grad:
        return said("why_no_flag", lang, name=facts.name)
    if not facts.is_leaf and not facts.retains_grad:
        return said("why_not_leaf", lang, name=facts.name)
    return None


def from_scenes(scenes: Scenes, tensor: str, facts: Facts, lang: str | None = None) -> Answer | None:
    """What a recorded cell tells of one of its tensors."""
    asked = Question(scenes, tensor, facts, lang)
    if not facts.requires_grad:
        return asked.no_flag()
    if facts.is_leaf:
        return asked.reset() or asked.by_calls()
    return asked.retained() if facts.retains_grad else asked.not_kept()


class Question:
    """Why the `.grad` of one tensor is None, asked of the trace of a cell."""

    def __init__(self, scenes: Scenes, tensor: str, facts: Facts, lang: str | None) -> None:
        self.scenes, self.trace, self.lang = scenes, scenes.trace, lang
        self.tensor, self.facts = tensor, facts
        calls = scenes.index.calls.values()
        self.ended = {call.number: call.ended for call in calls if call.ended is not None}
        self.calls = [call.started for call in calls if call.started and call.ended]

    def say(self, key: str, **values: object) -> Answer:
        """A sentence about the tensor."""
        return said(key, self.lang, name=self.facts.name, **values)

    def at(self, call: BackwardStarted) -> Case:
        """A call, and what is known about it."""
        return Case(self.scenes, call.call, call.span, self.lang)

    def called(self, call: BackwardStarted) -> str:
        """A call as a sentence quotes it."""
        return f"{call.kind}()" if call.span is None else self.at(call).place(call.span)

    def asked(self) -> list[Asked]:
        """Where the cell set whether the tensor requires gradients."""
        return [e for e in self.trace.events if isinstance(e, Asked) and e.tensor.id == self.tensor]

    # ── what the tensor is ──────────────────────────────────────────────────────────────────────────────────

    def no_flag(self) -> Answer:
        """It does not require gradients: where the path to it ended."""
        case, asked = Case(self.scenes, 0, None, self.lang), self.asked()
        if asked:
            span = asked[-1].span
            off = span is not None and not asked[-1].tensor.requires_grad
            return self.say("why_no_flag_off", asked=case.place(span)) if off else self.say("why_no_flag")
        cut = cut_before(case, self.tensor)
        if cut is None or cut.span is None or cut.how == "integer":
            return self.say("why_no_flag")
        middle, told = "" if cut.tensor == self.tensor else case.name(cut.tensor), cut.told(case)
        return self.say("why_no_flag", middle=middle, **told)._replace(repair=told["repair"])

    def not_kept(self) -> Answer:
        """It is no leaf, and its gradient is not kept: what a call computed."""
        for call in reversed(self.calls):
            value = self.arrived(call)
            if value is not None:
                return self.say("why_not_leaf_value", call=self.called(call), value=short(value))
        return self.say("why_not_leaf")

    def retained(self) -> Answer | None:
        """It is no leaf, but its gradient is to be kept."""
        for call in reversed(self.calls):
            value, before = self.arrived(call), self.before(call)
            if value is not None and before is False:
                return self.say("why_retained_late", call=self.called(call), value=short(value))
            if value is not None:
                return None
        return self.by_calls()

    def arrived(self, call: BackwardStarted) -> Value | None:
        """The gradient of the tensor that a call computed."""
        case = self.at(call)
        where = case.scene.at.get(self.tensor)
        node = None if where is None else where[0].states[where[1]].node
        return None if where is None or node is None else case.scene.arrived.get((node, where[1]))

    def before(self, call: BackwardStarted) -> bool | None:
        """Whether the gradient was to be kept when a call began; None if that is not known."""
        state = self.scenes.index.calls[call.call].named.get(self.tensor)
        return None if state is None else bool(state.retains_grad)

    # ── what happened to its .grad ──────────────────────────────────────────────────────────────────────────

    def reset(self) -> Answer | None:
        """A gradient was there, and is no more."""
        last: Deposited | None = None
        gone: GradSet | None = None
        for event in self.trace.events:
            if isinstance(event, Deposited) and event.tensor == self.tensor:
                last, gone = event, None
            elif isinstance(event, GradSet) and event.tensor == self.tensor:
                gone = event if event.how == "none" else None
        if last is None:
            return None
        call = next(c for c in self.calls if c.call == last.call)
        values = {"call": self.called(call), "value": short(last.after)}
        line = None if gone is None else self.at(call).line(gone.span)
        return self.say("why_reset_at", line=line, **values)

    # ── what the calls did not do ───────────────────────────────────────────────────────────────────────────

    def by_calls(self) -> Answer | None:
        """What the backward calls of the cell did instead: the last one that could reach the tensor, else the
        last one."""
        if not self.calls:
            failed = [event for event in self.trace.events if isinstance(event, Failed)]
            if failed and failed[0].span is not None:
                place = Case(self.scenes, 0, None, self.lang).place(failed[0].span)
                return self.say("why_failed_early", place=place)
            return self.say("why_no_call") if not self.trace.skipped else None
        for call in reversed(self.calls):
            if self.node_in(call) is not None:
                return self.skipped_by(call)
        return self.unreached(self.calls[-1])

    def node_in(self, call: BackwardStarted) -> str | None:
        """The node of a call at which the gradient of the tensor arrives."""
        states = made_by(self.scenes.index.births.get(self.tensor))
        made = next((state.node for state in states if state.id == self.tensor), None)
        for node in call.nodes:
            if node.variable == self.tensor or (made is not None and node.id == made):
                return node.id
        return None

    def skipped_by(self, call: BackwardStarted) -> Answer | None:
        """Why a call that could reach the tensor put nothing into its `.grad`."""
        node, ended, place = self.node_in(call), self.ended[call.call], self.called(call)
        events = list(self.scenes.index.calls[call.call].ran.values())
        ran = [event for event in events if event.node == node]
        if ended.error is not None:
            return None if ran else self.say("why_failed", call=place)
        if call.kind == "grad" and self.facts.is_leaf:
            return self.say("why_grad_call", call=place)
        if call.wanted is not None and self.tensor not in call.wanted:
            return self.say("why_inputs", call=place)
        if ran and any(value is not None for value in ran[-1].received):
            return None
        sender = self.sender(call, node, events)
        if sender is not None:
            return self.say("why_none_sent", call=place, node=self.at(call).titled(sender))
        return self.say("why_none_arrived", call=place) if ran else None

    def sender(self, call: BackwardStarted, node: str | None, events: list[NodeRan]) -> str | None:
        """The node that had a gradient and sent None on the way to `node`, if there is only one."""
        edges, found = {state.id: state.edges for state in call.nodes}, set[str]()
        for event in reversed(events):  # users of a node run before it
            sent = zip(edges.get(event.node, ()), event.sent, strict=False)
            if any(edge is not None and edge[0] == node and value is None for edge, value in sent):
                if all(value is None for value in event.received):
                    node = event.node if not found else None
                else:
                    found.add(event.node)
        return found.pop() if len(found) == 1 else None

    def unreached(self, call: BackwardStarted) -> Answer | None:
        """Why the tensor is not in the graph of a call."""
        case = self.at(call)
        if not complete(case) or self.tensor in reached(case):
            return None
        values: dict[str, object] = {"call": self.called(call), "root": ", ".join(map(case.name, call.roots))}
        lost = lost_by(case).get(self.tensor)
        if lost is None:
            return self.say("why_no_path" if self.no_path(call) else "why_not_in_graph", **values)
        return self.cut_off(case, lost, values) or self.say("why_not_in_graph", **values)

    def cut_off(self, case: Case, lost: Lost, values: dict[str, object]) -> Answer | None:
        """How the path from the tensor to the roots was cut."""
        cut, asked = lost.cut, self.asked()
        if cut is None and asked and lost.source == self.tensor:
            made, events = self.scenes.index.births[lost.tensor], self.trace.events
            if made.span is not None and events.index(made) < events.index(asked[0]):
                places = {"made": case.place(made.span), "asked": case.place(asked[0].span)}
                return self.say("why_asked_late", **places)
        if cut is None or cut.span is None:
            return None
        values = {**values, "cut": case.place(cut.span)}
        repair = cut.told(case)["repair"]
        if not lost.leaf:
            return self.say("why_cut", **values)._replace(repair=repair)
        asked_there = asked_at(self.scenes.index, lost.leaf)
        values["made"] = "" if asked_there in (None, cut.span) else case.place(asked_there)
        return self.say("why_new_leaf", leaf=case.name(lost.leaf), **values)._replace(repair=repair)

    def no_path(self, call: BackwardStarted) -> bool:
        """Whether it is certain that the roots were not computed from the tensor."""
        return not any(
            event is None or (event.span is None and not came_from(event)) or id == self.tensor
            for id, event in upstream(self.scenes.index.births, call.roots)
        )


def from_graph(facts: Facts, roots: list[str], lang: str | None = None) -> Answer:
    """What the graph alone tells of a tensor that should get gradients: `roots` are the variables whose graph
    it is in."""
    if roots:
        return said("why_in_graph", lang, name=facts.name, roots=listed(roots))
    return said("why_in_no_graph", lang, name=facts.name)


def said(key: str, lang: str | None, **values: object) -> Answer:
    """A sentence of the catalogue."""
    return Answer(key, clean(text(key, lang, **values)))
