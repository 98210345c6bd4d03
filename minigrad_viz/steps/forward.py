"""The steps of the forward pass, in words: what was made, with or without a node and why; what was written
to; where a path ends, and which tensors change with one that uses the same memory. Statements that
compute no tensor belong to the story where they change what backward will do, or check it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..arithmetic import Line, tangent_lines, value_lines
from ..model.node_details import hook_statement
from ..model.stations import Place
from ..model.views import LISTED, Stage, first_names, in_cell, quoted_span
from ..number_text import one_line
from ..trace.events import (
    Forward,
    InPlaceWrite,
    ModeChanged,
    NumbersReturned,
    RequiresGradSet,
    Statement,
    TensorCreated,
    TensorDetached,
    TensorState,
)
from ..trace.graph import Fold
from ..trace.statements import evaluated_parts, parse_source
from ..words import clean, text
from .frames import Frame, as_whole, line, saved_value_line

CALLS = {
    "retain_grad": "step_retain_grad",
    "gradcheck": "step_gradcheck",
    "gradgradcheck": "step_gradcheck",
    "check_gradients": "step_gradcheck",
}
HOOKS = {
    "tensor": "step_register_hook",
    "post_accumulate": "step_register_late",
    "pre": "step_register_prehook",
    "post": "step_register_posthook",
}


class Aside(NamedTuple):
    """What to say about a statement: the text's key in the catalogue, and the variable that it is about (""
    for none)."""

    key: str
    variable: str


@functools.lru_cache(maxsize=256)
def aside_of(statement: str) -> Aside | None:
    """What to say about a statement with this text; None if nothing. Whether a `handle.remove()` is about a
    hook, only the trace knows; it is about no variable here."""
    if "register_" in statement:
        told = next((told for told in hook_statement(statement) if told.kind), None)
        if told is not None:
            return Aside(HOOKS[told.kind], told.variable)
    tree = parse_source(statement) if any(name in statement for name in CALLS) else None
    for call in () if tree is None else evaluated_parts(tree):
        if not isinstance(call, ast.Call):
            continue
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if CALLS.get(name) == "step_gradcheck":
            return Aside("step_gradcheck", "")
        if name in CALLS and isinstance(holder, ast.Name):
            return Aside(CALLS[name], holder.id)
    return None


def is_single(fold: Fold) -> bool:
    """Whether a box has one node, beside those of its parameters."""
    return sum(n for name, n in fold.counts if name != "AccumulateGrad") == 1


MODES = {
    "grad": "mode_grad",
    "inference": "mode_inference",
    "anomaly": "mode_anomaly",
    "saved_tensors_hooks": "mode_saved_tensors_hooks",
    "forward_ad": "mode_forward_ad",
}


FILLED = ("zeros_like", "ones_like")  # whatever their input asks for, their result is a constant


def creation_text(stage: Stage, event: TensorCreated, state: TensorState, seed: bool) -> Frame:
    """A tensor is there: made from data, brought along, or the gradient that a call starts with. `state`
    is the state at the beginning of the story."""
    if seed:
        key = "step_seed"
    elif state.parameter:
        key = "step_parameter"
    elif state.requires_grad and state.is_leaf:
        key = "step_leaf"
    else:
        key = "step_constant"
    made = stage.made((state,))
    given = key == "step_constant" and event.span is None
    told = made if given else text(key, stage.lang, made=made)
    if state.value is None and (place := stage.scene.at[state.id][0]).brought:
        told = text("step_unseen", stage.lang, expr=stage.expression(place))
    marks = stage.card_marks((state.id,), arrows=False)
    return Frame(marks, clean(told), (), in_cell(event.span))


def op_text(stage: Stage, event: Forward, owner: str | None, opens: bool) -> Frame:
    """An op ran; inside a backward call it is part of the run of the node `owner`. `opens`: it is the
    first op of a call other than the current one."""
    place = stage.scene.at[event.outputs[0].id][0]
    node = stage.scene.nodes.get(event.outputs[0].node or "")
    values = {"expr": stage.expression(place), "made": stage.made(event.outputs)}
    marks = stage.card_marks(state.id for state in event.outputs)
    if place.id in stage.scene.given:
        return Frame(marks, clean(values["made"]), (), in_cell(event.span))
    if owner is not None:
        values["node"] = stage.scene.nodes[owner].name
        marks += stage.deck_marks(stage.station(stage.place_of(owner)))[:1]
        told = text("step_inside", stage.lang, **values)
    else:
        told = op_sentence(stage, event, place)
    whole = stage.fold_at(event.outputs[0].id)
    inside = whole is not None and not is_single(whole)  # a box with several nodes has them in its details
    lines = [] if node is None or inside else saved_value_line(stage, node.name, node.saved)
    lines += as_whole(stage, event)
    lines[:0] = tangent_lines(stage.scene, event, stage.lang)
    if opens and event.span is not None:
        lines.insert(0, line("inside", stage.say("inside_label"), quoted_span(event.span)))
    of_leaf = owner is None or stage.scene.nodes[owner].variable is not None
    span = in_cell(event.span) if of_leaf else stage.written_at(stage.place_of(owner or ""))
    return Frame(marks, clean(told), tuple(lines), span)


def earlier_op_text(stage: Stage, event: Forward) -> Frame:
    """What an op computed before the story begins."""
    made, first = stage.made(event.outputs), event.outputs[0].id
    if not stage.is_named(first):
        made = f"{stage.expression(stage.scene.at[first][0])} = {made}"
    told = stage.say("step_earlier", made=made)
    return Frame(stage.card_marks(state.id for state in event.outputs), clean(told))


def op_sentence(stage: Stage, event: Forward, place: Place) -> str:
    """The sentence for an op of the forward pass, by whether it left a node and why not."""
    values = {"expr": stage.expression(place), "made": stage.made(event.outputs)}
    if place.fog:
        ghost = stage.scene.index.cuts.ghost_of(place)
        key = "step_forward_inference" if place.fog == "inference" else "step_forward_off"
        return text(key, stage.lang, ghost=ghost, **values)
    if place.cut == "integer" and place.asking:
        dtype = event.outputs[0].value.dtype if event.outputs[0].value is not None else ""
        return text("step_forward_integer", stage.lang, dtype=dtype, names=askers(stage, place), **values)
    if event.op in FILLED and event.outputs[0].node is None:
        return text("step_constant", stage.lang, made=values["made"])
    if no_node(stage, event):
        return text("step_forward_none", stage.lang, **values)
    if event.op == "clone" and place.node is not None and event.inputs[0] is not None:
        return text("step_forward_clone", stage.lang, source=stage.name(event.inputs[0]), **values)
    return text("step_forward", stage.lang, **values)


def no_node(stage: Stage, event: Forward) -> bool:
    """Whether an op left no node, in a cell with nodes, because no input asks for a gradient."""
    made = any(state.node is not None for state in event.outputs)
    return event.grad_enabled and bool(stage.scene.by_node) and not made


def askers(stage: Stage, place: Place) -> str:
    """The inputs whose path ends at a place."""
    ids = [id for id in dict.fromkeys(place.inputs or ()) if id is not None and id in place.asking]
    return first_names([stage.name(id) for id in ids])


def detach_text(stage: Stage, event: TensorDetached) -> Frame:
    """`detach()` or `.data` was called, or `detach_()`."""
    place = stage.scene.at[event.tensor.id][0]
    if event.source == event.tensor.id:
        values = {"expr": "…" if event.span is None else quoted_span(event.span), "made": ""}
        key = "step_detached_in_place"
    else:
        values = {"expr": stage.expression(place), "made": stage.made((event.tensor,))}
        key = "step_detached" if event.how == "detach" else "step_data"
        key = key if place.asking else "step_shared"
    told = text(key, stage.lang, source=stage.name(event.source), **values)
    return Frame(stage.card_marks((event.tensor.id,)), clean(told), (), in_cell(event.span))


def number_exit_text(stage: Stage, event: NumbersReturned) -> Frame:
    """Numbers left the library and came back."""
    place = stage.scene.at[event.tensor.id][0]
    sources = (event.shares,) if event.shares else event.sources[:LISTED]
    source = ", ".join(map(stage.name, sources))
    key = "step_left_shared" if event.shares else "step_left"
    values = {"expr": stage.expression(place), "made": stage.made((event.tensor,)), "source": source}
    told = text(key, stage.lang, **values)
    return Frame(stage.card_marks((event.tensor.id,)), clean(told), (), in_cell(event.span))


def requires_grad_text(stage: Stage, event: RequiresGradSet) -> Frame:
    """`requires_grad` was set."""
    id, place = event.tensor.id, stage.scene.at[event.tensor.id][0]
    key = "step_requires_grad" if event.tensor.requires_grad else "step_requires_grad_off"
    key = "step_requires_grad_cut" if place.cut and place.asking and event.tensor.requires_grad else key
    expr = "…" if event.span is None else quoted_span(event.span)
    told = text(key, stage.lang, expr=expr, name=stage.name(id), source=askers(stage, place))
    return Frame(stage.card_marks((id,))[:1], clean(told), (), in_cell(event.span))


def tensors_sharing_memory(stage: Stage, event: InPlaceWrite) -> list[Line]:
    """The other tensors that a write has changed."""
    states = [state for state in event.also if state.id in stage.scene.named]
    if not states:
        return []
    return [line("shared", stage.say("also_label"), stage.say("also", made=stage.made(states)))]


def write_text(stage: Stage, event: InPlaceWrite) -> Frame:
    """An op wrote into a tensor."""
    values: dict[str, Any] = {
        "name": stage.name(event.before),
        "made": stage.made((event.tensor,)),
        "value": text("unknown", stage.lang) if event.tensor.value is None else one_line(event.tensor.value),
        "old": event.version if event.version >= 0 else "",
        "new": event.tensor.version,
    }
    same = event.tensor.id == event.before and event.version >= 0
    key = "step_in_place" if same else "step_in_place_new"
    if event.span is None:
        key = "step_in_place_view"
    else:
        values["expr"] = quoted_span(event.span)
    return Frame(
        stage.card_marks((event.tensor.id, *(state.id for state in event.also))),
        clean(text(key, stage.lang, **values)),
        (*value_lines(stage.scene, event.tensor, stage.lang), *tensors_sharing_memory(stage, event)),
        in_cell(event.span),
    )


def statement_text(stage: Stage, event: Statement, tensor: str) -> Frame:
    """A statement without an op: about `tensor`, or a gradcheck; it removes a hook if it says no more."""
    told = aside_of(event.span.text)
    key = "step_hook_removed" if told is None else told.key
    name = stage.name(tensor) if tensor else ""
    said = text(key, stage.lang, expr=quoted_span(event.span), name=name)
    return Frame(stage.card_marks((tensor,))[:1], clean(said), (), in_cell(event.span))


def modes(stage: Stage, events: Iterable[ModeChanged]) -> list[Line]:
    """The last switch of each mode before a step."""
    last = {event.mode: event for event in events}
    lines = []
    for event in last.values():
        switched = text("mode_on" if event.enabled else "mode_off", stage.lang)
        lines.append(line("mode", text(MODES[event.mode], stage.lang), switched))
    return lines
