"""One event of a trace → what a reader is told of it: a sentence with its numbers, lines of arithmetic, the
parts of the picture that are active, and the place in the source.

    x ** 3 makes y = 125.                         PowBackward0 at y takes 0.008 and sends 0.6 to x
    saved   PowBackward0 keeps self = 5.          chain rule   ∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 75. = 0.6
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..arithmetic import Line, capture_lines, deposit_lines, lines_of, tangent_lines, value_lines
from ..drawing.nodes import hook_label, hook_text
from ..numbers import short
from ..protocol import Value
from ..trace.events import (
    BackwardEnded,
    Created,
    Failed,
    Forward,
    HookRan,
    ModeChanged,
    Mutated,
    NodeRan,
    Statement,
    TensorState,
)
from ..trace.explained import Explanation
from ..trace.graph import GUILTY
from ..words import clean, text
from .asides import aside
from .cutting import Cutting
from .stage import LISTED, Told, in_cell, written

BEFORE = ("tensor", "pre", "multi")  # hooks that run before their node does


class SoFar(NamedTuple):
    """What has arrived at a node that still waits: the sum of it, and how many edges are missing."""

    tensor: str
    total: Value
    missing: int


MODES = {
    "grad": "mode_grad",
    "inference": "mode_inference",
    "anomaly": "mode_anomaly",
    "saved_tensors_hooks": "mode_saved_tensors_hooks",
    "forward_ad": "mode_forward_ad",
}


class Narrator(Cutting):
    """Tells events, each as one step."""

    # ── forward ─────────────────────────────────────────────────────────────────────────────────────────────

    def created(self, event: Created, state: TensorState, seed: bool) -> Told:
        """A tensor is there: made from data, brought along, or the gradient that a call starts with. `state`
        is how it stands when the story begins."""
        if seed:
            key = "step_seed"
        elif state.parameter:
            key = "step_parameter"
        elif state.requires_grad and state.is_leaf:
            key = "step_leaf"
        else:
            key = "step_constant"
        lines = []
        if state.version:
            lines.append(
                self.line("version", self.say("version_label"), self.say("version", n=state.version))
            )
        made = self.made((state,))
        given = key == "step_constant" and event.span is None
        told = made if given else text(key, self.lang, made=made)
        if state.value is None and (place := self.builder.at[state.id][0]).expr is None:
            told = text("step_unseen", self.lang, expr=self.expression(place))
        return Told(self.card_marks((state.id,)), clean(told), tuple(lines), in_cell(event.span))

    def computed(self, event: Forward, owner: str | None, opens: bool) -> Told:
        """An op ran; inside a backward call it is part of the run of the node `owner`. `opens`: it is the
        first op of a call that is not the one told."""
        place = self.builder.at[event.outputs[0].id][0]
        node = self.builder.nodes.get(event.outputs[0].node or "")
        values = {"expr": self.expression(place), "made": self.made(event.outputs)}
        marks = self.card_marks(state.id for state in event.outputs)
        if place.id in self.builder.given:
            return Told(marks, clean(values["made"]), (), in_cell(event.span))
        if owner is not None:
            values["node"] = self.builder.nodes[owner].name
            marks += self.deck_marks(self.station(self.place_of(owner)))[:1]
            told = text("step_inside", self.lang, **values)
        else:
            told = self.computed_as(event, place)
        lines = [] if node is None else self.saved(node.name, node.saved)
        lines[:0] = tangent_lines(self.builder, event, self.lang)
        if opens and event.span is not None:
            lines.insert(0, self.line("inside", self.say("inside_label"), written(event.span)))
        of_leaf = owner is None or self.builder.nodes[owner].variable is not None
        span = in_cell(event.span) if of_leaf else self.written_at(self.place_of(owner or ""))
        return Told(marks, clean(told), tuple(lines), span)

    def mutated(self, event: Mutated) -> Told:
        """An op wrote into a tensor."""
        values: dict[str, Any] = {
            "name": self.name(event.before),
            "made": self.made((event.tensor,)),
            "value": text("unknown", self.lang) if event.tensor.value is None else short(event.tensor.value),
            "old": event.version,
            "new": event.tensor.version,
        }
        key = "step_in_place" if event.tensor.id == event.before else "step_in_place_new"
        key = "step_in_place_dirty" if event.version < 0 else key
        if event.span is None:
            key = "step_in_place_view"
        else:
            values["expr"] = written(event.span)
        return Told(
            self.card_marks((event.tensor.id, *(state.id for state in event.also))),
            clean(text(key, self.lang, **values)),
            (*value_lines(self.builder, event.tensor, self.lang), *self.sharing(event)),
            in_cell(event.span),
        )

    def aside(self, event: Statement, tensor: str) -> Told:
        """A statement without an op: about `tensor`, or a gradcheck; it removes a hook if it says no more."""
        told = aside(event.span.text)
        key = "step_hook_removed" if told is None else told.key
        name = self.name(tensor) if tensor else ""
        said = text(key, self.lang, expr=written(event.span), name=name)
        return Told(self.card_marks((tensor,))[:1], clean(said), (), in_cell(event.span))

    def modes(self, events: Iterable[ModeChanged]) -> list[Line]:
        """The last switch of each mode before a step."""
        last = {event.mode: event for event in events}
        lines = []
        for event in last.values():
            switched = text("mode_on" if event.enabled else "mode_off", self.lang)
            lines.append(self.line("mode", text(MODES[event.mode], self.lang), switched))
        return lines

    # ── backward ────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> list[Line]:
        """The gradients that the call starts with, one line a root."""
        lines = []
        event = self.started
        given = () if event is None else zip(event.roots, event.gradients, event.gradient_ids, strict=True)
        for root, gradient, id in given:
            name = self.name(root)
            if gradient is not None and id is None:
                one = gradient.items == (1.0,)
                key = "start_one" if one else "start_given"
                many = event is not None and event.batched and gradient.items is None
                key = "start_many" if many else key
                content = self.say(key, name=name, value=short(gradient))
                lines.append(self.line("start", self.say("start_label"), content))
        if event is not None and event.wanted is not None and event.kind == "backward":
            names = [self.name(tensor) for tensor in event.wanted[:LISTED]]
            names += ["…"] * (len(event.wanted) > LISTED)
            lines.append(
                self.line("asked", self.say("asked_label"), self.say("asked", names=", ".join(names)))
            )
        return [*lines, *self.afterwards()]

    def afterwards(self) -> list[Line]:
        """What the call leaves for another one: the graph of the gradient, or all that was saved."""
        event = self.started
        if event is not None and event.create_graph:
            return [self.line("graph", self.say("creates_label"), self.say("creates"))]
        ends = (e for e in self.trace.events if isinstance(e, BackwardEnded) and e.call == self.builder.call)
        ended = next(ends, None)
        if event is None or ended is None or ended.error is not None or ended.freed:
            return []
        saved = (value for node in event.nodes for value in node.saved if not value.freed)
        if not any(isinstance(value.value, Value) for value in saved):
            return []  # nothing to keep: such a graph can be gone through again anyway
        return [self.line("kept", self.say("retains_label"), self.say("retains"))]

    def ran(self, event: NodeRan, first: bool, so_far: Iterable[SoFar]) -> Told:
        """A node ran. `first`: it is the first of its call; `so_far`: where gradients wait after it."""
        node = self.builder.nodes[event.node]
        place = self.place_of(event.node)
        if node.variable is not None:
            told = self.deposit(event)
            sums = deposit_lines(self.builder, event, self.deposits.get(event.node), self.lang)
            span = self.call_at
        else:
            told = self.sent(event)
            sums = lines_of(self.builder, event, self.lang)
            span = in_cell(node.code) or self.written_at(place)
        lines = [*(self.start() if first else ()), *self.unpacks(event.node)]
        lines += self.with_hooks(event.node, sums)
        for wait in so_far:
            label = self.say("so_far_label", name=self.name(wait.tensor))
            content = self.say("so_far", value=short(wait.total), n=wait.missing)
            lines.append(self.line("so_far", label, content))
        if event.node in self.freed:
            freed = ", ".join(self.freed[event.node])
            lines.append(self.line("freed", self.say("frees_label"), freed))
        return Told(self.deck_marks(self.station(place)), clean(told), tuple(lines), span)

    def with_hooks(self, node: str, lines: list[Line]) -> list[Line]:
        """The arithmetic of a node with what each of its hooks saw and did, in their order: after the sum of
        what arrived, and at the end."""
        hooks = self.hooks.get(node)
        if hooks is None:
            return lines
        lines = [line for line in lines if line.kind != "hook"]
        sums = sum(1 for _ in itertools.takewhile(lambda line: line.kind == "sum", lines))
        told = [(hook, self.hook(i, hook)) for i, hook in enumerate(hooks, 1)]
        before = [line for hook, line in told if hook.kind in BEFORE]
        after = [line for hook, line in told if hook.kind not in BEFORE]
        return [*lines[:sums], *before, *lines[sums:], *after]

    def sent(self, event: NodeRan) -> str:
        """The sentence for a node that is no leaf's."""
        node, place = self.builder.nodes[event.node], self.place_of(event.node)
        name = "…" if place is None else ", ".join(self.name(state.id) for state in place.states[:LISTED])
        values = {"node": node.name, "name": name, "value": self.list(event.received)}
        nothing = all(value is None for value in event.received)
        if nothing and all(value is None for value in event.sent):
            return text("step_backward_none", self.lang, **values)
        parts = []
        for edge, gradient in zip(node.edges, event.sent, strict=False):
            target = None if edge is None or gradient is None else self.builder.tensor_of(edge)
            if target is not None and gradient is not None:
                values_ = {"value": short(gradient), "name": self.name(target)}
                parts.append(text("step_sent", self.lang, **values_))
        key = "step_backward_zeros" if nothing else "step_backward" if parts else "step_backward_end"
        more = ["…"] * (len(parts) > LISTED)
        return text(key, self.lang, sent=", ".join(parts[:LISTED] + more), **values)

    def deposit(self, event: NodeRan) -> str:
        """The sentence for an AccumulateGrad."""
        name = self.name(self.builder.nodes[event.node].variable or "")
        deposited = self.deposits.get(event.node)
        if event.received[0] is None:
            return text("step_deposit_none", self.lang, name=name)
        first = deposited is not None and deposited.before is None
        key = "step_deposit_first" if first else "step_deposit"
        return text(key, self.lang, value=short(event.received[0]), name=name)

    def hook(self, i: int, event: HookRan) -> Line:
        """What the `i`-th hook at a node saw and made of it."""
        return self.line("hook", f"{i}. {hook_label(event, self.lang)}", hook_text(event, self.lang))

    def hooked(self, node: str) -> Told:
        """Hooks at a tensor whose node does not run itself, because its gradient was asked for."""
        place = self.place_of(node)
        name = "…" if place is None else self.name(place.states[0].id)
        lines = tuple(self.hook(i, hook) for i, hook in enumerate(self.hooks.get(node, ()), 1))
        span = None if not lines else self.written_at(place)
        marks = self.card_marks(state.id for state in place.states) if place is not None else ()
        return Told(marks[:1], clean(text("step_hooked", self.lang, name=name)), lines, span)

    def captured(self, event: BackwardEnded) -> Told:
        """`autograd.grad` returned gradients."""
        parts, lines = [], []
        for tensor, gradient in event.captured:
            values = {"name": self.name(tensor), "value": "None" if gradient is None else short(gradient)}
            parts.append(text("step_captured_one", self.lang, **values))
            lines += capture_lines(self.builder, tensor, self.lang)
        told = text("step_captured", self.lang, gradients=", ".join(parts))
        marks = tuple(
            f"{station.id}-c{where[1]}"
            for tensor, _ in event.captured
            if (where := self.at(tensor)) and (station := self.station(where[0])) is not None
        )
        return Told(marks, clean(told), tuple(lines), self.call_at)

    def failed(
        self,
        event: BackwardEnded | Failed,
        guilty: str | None,
        done: int,
        of: int,
        explained: Sequence[Explanation] = (),
    ) -> Told:
        """The error that ended a call or the cell. `guilty` is the node that would have run next; `done` of
        `of` nodes had run."""
        place = None if guilty is None else self.place_of(guilty)
        marks = self.deck_marks(self.station(place))[:1]
        lines = []
        if of:
            lines.append(
                self.line("reached", self.say("reached_label"), self.say("reached", done=done, n=of))
            )
        if guilty is not None and place is not None:
            where = {"node": self.builder.nodes[guilty].name, "name": self.name(place.states[0].id)}
            lines.append(self.line("stopped", self.say("stopped_label"), self.say("stopped", **where)))
        span = in_cell(event.span) if isinstance(event, Failed) else self.call_at
        made = self.written_at(place) if self.switched("anomaly", self.began) else None
        if made is not None and place is not None:
            lines.append(self.line("made_at", self.say("made_at_label"), self.expression(place)))
            span = made  # as the traceback that anomaly detection adds
        why = next((each for each in reversed(explained) if is_about(each, event)), None)
        if why is not None:
            guilty_parts = (m.part for m in why.marks if m.kind == GUILTY and self.has(m.part))
            marks = tuple(dict.fromkeys((*marks, *guilty_parts)))
            said = (("why", why.why), ("fix", why.fix))
            lines += [self.line(key, text(key, self.lang), content) for key, content in said if content]
        cause = in_cell(why.cause) if why is not None else None
        return Told(marks, clean(event.error or ""), tuple(lines), span, failed=True, cause=cause)

    # ── many at once ────────────────────────────────────────────────────────────────────────────────────────

    def folded(self, events: Sequence[Any]) -> Told:
        """Events in a row that one station stands for."""
        first, last = events[0], events[-1]
        if isinstance(first, NodeRan):
            station = self.station(self.place_of(first.node))
            value, sent = self.list(first.received), self.list(v for v in last.sent if v is not None)
            told = text("step_fold_backward", self.lang, n=len(events), value=value, sent=sent or "None")
            span = self.written_at(self.place_of(last.node))
            return Told(self.deck_marks(station), clean(told), (), span)
        ops = [event for event in events if not isinstance(event, Created)] or events
        states = [getattr(event, "outputs", None) or (event.tensor,) for event in (ops[0], ops[-1])]
        ends = [self.made(each) for each in states]
        told = text("step_fold", self.lang, n=len(ops), first=ends[0], last=ends[1])
        return Told(self.card_marks((states[1][0].id,)), clean(told), (), in_cell(last.span))


def is_about(explained: Explanation, event: BackwardEnded | Failed) -> bool:
    """Whether an explanation is that of the error which ended a call, or the cell."""
    call = event.call if isinstance(event, BackwardEnded) else 0
    return explained.call == call and explained.error == event.error
