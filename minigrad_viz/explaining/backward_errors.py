"""Errors of backward calls: a second one through the same graph, saved values that were written to, custom
Functions, hooks, NaN."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from typing import Any

from ..model.naming import plain_name
from ..model.node_details import HookRegistration, dedent_span
from ..model.stations import LIBRARY
from ..number_text import one_line
from ..protocol import Value
from ..trace.events import BackwardStarted, Forward, ModuleCalled, NodeRan, NodeState
from ..trace.graph import CAUSE, Explanation
from ..trace.source_positions import Span
from ..words import InventedName
from .case import LISTED, Case, Sentence, Values, need, require, rule
from .edits import Shape, call_with, replace_part
from .failed_call import operand_tensor
from .kept_states import kept_state
from .syntax import expression_of_span, function_around, node_at

# ─── Errors of backward calls


@rule("second_backward", "Trying to backward through the graph a second time")
def second_backward(case: Case) -> Explanation | None:
    """A node has to run whose saved values an earlier call freed; or such a value is read."""
    if case.started is None:
        return freed_read(case)
    emptied = [node.id for node in case.started.nodes if any(saved.freed for saved in node.saved)]
    if case.guilty is not None and not case.scene.nodes[case.guilty].saved and ran_before(case, case.guilty):
        emptied.append(case.guilty)  # as a CopySlices, which does not tell what it saved
    need(emptied, case.guilty in (None, *emptied))
    first = freed_by(case, case.guilty or emptied[0])
    span = None if first is None else first.span
    if case.guilty is None:
        values: Values = {"second": case.span, "first": case.words("earlier_call") if first is None else span}
        fix = "second_backward_fix_anew" if first is None else ""
        return case.explain("second_backward_why_somewhere", fix, cause=span, **values)
    marks = case.stopped(case.guilty)
    for saved in case.scene.nodes[case.guilty].saved:
        marks += case.chip(case.guilty, saved.name, label=freed_label(case, first)) if saved.freed else ()
    return case.explain(*second_call_reason(case, case.guilty, first), marks, span)


def freed_label(case: Case, first: BackwardStarted | None) -> str:
    """The label of what a call freed."""
    return case.words("mark_freed", line=(first and case.line(first.span)) or "")


def freed_read(case: Case) -> Explanation | None:
    """What a node had saved was read by name, after it had been freed."""
    need(case.failed is not None, not case.by_hand)
    read = require(saved_attribute(expression_of_span(case.span)))
    node, text = node_of(case, read.value), LIBRARY.sub("", ast.unparse(read))
    first = None if node is None else freed_by(case, node)
    if node is None or first is None:
        return case.explain("freed_read_why_unseen", "freed_read_fix_unseen", read=text)
    call, label = call_with(first.span, "retain_graph"), freed_label(case, first)
    values: Values = {"read": text, "node": case.titled(node), "first": first.span, "call": call}
    marks = case.chip(node, read.attr.removeprefix("_saved_"), label=label) or case.deck(node, label=label)
    fix = "freed_read_fix" if call is not None else "freed_read_fix_at"
    return case.explain("freed_read_why", fix, marks, first.span, **values)


def saved_attribute(tree: ast.AST | None) -> ast.Attribute | None:
    """The attribute in an expression by which a saved value is read; None if there is no one such."""
    names = (part for part in ast.walk(tree) if isinstance(part, ast.Attribute)) if tree is not None else ()
    found = [part for part in names if part.attr.startswith("_saved_") or part.attr == "saved_tensors"]
    return found[0] if len(found) == 1 else None


def node_of(case: Case, tree: ast.expr) -> str | None:
    """The node that `z.grad_fn` or `z.grad_fn.next_functions[0][0]` is; None where that is not known."""
    node = None
    match tree:
        case ast.Attribute(holder, "grad_fn"):
            state = operand_tensor(case, ast.unparse(holder))
            node = None if state is None else state.node
        case ast.Subscript(
            ast.Subscript(ast.Attribute(inner, "next_functions"), ast.Constant(int(i))), ast.Constant(0)
        ):
            user = node_of(case, inner)
            edges = () if user is None else case.scene.nodes[user].edges
            edge = edges[i] if -len(edges) <= i < len(edges) else None
            node = None if edge is None else edge[0]
    return node if node in case.scene.nodes else None


def freed_by(case: Case, node: str) -> BackwardStarted | None:
    """The call that freed what a node had saved; of one that does not say what that was, the only earlier
    call in which it ran."""
    earlier = [call for call in case.scene.index.calls.values() if call.begin < case.time and call.started]
    freed = [call for call in earlier if call.ended and call.until < case.time and node in call.ended.freed]
    ran = [call for call in earlier if node in call.ran and call.number != case.call]
    first = freed[0] if freed else ran[0] if len(ran) == 1 else None
    return None if first is None else first.started


def ran_before(case: Case, node: str) -> bool:
    """Whether a node ran in an earlier call."""
    return any(node in call.ran for call in case.scene.index.calls.values() if call.number < case.call)


def second_call_reason(case: Case, guilty: str, first: BackwardStarted | None) -> tuple[Sentence, Sentence]:
    """Why and fix: in a row, or in a loop that uses what was computed before it, or in an earlier round."""
    place = case.stage.place_of(guilty)
    assert place is not None
    around = case.scene.index.module_calls.at(place.time)
    made, tensor = place.span or (None if around is None else around.event.span), place.states[0].id
    values: Values = {"node": case.titled(guilty), "name": case.plain(tensor), "second": case.span}
    if first is None:
        values["first"] = case.words("earlier_call")
        return case.words("second_backward_why", **values), case.words("second_backward_fix_anew")
    values |= {"first": first.span, "keep": keep_graph(case, first)}
    why, fix = "second_backward_why", "second_backward_fix_unnamed"
    names, both = to_compute(case), two_roots(case, first)
    if names:
        fix, values["names"] = "second_backward_fix", ", ".join(names)
    if both is not None:
        fix, (values["a"], values["b"]) = "second_backward_fix_sum", both
    if first.span is not None and first.span == case.span and made is not None:
        values["made"] = made
        state = kept_state(case, first)
        if state is not None:
            values |= {"name": state.name, "code": state.detached}
            why, fix = "second_backward_why_carried", "second_backward_fix_carried"
        elif made_again(case, made, first):
            why = "second_backward_why_earlier"
        else:
            fix = "second_backward_fix_once" if case.in_loop(case.span) else "second_backward_fix_each"
            why = "second_backward_why_once"
    return case.words(why, **values), case.words(fix, **values)


def keep_graph(case: Case, first: BackwardStarted) -> str:
    """How the call `first` is to keep the graph; what it says against that has to go."""
    call, key = expression_of_span(first.span), "second_backward_keep"
    if any(each.arg == "retain_graph" for each in (call.keywords if isinstance(call, ast.Call) else ())):
        key = "second_backward_keep_off" if first.create_graph else "second_backward_keep_instead"
    return case.words(key, first=first.span)


def made_again(case: Case, made: Span, first: BackwardStarted) -> bool:
    """Whether the expression that made a tensor before the call `first` was evaluated again after it."""
    after = case.before[case.before.index(first) :]
    return any(isinstance(event, Forward | ModuleCalled) and event.span == made for event in after)


def two_roots(case: Case, first: BackwardStarted) -> tuple[str, str] | None:
    """The names of two roots of one element that share a part of their graphs, from which two lines went
    backward."""
    assert case.started is not None
    calls = (first, case.started)
    roots = [call.roots[0] for call in calls if call.kind == "backward" and len(call.roots) == 1]
    shapes = [state.value.size for id in roots if (state := case.state(id)) is not None and state.value]
    named = [case.name(id) for id in roots if id in case.scene.named]
    named = [name for name in named if not isinstance(name, InventedName)]
    if len({plain_name(name) for name in named}) < 2 or shapes != [1, 1] or first.span == case.span:
        return None
    inner = {node.id for node in case.started.nodes}
    return None if case.scene.node_at(roots[0]) in inner else (named[0], named[1])


def to_compute(case: Case) -> list[str]:
    """The variables of the graph that must be computed again, because they lead through what was freed; none
    if they are many."""
    assert case.started is not None
    freed = {node.id for node in case.started.nodes if any(saved.freed for saved in node.saved)}
    inner, names = {node.id for node in case.started.nodes}, []
    for place in case.scene.shown:
        known = case.scene.nodes.get(place.node or "")
        if known is None or known.id not in inner:
            continue
        if known.id in freed or any(edge is not None and edge[0] in freed for edge in known.edges):
            freed.add(known.id)
            names += [case.plain(state.id) for state in place.states if state.id in case.scene.named]
    names = [name for name in dict.fromkeys(names) if not name.startswith("∂")]  # of no variable
    return names if len(names) <= LISTED else []


# ─── Reentrant checkpoints


@rule("reentrant_grad", "use_reentrant=True, torch.utils.checkpoint is incompatible with .grad")
def reentrant_grad(case: Case) -> Explanation | None:
    """A reentrant checkpoint calls backward itself, which cannot choose inputs."""
    made = [event for event in case.earlier(Forward) if event.op == "CheckpointFunction"]
    need(made)
    span, fix = made[-1].span, without_reentrant(case, made[-1].span)
    return case.explain("reentrant_grad", fix, case.stopped(case.guilty or ""), span, place=span)


def without_reentrant(case: Case, span: Span | None) -> Sentence | str:
    """The call of a checkpoint with `use_reentrant=False`; in words where that cannot be quoted."""
    call = node_at(case, span)
    if isinstance(call, ast.Call):
        options = [each for each in call.keywords if each.arg == "use_reentrant"]
        fix = replace_part(case, call, {options[0].value: "False"}) if options else None
        if fix is not None:
            return fix.text
    return case.words("no_grad_fn_why_reentrant.fix")


# ─── Errors while a node runs


VALUES = 3  # that are listed in a sentence
RETURNED = {  # the sentences about a hook that returned something else, by what the error tells
    "type": "hook_shape_why_type",
    "count": "hook_shape_why_count",
    "got": "hook_shape_why_dtype",
    "hook": "hook_shape_why_shape",
}


# ── custom Functions ────────────────────────────────────────────────────────────────────────────────────────


@rule(
    "wrong_count",
    "function {name} returned an incorrect number of gradients .expected {expected}, got {got}",
)
def wrong_count(case: Case, name: str, **counts: int) -> Explanation | None:
    """The backward of a custom Function returned more or fewer gradients than forward had inputs."""
    node = custom(case, name)
    where = return_of(node) or node.code
    values: Values = {**counts, "method": method(node), "place": first_line(where) or ""}
    return case.explain("wrong_count", "", case.stopped(node.id), where, **values)


@rule(
    "wrong_gradient",
    "unction {name} returned an invalid gradient at index {i}.*got {got} but expected .* {expected}",
)
def wrong_gradient(case: Case, name: str, i: int, got: Shape, expected: Shape) -> Explanation | None:
    """The backward of a custom Function returned a gradient of another shape than the input."""
    node = custom(case, name)
    where = return_of(node) or node.code
    edge = node.edges[i] if i < len(node.edges) else None
    source = None if edge is None else case.scene.tensor_of(edge)
    marks = case.stopped(node.id) + case.card(source or "", CAUSE, case.words("mark_shape", shape=expected))
    values: Values = {"i": i + 1, "got": str(got), "expected": str(expected), "method": method(node)}
    values["place"] = first_line(where) or ""
    return case.explain("wrong_gradient", "", marks, where, **values)


def custom(case: Case, name: str) -> NodeState:
    """The node of a custom Function that stopped the call, if that is its name."""
    node = case.scene.nodes[require(case.guilty)]
    need(node.name == name)
    return node


def method(node: NodeState) -> str:
    """`MyPow.backward`."""
    return f"{node.name.removesuffix('Backward')}.backward"


def first_line(span: Span | None) -> Span | None:
    """A place in the source, of which the first line alone is quoted."""
    return None if span is None else span._replace(text=span.text.partition("\n")[0])


def return_of(node: NodeState) -> Span | None:
    """The `return` of a custom Function's backward, if it has but one."""
    if node.code is None:
        return None
    body = textwrap.dedent(dedent_span(node.code))
    try:
        tree = ast.parse(body)
    except (SyntaxError, ValueError):
        return None
    found = [part for part in own_statements(tree.body) if isinstance(part, ast.Return)]
    if len(found) != 1:
        return None
    (part,), first = found, node.code
    line, column = part.lineno + first.line - 1, part.col_offset + first.column
    end = (part.end_lineno or part.lineno) + first.line - 1, (part.end_col_offset or 0) + first.column
    return Span(line, column, *end, ast.get_source_segment(body, part) or "", first.origin)


def own_statements(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What is in a function, without the functions in it."""
    todo: list[ast.AST] = [*(body[0].body if body and isinstance(body[0], ast.FunctionDef) else ())]
    while todo:
        part = todo.pop()
        yield part
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            todo += ast.iter_child_nodes(part)


# ── hooks ───────────────────────────────────────────────────────────────────────────────────────────────────


@rule(
    "hook_shape",
    r"hook '(?P<hook>.*?)' has (?:changed the size of value"
    r"|changed the type of value \(was (?P<was>\S+) got (?P<got>\S+)\)"
    r"|returned an incorrect number of values \(got {count}, but expected {expected}\))",
    "expected Variable, but hook returned '(?P<type>.*?)'",
)
def hook_shape(case: Case, **found: Any) -> Explanation | None:
    """A hook returned something other than a gradient of the same shape and dtype."""
    need(case.call)
    guilty = require(case.guilty)
    told = {name: value for name, value in found.items() if value is not None}
    what = next(what for what in RETURNED if what in told)
    values: Values = {"hook": told.get("hook", ""), "was": told.get("was") or told.get("expected", "")}
    values["got"] = told[what]
    hook, span = the_hook(case, told.get("hook")), None
    if hook is not None:
        span = getattr(case.trace.events[hook.since], "span", None)
        values |= {"hook": hook.name, "name": case.name(hook.tensor), "place": span}
    return case.explain(RETURNED[what], "hook_shape_fix", case.stopped(guilty), span, **values)


def the_hook(case: Case, name: str | None) -> HookRegistration | None:
    """The hook with that name which stopped the call: the only one that it can be, as far as the cell's
    statements tell."""
    found = [
        hook
        for hook in case.scene.index.registered
        if hook.since < case.time
        and (hook.until is None or hook.until > case.time)
        and case.guilty is not None
        and case.scene.node_at(hook.tensor) == case.guilty
        and name in (None, hook.name)
    ]
    return found[0] if len(found) == 1 else None


# ── what came out, or up ────────────────────────────────────────────────────────────────────────────────────


@rule("nan", "Function '{name}' returned nan values in its")
def nan(case: Case, name: str) -> Explanation | None:
    """Anomaly mode found a NaN in what a node sent."""
    node = custom(case, name)
    ran = [event for event in case.earlier(NodeRan) if event.call == case.call]
    need(ran and ran[-1].node == node.id)
    place = case.scene.by_node.get(node.id)
    made = None if place is None else place.span
    took = [value for value in ran[-1].received if value is not None]
    kept = [f"{s.name} = {one_line(s.value)}" for s in node.saved if isinstance(s.value, Value)][:VALUES]
    values: Values = {"node": case.titled(node.id), "took": ", ".join(map(one_line, took)), "made": made}
    masked = any(0 in (value.items or ()) for value in took)
    fix = "" if made is None else "nan_fix_masked" if masked else "nan_fix"
    marks = case.deck(node.id, label=case.words("mark_nan"))
    return case.explain("nan_why", fix, marks, made, saved=", ".join(kept), **values)


@rule("raised", "")
def user_error(case: Case) -> Explanation | None:
    """The user's own backward or hook raised the error: where that was."""
    where, node = require(case.raised_at), case.scene.nodes.get(case.guilty or "")
    need(case.call, where != case.span)
    place = first_line(where)
    if node is not None and node.code is not None and node.code.holds(where):
        values: Values = {"method": method(node), "node": case.titled(node.id), "place": place}
        marks = case.stopped(node.id)
        return case.explain("raised_why_backward", "", marks, where, **values)
    function = function_around(case, where)
    hook = the_hook(case, "<lambda>" if isinstance(function, ast.Lambda) else getattr(function, "name", ""))
    if hook is None:
        outside = function in (None, function_around(case, case.span))  # raised again where the call stands
        return None if outside else case.explain("raised_why", cause=where, place=place)
    marks = case.stopped(case.scene.node_at(hook.tensor) or "")
    values = {"hook": hook.name, "name": case.name(hook.tensor), "place": place}
    return case.explain("raised_why_hook", "", marks, where, **values)
