"""Errors while a node runs: its custom Function, a hook, a NaN, or an error of the user's own."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from typing import Any

from ..model.handles import Registered
from ..model.node_details import dedented
from ..numbers import short
from ..protocol import Value
from ..trace.events import NodeRan, NodeState
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from ..trace.where import Span
from .case import Case, Values, need, sure
from .edits import Shape
from .rules import rule
from .syntax import function_around

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
    """The backward of a custom Function gave more or fewer gradients than forward had inputs."""
    node = custom(case, name)
    where = returned(node) or node.code
    values: Values = {**counts, "method": method(node), "place": first_line(where) or ""}
    return case.explain("wrong_count", "", case.stopped(node.id), where, **values)


@rule(
    "wrong_gradient",
    "unction {name} returned an invalid gradient at index {i}.*got {got} but expected .* {expected}",
)
def wrong_gradient(case: Case, name: str, i: int, got: Shape, expected: Shape) -> Explanation | None:
    """The backward of a custom Function gave a gradient of another shape than the input."""
    node = custom(case, name)
    where = returned(node) or node.code
    edge = node.edges[i] if i < len(node.edges) else None
    source = None if edge is None else case.scene.tensor_of(edge)
    marks = case.stopped(node.id) + case.card(source or "", CAUSE, case.words("mark_shape", shape=expected))
    values: Values = {"i": i + 1, "got": str(got), "expected": str(expected), "method": method(node)}
    values["place"] = first_line(where) or ""
    return case.explain("wrong_gradient", "", marks, where, **values)


def custom(case: Case, name: str) -> NodeState:
    """The node of a custom Function that stopped the call, if that is its name."""
    node = case.scene.nodes[sure(case.guilty)]
    need(node.name == name)
    return node


def method(node: NodeState) -> str:
    """`MyPow.backward`."""
    return f"{node.name.removesuffix('Backward')}.backward"


def first_line(span: Span | None) -> Span | None:
    """A place in the source, of which the first line alone is quoted."""
    return None if span is None else span._replace(text=span.text.partition("\n")[0])


def returned(node: NodeState) -> Span | None:
    """The `return` of a custom Function's backward, if it has but one."""
    if node.code is None:
        return None
    body = textwrap.dedent(dedented(node.code))
    try:
        tree = ast.parse(body)
    except (SyntaxError, ValueError):
        return None
    found = [part for part in inside(tree.body) if isinstance(part, ast.Return)]
    if len(found) != 1:
        return None
    (part,), first = found, node.code
    line, column = part.lineno + first.line - 1, part.col_offset + first.column
    end = (part.end_lineno or part.lineno) + first.line - 1, (part.end_col_offset or 0) + first.column
    return Span(line, column, *end, ast.get_source_segment(body, part) or "", first.origin)


def inside(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands in a function, without the functions in it."""
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
    """A hook gave something else back than a gradient of the same shape and dtype."""
    need(case.call)
    guilty = sure(case.guilty)
    told = {name: value for name, value in found.items() if value is not None}
    what = next(what for what in RETURNED if what in told)
    values: Values = {"hook": told.get("hook", ""), "was": told.get("was") or told.get("expected", "")}
    values["got"] = told[what]
    hook, span = the_hook(case, told.get("hook")), None
    if hook is not None:
        span = getattr(case.trace.events[hook.since], "span", None)
        values |= {"hook": hook.name, "name": case.name(hook.tensor), "place": span}
    return case.explain(RETURNED[what], "hook_shape_fix", case.stopped(guilty), span, **values)


def the_hook(case: Case, name: str | None) -> Registered | None:
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
    ran = [event for event in case.before if isinstance(event, NodeRan) and event.call == case.call]
    need(ran and ran[-1].node == node.id)
    place = case.scene.by_node.get(node.id)
    made = None if place is None else place.span
    took = [value for value in ran[-1].received if value is not None]
    kept = [f"{s.name} = {short(s.value)}" for s in node.saved if isinstance(s.value, Value)][:VALUES]
    values: Values = {"node": case.titled(node.id), "took": ", ".join(map(short, took)), "made": made}
    masked = any(0 in (value.items or ()) for value in took)
    fix = "" if made is None else "nan_fix_masked" if masked else "nan_fix"
    marks = case.deck(node.id, label=case.words("mark_nan"))
    return case.explain("nan_why", fix, marks, made, saved=", ".join(kept), **values)


@rule("raised", "")
def raised(case: Case) -> Explanation | None:
    """The user's own backward or hook raised the error: where that was."""
    where, node = sure(case.raised_at), case.scene.nodes.get(case.guilty or "")
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
