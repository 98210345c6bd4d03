"""The steps of a backward call, in words: what a node receives and sends, what hooks change, what `grad()`
returns, and the error that ended it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..arithmetic import Line, capture_lines, deposit_lines, lines_of
from ..arithmetic.vjps import NodeStep
from ..model.naming import hook_label, hook_text
from ..model.views import LISTED, Stage, first_names, in_cell
from ..number_text import one_line, value_in_sentence
from ..protocol import Value
from ..trace.events import BackwardEnded, CellFailed, HookRan, NodeRan
from ..trace.graph import GUILTY, Explanation
from ..words import clean, text
from .frames import IN_WORDS, Frame, line, unpacks, value_list
from .op_sentences import backward_sentence

BEFORE = ("tensor", "pre", "multi")  # hooks that run before their node does


class SoFar(NamedTuple):
    """What has arrived at a node over several edges: the `shares`, their sum, and how many are missing."""

    tensor: str
    total: Value
    missing: int
    shares: tuple[Value, ...] = ()


def arrival_lines(stage: Stage, so_far: SoFar) -> Line:
    """What has arrived at a node, and whether it waits for more."""
    name = stage.name(so_far.tensor)
    if so_far.missing:
        key = "so_far" if so_far.missing > 1 else "so_far_one"
        said = stage.say(key, name=name, value=one_line(so_far.total), n=so_far.missing)
    else:
        said = stage.say("all_in", name=name, values=" + ".join(map(one_line, so_far.shares)))
    return line("so_far", stage.say("so_far_label"), said)


def start(stage: Stage) -> list[Line]:
    """The gradients that the call starts with, one line a root."""
    lines = []
    event = stage.scene.now.started
    given = () if event is None else zip(event.roots, event.gradients, event.gradient_ids, strict=True)
    for root, gradient, id in given:
        name = stage.name(root)
        if gradient is not None and id is None:
            one = gradient.items == (1.0,)
            key = "start_one" if one else "start_given"
            many = event is not None and event.batched and gradient.items is None
            key = "start_many" if many else key
            lines.append(
                line("start", stage.say("start_label"), stage.say(key, name=name, value=one_line(gradient)))
            )
    if event is not None and event.wanted is not None and event.kind == "backward":
        names = first_names([stage.name(tensor) for tensor in event.wanted])
        lines.append(line("asked", stage.say("asked_label"), stage.say("asked", names=names)))
    return [*lines, *afterwards(stage)]


def afterwards(stage: Stage) -> list[Line]:
    """What the call leaves for another one: the graph of the gradient, or all that was saved."""
    event = stage.scene.now.started
    if event is not None and event.create_graph:
        return [line("graph", stage.say("creates_label"), stage.say("creates"))]
    ended = stage.scene.now.ended
    if event is None or ended is None or ended.error is not None or ended.freed:
        return []
    saved = (value for node in event.nodes for value in node.saved if not value.freed)
    if not any(isinstance(value.value, Value) for value in saved):
        return []  # nothing to keep: such a graph can be gone through again anyway
    return [line("kept", stage.say("retains_label"), stage.say("retains"))]


def node_lines(stage: Stage, event: NodeRan, first: bool, so_far: Iterable[SoFar]) -> Frame:
    """A node ran. `first`: it is the first of its call; `so_far`: where gradients meet after it."""
    node = stage.scene.nodes[event.node]
    place = stage.place_of(event.node)
    if node.variable is not None:
        told = deposit(stage, event)
        sums = deposit_lines(stage.scene, event, stage.scene.now.deposits.get(event.node), stage.lang)
        span = stage.call_at
    else:
        told = node_sentence(stage, event)
        sums = lines_of(stage.scene, event, stage.lang)
        span = in_cell(node.code) or stage.written_at(place)
    lines = [*in_words(stage, event), *(start(stage) if first else ()), *unpacks(stage, event.node)]
    lines += with_hooks(stage, event.node, sums)
    lines += [arrival_lines(stage, each) for each in so_far]
    if event.node in stage.scene.now.freed:
        names = ", ".join(stage.scene.now.freed[event.node])
        lines.append(line("freed", stage.say("frees_label"), names))
    goal = goal_of(stage, event, first, meets=any(line.kind == "sum" for line in sums))
    return Frame(stage.deck_marks(stage.station(place)), clean(told), tuple(lines), span, goal=goal)


def goal_of(stage: Stage, event: NodeRan, first: bool, meets: bool) -> str:
    """What a node's step is for, in the words of the chain rule."""
    stores = stage.scene.nodes[event.node].variable is not None
    passes = not stores and any(value is not None for value in event.sent)
    parts = {"goal_seed": first, "goal_sum": meets, "goal_local": passes, "goal_store": stores}
    return ", ".join(stage.say(key) for key, there in parts.items() if there)


def in_words(stage: Stage, event: NodeRan) -> list[Line]:
    """What the backward of the node's op does, before its formula; nothing if no gradient came to it, or if
    it passed none on, or for complex numbers, whose gradients are conjugated too."""
    came = [value for value in event.received if value is not None]
    if not came or all(value is None for value in event.sent) or "complex" in came[0].dtype:
        return []
    said = backward_sentence(NodeStep(stage.scene, event, stage.lang).op, stage.lang)
    return [line(IN_WORDS, stage.say("back_label"), said)] if said else []


def with_hooks(stage: Stage, node: str, lines: list[Line]) -> list[Line]:
    """The arithmetic of a node with what each of its hooks saw and did, in their order: after the sum of
    what arrived, and at the end."""
    hooks = stage.scene.now.hooks.get(node)
    if hooks is None:
        return lines
    lines = [line for line in lines if line.kind != "hook"]
    sums = sum(1 for _ in itertools.takewhile(lambda line: line.kind == "sum", lines))
    told = [(each, hook(stage, i, each)) for i, each in enumerate(hooks, 1)]
    before = [line for each, line in told if each.kind in BEFORE]
    after = [line for each, line in told if each.kind not in BEFORE]
    return [*lines[:sums], *before, *lines[sums:], *after]


def node_sentence(stage: Stage, event: NodeRan) -> str:
    """The sentence for a node that does not belong to a leaf."""
    node, place = stage.scene.nodes[event.node], stage.place_of(event.node)
    name = "…" if place is None else ", ".join(stage.name(state.id) for state in place.states[:LISTED])
    received = event.received if place is None else event.received[: len(place.states)]
    values = {"node": node.name, "name": name, "value": value_list(received)}
    nothing = all(value is None for value in received)
    if nothing and all(value is None for value in event.sent):
        return text("step_backward_none", stage.lang, **values)
    parts: list[str] = []
    for edge, gradient in stage.scene.now.sends(node):
        target = stage.scene.tensor_of(edge) if len(parts) <= LISTED else None
        if target is not None:
            values_ = {"value": value_in_sentence(gradient), "name": stage.name(target)}
            parts.append(text("step_sent", stage.lang, **values_))
    key = "step_backward_zeros" if nothing else "step_backward" if parts else "step_backward_end"
    return text(key, stage.lang, sent=first_names(parts), **values)


def deposit(stage: Stage, event: NodeRan) -> str:
    """The sentence for an AccumulateGrad."""
    name = stage.name(stage.scene.nodes[event.node].variable or "")
    deposited = stage.scene.now.deposits.get(event.node)
    if event.received[0] is None:
        return text("step_deposit_none", stage.lang, name=name)
    first = deposited is not None and deposited.before is None
    key = "step_deposit_first" if first else "step_deposit"
    return text(key, stage.lang, value=one_line(event.received[0]), name=name)


def hook(stage: Stage, i: int, event: HookRan) -> Line:
    """What the `i`-th hook at a node saw and made of it."""
    return line("hook", f"{i}. {hook_label(event, stage.lang)}", hook_text(event, stage.lang))


def hook_lines_at(stage: Stage, node: str) -> Frame:
    """Hooks at a tensor whose node does not run itself, because its gradient was asked for."""
    place = stage.place_of(node)
    name = "…" if place is None else stage.name(place.states[0].id)
    lines = tuple(hook(stage, i, each) for i, each in enumerate(stage.scene.now.hooks.get(node, ()), 1))
    span = None if not lines else stage.written_at(place)
    marks = stage.card_marks(state.id for state in place.states) if place is not None else ()
    return Frame(marks[:1], clean(text("step_hooked", stage.lang, name=name)), lines, span)


def capture_text(stage: Stage, event: BackwardEnded) -> Frame:
    """`autograd.grad` returned gradients."""
    parts, lines = [], []
    for tensor, gradient in event.captured:
        values = {"name": stage.name(tensor), "value": "None" if gradient is None else one_line(gradient)}
        parts.append(text("step_captured_one", stage.lang, **values))
        lines += capture_lines(stage.scene, tensor, stage.lang)
    told = text("step_captured", stage.lang, gradients=", ".join(parts))
    marks = stage.card_marks((tensor for tensor, _ in event.captured), arrows=False)
    return Frame(marks, clean(told), tuple(lines), stage.call_at)


def error_text(
    stage: Stage,
    event: BackwardEnded | CellFailed,
    done: int,
    of: int,
    explained: Sequence[Explanation] = (),
) -> Frame:
    """The error that ended a call or the cell, when `done` of `of` nodes had run."""
    scene, guilty = stage.scene, stage.scene.guilty
    place = None if guilty is None else stage.place_of(guilty)
    marks = stage.deck_marks(stage.station(place))[:1]
    lines = [line("reached", stage.say("reached_label"), stage.say("reached", done=done, n=of))] if of else []
    if guilty is not None and place is not None:
        where = {"node": scene.nodes[guilty].name, "name": stage.name(place.states[0].id)}
        lines.append(line("stopped", stage.say("stopped_here"), stage.say("stopped", **where)))
    span = in_cell(event.span) if isinstance(event, CellFailed) else stage.call_at
    began = 0 if scene.now.started is None else scene.now.begin
    made = stage.written_at(place) if scene.index.switched("anomaly", began) else None
    if made is not None and place is not None:
        lines.append(line("made_at", stage.say("made_at_label"), stage.expression(place)))
        span = made  # as the traceback that anomaly detection adds
    why = next((each for each in reversed(explained) if is_about(each, event)), None)
    if why is not None:
        guilty_parts = (m.part for m in why.marks if m.kind == GUILTY and stage.has(m.part))
        marks = tuple(dict.fromkeys((*marks, *guilty_parts, *stage.stopped())))
        said = (("why", why.why), ("fix", why.fix))
        lines += [line(key, text(key, stage.lang), content) for key, content in said if content]
    cause = in_cell(why.cause) if why is not None else None
    return Frame(marks, clean(event.error or ""), tuple(lines), span, failed=True, cause=cause)


def is_about(explained: Explanation, event: BackwardEnded | CellFailed) -> bool:
    """Whether an explanation is that of the error which ended a call, or the cell."""
    call: int = getattr(event, "call", 0)
    return explained.call == call and explained.error == event.error
