"""What is no error, and no more than a warning, but puzzles: `.grad` of a tensor that is no leaf, read after
backward; and a gradcheck with numbers that hold too few digits. Both are read in the source: which tensor a
name stood for when a statement ran."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..model.births import made_by
from ..model.place import BackwardCall
from ..model.scene import Scenes
from ..numbers import short
from ..trace.events import (
    BackwardStarted,
    Created,
    Detached,
    Event,
    Failed,
    Forward,
    GradSet,
    Left,
    Snapshot,
    Statement,
    TensorState,
    Trace,
)
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from ..trace.statements import evaluated
from ..trace.where import Span
from .case import Case, Values
from .numerical import CHECKS
from .rebound import leaf_behind, rebound, why_and_fix
from .syntax import called, flat, last_name, plain, statement_around, stores


class Reading(NamedTuple):
    """A statement in the cell's own namespace that begins to run: its event and the number of that, its
    syntax tree, and the tensors that variables stood for. What a variable was assigned by other means than by
    an operation is not known."""

    event: Statement
    time: int
    tree: ast.stmt
    names: dict[str, str]


def readings(case: Case) -> Iterator[Reading]:
    """The statements of a cell that run in its own namespace, in order."""
    tree = case.source.tree
    if tree is None:
        return
    names: dict[str, str] = {}
    known: dict[Span, tuple[ast.stmt | None, set[str]]] = {}  # the statements by where they stand
    inner, unknown = inside_functions(tree), declared(tree)
    for time, event in enumerate(case.trace.events):
        span = getattr(event, "span", None)
        if span is not None and (span.origin or span.line in inner):
            continue
        names |= {name: id for name, id in named_by(event) if name not in unknown}
        if not isinstance(event, Statement) or span is None:
            continue
        if span not in known:
            found = statement_around(case, span)
            known[span] = found, set() if found is None else stores(found)
        statement, lost = known[span]
        if statement is not None:
            yield Reading(event, time, statement, names.copy())
            for name in lost:
                names.pop(name, None)


def named_by(event: Event) -> Iterator[tuple[str, str]]:
    """The variables that an event tells of, with the tensors that they are."""
    if isinstance(event, Snapshot):
        yield from ((name, state.id) for name, state in event.rows)
    elif isinstance(event, Forward) and event.name is not None and len(event.outputs) == 1:
        yield event.name, event.outputs[0].id
    elif isinstance(event, Created | Detached | Left) and event.name is not None:
        yield event.name, event.tensor.id


def declared(tree: ast.AST) -> set[str]:
    """The names that functions may give new values to."""
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def inside_functions(tree: ast.AST) -> set[int]:
    """The lines that belong to functions and classes, where names are their own."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return {line for node in found for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


DOUBLE = ("float64", "complex128")


def unkept(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """For each tensor whose `.grad` the cell read although backward had not kept it: that it was computed. Of
    what a loop reads many times, the last."""
    found: dict[object, Explanation] = {}
    seen: set[str] = set()
    trace = scenes.trace
    for reading in readings(Case(scenes, 0, None)) if ".grad" in trace.source else ():
        for name in grads_read(reading.tree):
            tensor = reading.names.get(name)
            told = None
            if tensor is not None and tensor not in seen:
                told = not_kept(scenes, reading, name, tensor, lang)
            if told is not None and tensor is not None:
                seen.add(tensor)
                found[reading.event.span, name] = told
    return list(found.values())


def grads_read(tree: ast.stmt) -> Iterator[str]:
    """The variables whose `.grad` a statement reads."""
    for node in evaluated(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        if node.attr == "grad" and isinstance(node.value, ast.Name):
            yield node.value.id


def not_kept(
    scenes: Scenes, reading: Reading, name: str, tensor: str, lang: str | None
) -> Explanation | None:
    """The explanation for one of them, if it is certain that `.grad` was None and that a gradient had been
    computed."""
    trace, before = scenes.trace, scenes.trace.events[: reading.time]
    made = next((s.node for e in before for s in made_by(e) if s.id == tensor), None)
    earlier = (call for call in scenes.index.calls.values() if call.begin < reading.time)
    calls = [call for call in earlier if made in call.found]
    given = any(isinstance(event, GradSet) and event.tensor == tensor for event in before)
    if not calls or given or any(keeps(call, tensor) for call in calls):
        return None
    for call in (c.started for c in reversed(calls) if c.started and c.started.kind == "backward"):
        case = Case(scenes, call.call, reading.event.span, lang)
        nr = case.scene.at[tensor][1] if tensor in case.scene.at else 0
        arrived = case.scene.arrived.get((made or "", nr))
        if arrived is not None:
            late = retained_late(trace, reading, name, call)
            key = "why_retained_late" if late else "non_leaf_grad_why"
            why = case.words(key, name=name, value=short(arrived), call=call.span)
            fix, cause = case.words("non_leaf_grad_fix", name=name), None
            lost, hidden = rebound(case, tensor), leaf_behind(case, tensor)
            if hidden is not None:
                why, fix, cause = hidden
            elif lost is not None and lost.name == name:
                (why, fix), cause = why_and_fix(case, lost), lost.span
            # Beside an error it would look as if this had led to it.
            marks = () if trace.error else case.card(tensor, CAUSE, case.words("mark_not_kept"))
            told = case.note("non_leaf_grad", why, fix, marks, cause)
            return told._replace(span=reading.event.span)
    return None


def retained_late(trace: Trace, reading: Reading, name: str, call: BackwardStarted) -> bool:
    """Whether the cell asked for the gradient of `name` to be kept after a call and before it was read."""
    asks = re.compile(rf"(?<![\w.]){re.escape(name)}\.retain_grad\(\)")
    since = trace.events[trace.events.index(call) : reading.time]
    return any(isinstance(event, Statement) and asks.match(event.span.text) for event in since)


def keeps(call: BackwardCall, tensor: str) -> bool:
    """Whether a call may have stored the gradient of a tensor that is no leaf: it was asked to, or that is
    not known."""
    before = call.named.get(tensor)
    return tensor in (call.wanted or ()) or before is None or bool(before.retains_grad)


def single_precision(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """For each gradcheck that was given numbers of single precision or less: that these hold too few digits.
    Not for one that failed, of which its error tells."""
    found, trace = [], scenes.trace
    failed = [event.span for event in trace.events if isinstance(event, Failed) and event.span is not None]
    for reading in readings(Case(scenes, 0, None)) if any(check in trace.source for check in CHECKS) else ():
        span = reading.event.span
        if any(span.line <= at.line <= span.end_line for at in failed):
            continue
        for node in evaluated(reading.tree):
            given = imprecise(scenes, reading, node) if isinstance(node, ast.Call) else None
            if given is not None and given[1].value is not None:
                (name, state), case = given, Case(scenes, 0, span, lang)
                values: Values = {"name": name, "called": called(name), "dtype": given[1].value.dtype}
                marks = () if trace.error else case.card(state.id, CAUSE, given[1].value.dtype)
                found.append(case.note("single_precision", marks=marks, **values))
    return found


def imprecise(scenes: Scenes, reading: Reading, call: ast.Call) -> tuple[str, TensorState] | None:
    """The first input of a gradcheck that requires gradients and is not of double precision."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "inputs"] or call.args[1:2]
    for part in flat(given[0]) if last_name(call) in CHECKS and given else ():
        text = ast.unparse(part)
        state = latest(scenes, reading, reading.names.get(text), text)
        if state is None or state.value is None:
            continue
        if state.requires_grad and state.value.dtype not in DOUBLE:
            return text, state
    return None


def latest(scenes: Scenes, reading: Reading, tensor: str | None, text: str) -> TensorState | None:
    """A tensor as it was seen last when a statement began; one without a name by what it is computed of in
    that statement."""
    if tensor is not None:
        return scenes.last.state(tensor)
    line = reading.event.span.line
    for event in scenes.trace.events[reading.time :]:
        if isinstance(event, Created | Forward) and event.span is not None and plain(event.span.text) == text:
            states = event.outputs if isinstance(event, Forward) else (event.tensor,)
            return states[0] if event.span.line >= line and len(states) == 1 else None
    return None
