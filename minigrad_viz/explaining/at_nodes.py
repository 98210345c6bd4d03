"""Errors while a node runs: its custom Function, a hook, a NaN, or an error of the user's own."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..model.handles import Registered
from ..model.node_code import dedented
from ..numbers import short
from ..protocol import Value
from ..trace.events import NodeRan, NodeState
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from ..trace.where import Span
from .case import Case, ErrorRule, rule

LISTED = 3  # values that are listed in a sentence
RETURNED = {  # what is told of a hook that returned something else, without its place and with it
    "type": ("hook_shape_why_type", "hook_shape_why_type_at"),
    "count": ("hook_shape_why_count", "hook_shape_why_count_at"),
    "got": ("hook_shape_why_dtype", "hook_shape_why_dtype_at"),
    "shape": ("hook_shape_why_shape", "hook_shape_why_shape_at"),
}


# ── custom Functions ────────────────────────────────────────────────────────────────────────────────────────


def wrong_count(case: Case, match: re.Match[str]) -> Explanation | None:
    """The backward of a custom Function gave more or fewer gradients than forward had inputs."""
    node = custom(case, match["name"])
    if node is None:
        return None
    values = {"expected": match["expected"], "got": match["got"], "method": method(node)}
    where = returned(node) or node.code
    if where is None:
        why = case.words("wrong_count_why", **values)
    else:
        why = case.words("wrong_count_why_at", place=place_in(case, where), **values)
    marks = case.deck(node.id, label=case.words("stopped_here"))
    return case.explain("wrong_count", why, case.words("wrong_count_fix"), marks, where)


def wrong_gradient(case: Case, match: re.Match[str]) -> Explanation | None:
    """The backward of a custom Function gave a gradient of another shape than the input."""
    node = custom(case, match["name"])
    found = re.search(r"got \[(.*?)\] but expected shape compatible with \[(.*?)\]", case.error)
    if node is None or found is None:
        return None
    got, expected = (str(tuple(int(n) for n in re.findall(r"\d+", part))) for part in found.groups())
    values: dict[str, Any] = {
        "i": int(match["index"]) + 1,
        "got": got,
        "expected": expected,
        "method": method(node),
    }
    marks = case.deck(node.id, label=case.words("stopped_here"))
    i = int(match["index"])
    if i < len(node.edges) and (edge := node.edges[i]) is not None:
        source = case.scene.tensor_of(edge)
        marks += (
            case.card(source, CAUSE, case.words("mark_shape", shape=expected)) if source is not None else ()
        )
    where = returned(node) or node.code
    if where is None:
        why = case.words("wrong_gradient_why", **values)
    else:
        why = case.words("wrong_gradient_why_at", place=place_in(case, where), **values)
    return case.explain("wrong_gradient", why, case.words("wrong_gradient_fix", **values), marks, where)


def custom(case: Case, name: str) -> NodeState | None:
    """The node of a custom Function that stopped the call, if that is its name."""
    node = None if case.guilty is None else case.scene.nodes[case.guilty]
    return node if node is not None and node.name == name else None


def method(node: NodeState) -> str:
    """`MyPow.backward`."""
    return f"{node.name.removesuffix('Backward')}.backward"


def place_in(case: Case, span: Span | None) -> str:
    """The line of a place in the source, in words; its first line alone is quoted."""
    if span is None:
        return "…"
    return case.place(replace(span, text=span.text.partition("\n")[0]))


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
    text = ast.get_source_segment(body, found[0]) or ""
    first, shift = node.code, node.code.line - 1
    return Span(
        found[0].lineno + shift,
        found[0].col_offset + first.column,
        (found[0].end_lineno or found[0].lineno) + shift,
        (found[0].end_col_offset or 0) + first.column,
        text,
        first.origin,
    )


def inside(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands in a function, without the functions in it."""
    todo: list[ast.AST] = [*(body[0].body if body and isinstance(body[0], ast.FunctionDef) else ())]
    while todo:
        part = todo.pop()
        yield part
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            todo += ast.iter_child_nodes(part)


# ── hooks ───────────────────────────────────────────────────────────────────────────────────────────────────


def hook_shape(case: Case, match: re.Match[str]) -> Explanation | None:
    """A hook gave something else back than a gradient of the same shape and dtype."""
    if not case.call or case.guilty is None:
        return None
    found = {name: value for name, value in match.groupdict().items() if value is not None}
    what = next((what for what in ("type", "count", "got") if what in found), "shape")
    values = {"hook": found.get("hook", ""), "was": found.get("was") or found.get("expected", "")}
    values["got"] = found.get("got") or found.get("count") or found.get("type", "")
    hook = the_hook(case, found.get("hook"))
    fix, marks = case.words("hook_shape_fix"), case.deck(case.guilty, label=case.words("stopped_here"))
    if hook is None:
        return case.explain("hook_shape", case.words(RETURNED[what][0], **values), fix, marks)
    span = getattr(case.trace.events[hook.since], "span", None)
    values |= {"hook": hook.name, "name": case.name(hook.tensor), "place": case.place(span)}
    why = case.words(RETURNED[what][1], **values)
    return case.explain("hook_shape", why, fix, marks, span)


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
        and (name is None or hook.name == name)
    ]
    return found[0] if len(found) == 1 else None


# ── what came out, or up ────────────────────────────────────────────────────────────────────────────────────


def nan(case: Case, match: re.Match[str]) -> Explanation | None:
    """Anomaly mode found a NaN in what a node sent."""
    node = None if case.guilty is None else case.scene.nodes[case.guilty]
    ran = [event for event in case.before if isinstance(event, NodeRan) and event.call == case.call]
    if node is None or node.name != match["name"] or not ran or ran[-1].node != node.id:
        return None
    place = case.scene.by_node.get(node.id)
    made = None if place is None else getattr(case.trace.events[place.time], "span", None)
    took = [value for value in ran[-1].received if value is not None]
    values = {"node": case.titled(node.id), "took": ", ".join(map(short, took)), "made": case.place(made)}
    kept = [s for s in node.saved if isinstance(s.value, Value)][:LISTED]
    values["saved"] = ", ".join(f"{s.name} = {short(s.value)}" for s in kept if isinstance(s.value, Value))
    marks = case.deck(node.id, label=case.words("mark_nan"))
    why = case.words("nan_why_saved" if kept else "nan_why", **values)
    masked = any(0 in (value.items or ()) for value in took)
    fix = "" if made is None else case.words("nan_fix_masked" if masked else "nan_fix", **values)
    return case.explain("nan", why, fix, marks, made)


def raised(case: Case, match: re.Match[str]) -> Explanation | None:
    """The user's own backward or hook raised the error: where that was."""
    where = case.raised_at
    if not case.call or where is None or where == case.span:
        return None
    node = None if case.guilty is None else case.scene.nodes[case.guilty]
    values = {"place": place_in(case, where)}
    marks = () if node is None else case.deck(node.id, label=case.words("stopped_here"))
    if node is not None and node.code is not None and contains(node.code, where):
        why = case.words("raised_why_backward", method=method(node), node=case.titled(node.id), **values)
        return case.explain("raised", why, "", marks, where)
    function = around(case, where)
    name = "<lambda>" if isinstance(function, ast.Lambda) else getattr(function, "name", "")
    hook = the_hook(case, name)
    if hook is None:
        outside = around(case, where) in (None, around(case, case.span))  # raised anew where the call stands
        return None if outside else case.explain("raised", case.words("raised_why", **values), cause=where)
    at = case.scene.node_at(hook.tensor)
    marks = () if at is None else case.deck(at, label=case.words("stopped_here"))
    why = case.words("raised_why_hook", hook=hook.name, name=case.name(hook.tensor), **values)
    return case.explain("raised", why, "", marks, where)


def contains(outer: Span, inner: Span) -> bool:
    """Whether one place in the source stands in another."""
    return outer.origin == inner.origin and outer.line <= inner.line and inner.end_line <= outer.end_line


def around(case: Case, where: Span | None) -> ast.AST | None:
    """The innermost function around a place in the cell; None at its top level, and elsewhere."""
    found: list[ast.AST] = []
    for part in case.parts() if where is not None and not where.origin else ():
        assert where is not None
        if isinstance(part, ast.FunctionDef | ast.Lambda):
            begin, end = (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)
            if begin <= (where.line, where.column) and (where.end_line, where.end_column) <= end:
                found.append(part)
    return max(found, key=lambda part: (part.lineno, part.col_offset), default=None)  # type: ignore[attr-defined]


RULES: dict[str, ErrorRule] = {
    "wrong_count": rule(
        r"function (?P<name>\w+) returned an incorrect number of gradients \(expected (?P<expected>\d+), "
        r"got (?P<got>\d+)\)",
        wrong_count,
    ),
    "wrong_gradient": rule(
        r"[Ff]unction (?P<name>\w+) returned an invalid gradient at index (?P<index>\d+)", wrong_gradient
    ),
    "hook_shape": rule(
        r"hook '(?P<hook>.*?)' has (?:changed the size of value"
        r"|changed the type of value \(was (?P<was>\S+) got (?P<got>\S+)\)"
        r"|returned an incorrect number of values \(got (?P<count>\d+), but expected (?P<expected>\d+)\))"
        r"|expected Variable, but hook returned '(?P<type>.*?)'",
        hook_shape,
    ),
    "nan": rule(r"Function '(?P<name>\w+)' returned nan values in its", nan),
    "raised": rule(r"", raised),
}
