"""Errors of backward calls: a second one through the same graph, and saved values that were written to."""

from __future__ import annotations

import ast

from ..model.naming import plain_name
from ..model.place import LIBRARY
from ..trace.events import BackwardStarted, Called, Forward
from ..trace.explained import Explanation
from ..trace.where import Span
from ..words import Invented
from .case import LISTED, Case, Said, Values, need, sure
from .edits import call_with
from .operands import standing
from .rules import rule
from .syntax import expression, is_read, statement_around, stores


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
    return case.explain(*told_twice(case, case.guilty, first), marks, span)


def freed_label(case: Case, first: BackwardStarted | None) -> str:
    """The label of what a call freed."""
    return case.words("mark_freed", line=(first and case.line(first.span)) or "")


def freed_read(case: Case) -> Explanation | None:
    """What a node had saved was read by name, after it had been freed."""
    need(case.failed is not None, not case.by_hand)
    read = sure(reading(expression(case.span)))
    node, text = node_of(case, read.value), LIBRARY.sub("", ast.unparse(read))
    first = None if node is None else freed_by(case, node)
    if node is None or first is None:
        return case.explain("freed_read_why_unseen", "freed_read_fix_unseen", read=text)
    call, label = call_with(first.span, "retain_graph"), freed_label(case, first)
    values: Values = {"read": text, "node": case.titled(node), "first": first.span, "call": call}
    marks = case.chip(node, read.attr.removeprefix("_saved_"), label=label) or case.deck(node, label=label)
    fix = "freed_read_fix" if call is not None else "freed_read_fix_at"
    return case.explain("freed_read_why", fix, marks, first.span, **values)


def reading(tree: ast.AST | None) -> ast.Attribute | None:
    """The attribute in an expression by which a saved value is read; None if there is no one such."""
    names = (part for part in ast.walk(tree) if isinstance(part, ast.Attribute)) if tree is not None else ()
    found = [part for part in names if part.attr.startswith("_saved_") or part.attr == "saved_tensors"]
    return found[0] if len(found) == 1 else None


def node_of(case: Case, tree: ast.expr) -> str | None:
    """The node that `z.grad_fn` or `z.grad_fn.next_functions[0][0]` is; None where that is not known."""
    node = None
    match tree:
        case ast.Attribute(holder, "grad_fn"):
            state = standing(case, ast.unparse(holder))
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
    """The call that freed what a node had saved; of one that does not tell what that was, the only earlier
    call in which it ran."""
    earlier = [call for call in case.scene.index.calls.values() if call.begin < case.time and call.started]
    freed = [call for call in earlier if call.ended and call.until < case.time and node in call.ended.freed]
    ran = [call for call in earlier if node in call.ran and call.number != case.call]
    first = freed[0] if freed else ran[0] if len(ran) == 1 else None
    return None if first is None else first.started


def ran_before(case: Case, node: str) -> bool:
    """Whether a node ran in an earlier call."""
    return any(node in call.ran for call in case.scene.index.calls.values() if call.number < case.call)


def told_twice(case: Case, guilty: str, first: BackwardStarted | None) -> tuple[Said, Said]:
    """Why and fix: in a row, or in a loop that uses what was computed before it, or in an earlier round."""
    place = case.stage.place_of(guilty)
    assert place is not None
    around = case.scene.index.module_calls.at(place.time)
    made, tensor = place.span or (None if around is None else around.event.span), place.states[0].id
    values: Values = {"node": case.titled(guilty), "name": case.plain(tensor), "second": case.span}
    if first is None:
        values["first"] = case.words("earlier_call")
        return case.words("second_backward_why", **values), case.words("second_backward_fix_anew")
    values |= {"first": first.span, "keep": keeping(case, first)}
    why, fix = "second_backward_why", "second_backward_fix_unnamed"
    names, both = to_compute(case), two_roots(case, first)
    if names:
        fix, values["names"] = "second_backward_fix", ", ".join(names)
    if both is not None:
        fix, (values["a"], values["b"]) = "second_backward_fix_sum", both
    if first.span is not None and first.span == case.span and made is not None:
        values["made"] = made
        if made_again(case, made, first):
            kept = [case.plain(tensor)] if tensor in case.scene.named else carried(case, made)
            if len(kept) == 1:
                values["name"] = kept[0]
                why, fix = "second_backward_why_carried", "second_backward_fix_carried"
        else:
            fix = "second_backward_fix_once" if case.in_loop(case.span) else "second_backward_fix_each"
            why = "second_backward_why_once"
    return case.words(why, **values), case.words(fix, **values)


def keeping(case: Case, first: BackwardStarted) -> str:
    """How the call `first` is to keep the graph; what it says against that has to go."""
    call, key = expression(first.span), "second_backward_keep"
    if any(each.arg == "retain_graph" for each in (call.keywords if isinstance(call, ast.Call) else ())):
        key = "second_backward_keep_off" if first.create_graph else "second_backward_keep_instead"
    return case.words(key, first=first.span)


def made_again(case: Case, made: Span, first: BackwardStarted) -> bool:
    """Whether the expression that made a tensor before the call `first` was evaluated again after it."""
    after = case.before[case.before.index(first) :]
    return any(isinstance(event, Forward | Called) and event.span == made for event in after)


def carried(case: Case, span: Span) -> list[str]:
    """The variables that a statement reads and gives new values to: `h` of `out, h = rnn(x, h)`."""
    tree = statement_around(case, span)
    if tree is None:
        return []
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and is_read(node)}
    return sorted(read & stores(tree))


def two_roots(case: Case, first: BackwardStarted) -> tuple[str, str] | None:
    """The names of two roots of one element that share a part of their graphs, from which two lines went
    backward."""
    assert case.started is not None
    calls = (first, case.started)
    roots = [call.roots[0] for call in calls if call.kind == "backward" and len(call.roots) == 1]
    shapes = [state.value.size for id in roots if (state := case.state(id)) is not None and state.value]
    named = [case.name(id) for id in roots if id in case.scene.named]
    named = [name for name in named if not isinstance(name, Invented)]
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
