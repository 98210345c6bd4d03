"""Why `x.grad` is None: one sentence; and notes about `.grad` of a tensor that is not a leaf.

Every answer is certain or left out (None). The questions are asked in an order in which the first answer is
the most telling: what `x` is, what happened to its `.grad`, and last what each backward call did not do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..model.provenance import WHOLE, upstream
from ..model.scene import Scenes
from ..model.stations import BackwardCall
from ..number_text import one_line
from ..protocol import Value
from ..trace.events import (
    BackwardStarted,
    CellFailed,
    Event,
    Forward,
    GradAccumulated,
    GradSet,
    NodeRan,
    RequiresGradSet,
    Snapshot,
    Statement,
    TensorCreated,
    TensorState,
    Trace,
    of_kinds,
)
from ..trace.graph import CAUSE, Explanation
from ..trace.source_positions import Span
from ..trace.statements import evaluated_parts
from ..words import clean, text
from .case import Case, Values, name_list
from .jacobians import CHECKS
from .lost_paths import (
    LostGradient,
    asked_at,
    cut_before,
    is_complete,
    leaf_behind,
    lost_by,
    reachable_tensors,
    reassignment_of,
    why_and_fix,
)
from .syntax import argument_items, before_dot_source, last_name, normal_source, statement_around, stores

# ─── Why `x.grad` is None


class Facts(NamedTuple):
    """What is known from a tensor alone: what to call it, its dtype, whether it requires gradients, is a
    leaf, and retains its gradient; and its `.grad`."""

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
        return answer_text("why_has_grad", lang, name=facts.name, value=one_line(facts.grad))
    if not facts.requires_grad and facts.dtype.startswith(WHOLE):
        return answer_text("why_integer", lang, name=facts.name, dtype=facts.dtype)
    return None


def in_general(facts: Facts, lang: str | None) -> Answer | None:
    """What follows from what it is, where nothing more is known."""
    if not facts.requires_grad:
        return answer_text("why_no_flag", lang, name=facts.name)
    if not facts.is_leaf and not facts.retains_grad:
        return answer_text("why_not_leaf", lang, name=facts.name)
    return None


def from_scenes(scenes: Scenes, tensor: str, facts: Facts, lang: str | None = None) -> Answer | None:
    """What a recorded cell says about one of its tensors."""
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
        return answer_text(key, self.lang, name=self.facts.name, **values)

    def at(self, call: BackwardStarted) -> Case:
        """A call, and what is known about it."""
        return Case(self.scenes, call.call, call.span, self.lang)

    def called(self, call: BackwardStarted) -> str:
        """A call as a sentence quotes it."""
        return f"{call.kind}()" if call.span is None else self.at(call).place(call.span)

    def asked(self) -> list[RequiresGradSet]:
        """Where the cell set whether the tensor requires gradients."""
        return [e for e in self.trace.of(RequiresGradSet) if e.tensor.id == self.tensor]

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
        """It is not a leaf, and its gradient is not kept: what a call computed."""
        for call in reversed(self.calls):
            value = self.arrived(call)
            if value is not None:
                return self.say("why_not_leaf_value", call=self.called(call), value=one_line(value))
        return self.say("why_not_leaf")

    def retained(self) -> Answer | None:
        """It is not a leaf, but its gradient is to be kept."""
        for call in reversed(self.calls):
            value, before = self.arrived(call), self.before(call)
            if value is not None and before is False:
                return self.say("why_retained_late", call=self.called(call), value=one_line(value))
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
        last: GradAccumulated | None = None
        gone: GradSet | None = None
        for event in self.trace.events:
            match event:
                case GradAccumulated(tensor=self.tensor):
                    last, gone = event, None
                case GradSet(tensor=self.tensor) if event.how != "empty":
                    gone = event if event.how == "none" else None
        if last is None:
            return None
        call = next(c for c in self.calls if c.call == last.call)
        values = {"call": self.called(call), "value": one_line(last.after)}
        line = None if gone is None else self.at(call).line(gone.span)
        return self.say("why_reset_at", line=line, **values)

    # ── what the calls did not do ───────────────────────────────────────────────────────────────────────────

    def by_calls(self) -> Answer | None:
        """What the backward calls of the cell did instead: the last one that could reach the tensor, else the
        last one."""
        if not self.calls:
            failed = self.trace.of(CellFailed)
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
        born = self.scenes.index.births.get(self.tensor)
        states = () if born is None else born.made
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
        if not is_complete(case) or self.tensor in reachable_tensors(case):
            return None
        values: dict[str, object] = {"call": self.called(call), "root": ", ".join(map(case.name, call.roots))}
        lost = lost_by(case).get(self.tensor)
        if lost is None:
            return self.say("why_no_path" if self.no_path(call) else "why_not_in_graph", **values)
        return self.cut_off(case, lost, values) or self.say("why_not_in_graph", **values)

    def cut_off(self, case: Case, lost: LostGradient, values: dict[str, object]) -> Answer | None:
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
            event is None or (event.span is None and not event.read) or id == self.tensor
            for id, event in upstream(self.scenes.index.births, call.roots)
        )


def from_graph(facts: Facts, roots: list[str], lang: str | None = None) -> Answer:
    """What the graph alone says about a tensor that should get gradients: `roots` are the variables whose
    graph it is in."""
    if roots:
        return answer_text("why_in_graph", lang, name=facts.name, roots=name_list(roots))
    return answer_text("why_in_no_graph", lang, name=facts.name)


def answer_text(key: str, lang: str | None, **values: object) -> Answer:
    """A sentence of the catalogue."""
    return Answer(key, clean(text(key, lang, **values)))


# ─── What is no error, and no more than a warning, but puzzles


class RunningStatement(NamedTuple):
    """A statement in the cell's own namespace that begins to run: its event and the number of that, its
    syntax tree, and the tensors that variables stood for. What a variable was assigned by other means than by
    an operation is not known."""

    event: Statement
    time: int
    tree: ast.stmt
    names: dict[str, str]


def running_statements(case: Case) -> Iterator[RunningStatement]:
    """The statements of a cell that run in its own namespace, in order."""
    tree = case.source.tree
    if tree is None:
        return
    names: dict[str, str] = {}
    known: dict[Span, tuple[ast.stmt | None, set[str]]] = {}  # the statements by where they stand
    inner, unknown = inside_functions(tree), declared_names(tree)
    for time, event in enumerate(case.trace.events):
        span = event.span
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
            yield RunningStatement(event, time, statement, names.copy())
            for name in lost:
                names.pop(name, None)


def named_by(event: Event) -> Iterator[tuple[str, str]]:
    """The variables that an event names, with their tensors."""
    if isinstance(event, Snapshot):
        yield from ((name, state.id) for name, state in event.rows)
    elif event.name is not None and len(event.states) == 1:
        yield event.name, event.states[0].id


def declared_names(tree: ast.AST) -> set[str]:
    """The names that functions may give new values to."""
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def inside_functions(tree: ast.AST) -> set[int]:
    """The lines that belong to functions and classes, where names are their own."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return {line for node in found for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


DOUBLE = ("float64", "complex128")


def grads_of_non_leaves(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """For each tensor whose `.grad` the cell read although backward had not kept it: that it was computed. Of
    what a loop reads many times, the last."""
    found: dict[object, Explanation] = {}
    seen: set[str] = set()
    trace = scenes.trace
    for reading in running_statements(Case(scenes, 0, None)) if ".grad" in trace.source else ():
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
    for node in evaluated_parts(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        if node.attr == "grad" and isinstance(node.value, ast.Name):
            yield node.value.id


def not_kept(
    scenes: Scenes, reading: RunningStatement, name: str, tensor: str, lang: str | None
) -> Explanation | None:
    """The explanation for one of them, if it is certain that `.grad` was None and that a gradient had been
    computed."""
    trace, before = scenes.trace, scenes.trace.events[: reading.time]
    made = next((s.node for e in before for s in e.made if s.id == tensor), None)
    earlier = (call for call in scenes.index.calls.values() if call.begin < reading.time)
    calls = [call for call in earlier if made in call.found]
    given = any(e.tensor == tensor and e.how != "empty" for e in of_kinds(before, GradSet))
    if not calls or given or any(may_keep_gradient(call, tensor) for call in calls):
        return None
    for call in (c.started for c in reversed(calls) if c.started and c.started.kind == "backward"):
        case = Case(scenes, call.call, reading.event.span, lang)
        nr = case.scene.at[tensor][1] if tensor in case.scene.at else 0
        arrived = case.scene.arrived.get((made or "", nr))
        if arrived is not None:
            late = retained_late(trace, reading, name, call)
            key = "why_retained_late" if late else "non_leaf_grad_why"
            why = case.words(key, name=name, value=one_line(arrived), call=call.span)
            fix, cause = case.words("non_leaf_grad_fix", name=name), None
            lost, hidden = reassignment_of(case, tensor), leaf_behind(case, tensor)
            if hidden is not None:
                why, fix, cause = hidden
            elif lost is not None and lost.name == name:
                (why, fix), cause = why_and_fix(case, lost), lost.span
            # Beside an error it would look as if this had led to it.
            marks = () if trace.error else case.card(tensor, CAUSE, case.words("mark_not_kept"))
            told = case.note("non_leaf_grad", why, fix, marks, cause, time=reading.time)
            return told._replace(span=reading.event.span)
    return None


def retained_late(trace: Trace, reading: RunningStatement, name: str, call: BackwardStarted) -> bool:
    """Whether the cell asked for the gradient of `name` to be kept after a call and before it was read."""
    asks = re.compile(rf"(?<![\w.]){re.escape(name)}\.retain_grad\(\)")
    since = trace.events[trace.events.index(call) : reading.time]
    return any(asks.match(event.span.text) for event in of_kinds(since, Statement))


def may_keep_gradient(call: BackwardCall, tensor: str) -> bool:
    """Whether a call may have stored the gradient of a tensor that is not a leaf: it was asked to, or that is
    not known."""
    before = call.named.get(tensor)
    return tensor in (call.wanted or ()) or before is None or bool(before.retains_grad)


def single_precision(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """For each gradcheck that was given numbers of single precision or less: that these hold too few digits.
    Not for one that failed, of which its error tells."""
    found, trace = [], scenes.trace
    failed = [event.span for event in trace.of(CellFailed) if event.span is not None]
    for reading in (
        running_statements(Case(scenes, 0, None)) if any(check in trace.source for check in CHECKS) else ()
    ):
        span = reading.event.span
        if any(span.line <= at.line <= span.end_line for at in failed):
            continue
        for node in evaluated_parts(reading.tree):
            given = imprecise_input(scenes, reading, node) if isinstance(node, ast.Call) else None
            if given is not None and given[1].value is not None:
                (name, state), case = given, Case(scenes, 0, span, lang)
                values: Values = {
                    "name": name,
                    "called": before_dot_source(name),
                    "dtype": given[1].value.dtype,
                }
                marks = () if trace.error else case.card(state.id, CAUSE, given[1].value.dtype)
                found.append(case.note("single_precision", marks=marks, **values))
    return found


def imprecise_input(
    scenes: Scenes, reading: RunningStatement, call: ast.Call
) -> tuple[str, TensorState] | None:
    """The first input of a gradcheck that requires gradients and is not of double precision."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "inputs"] or call.args[1:2]
    for part in argument_items(given[0]) if last_name(call) in CHECKS and given else ():
        text = ast.unparse(part)
        state = latest_tensor(scenes, reading, reading.names.get(text), text)
        if state is None or state.value is None:
            continue
        if state.requires_grad and state.value.dtype not in DOUBLE:
            return text, state
    return None


def latest_tensor(
    scenes: Scenes, reading: RunningStatement, tensor: str | None, text: str
) -> TensorState | None:
    """A tensor as it was seen last when a statement began; one without a name by what it is computed of in
    that statement."""
    if tensor is not None:
        return scenes.last.state(tensor)
    line = reading.event.span.line
    for event in of_kinds(scenes.trace.events[reading.time :], TensorCreated, Forward):
        if event.span is not None and normal_source(event.span.text) == text:
            return event.made[0] if event.span.line >= line and len(event.made) == 1 else None
    return None
