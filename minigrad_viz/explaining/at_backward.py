"""Errors of backward calls. See Note [How to add a rule] in `diagnose`."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ..model.naming import plain_name
from ..model.place import LIBRARY
from ..trace.events import BackwardStarted, Forward
from ..trace.explained import Explanation
from .at_inputs import RULES as AT_INPUTS
from .at_nodes import RULES as AT_NODES
from .at_roots import RULES as AT_ROOTS
from .at_saved import saved_modified
from .case import Case, ErrorRule, rule
from .subject import expression, parsed_call, raised_by_hand, standing, with_option

LISTED = 4  # names that are listed in a sentence


def second_backward(case: Case, match: re.Match[str]) -> Explanation | None:
    """A node has to run whose saved values an earlier call freed; or such a value is read."""
    if case.started is None:
        return freed_read(case)
    emptied = [node.id for node in case.started.nodes if any(saved.freed for saved in node.saved)]
    if case.guilty is not None and not case.scene.nodes[case.guilty].saved and ran_before(case, case.guilty):
        emptied.append(case.guilty)  # as a CopySlices, which does not tell what it saved
    guilty = case.guilty if case.guilty in emptied else None
    if not emptied or (case.guilty is not None and guilty is None):
        return None
    first = freed_by(case, guilty or emptied[0])
    if guilty is None:
        values = {"second": case.place(case.span), "first": case.place(first.span if first else None)}
        if first is None:
            why = case.words("second_backward_why_some", **values)
            return case.explain("second_backward", why, case.words("second_backward_fix_anew"))
        why = case.words("second_backward_why_somewhere", **values)
        return case.explain("second_backward", why, cause=first.span)
    why, fix = told_twice(case, guilty, first)
    chips = [saved.name for saved in case.scene.nodes[guilty].saved if saved.freed]
    line = case.line(first.span) if first is not None else None
    label = case.words("mark_freed") if line is None else case.words("mark_freed_by", line=line)
    marks = case.deck(guilty, label=case.words("stopped_here"))
    marks += tuple(mark for name in chips for mark in case.chip(guilty, name, label=label))
    return case.explain("second_backward", why, fix, marks, None if first is None else first.span)


def freed_read(case: Case) -> Explanation | None:
    """What a node had saved was read by name, after it had been freed."""
    read = None if case.failed is None or raised_by_hand(case) else reading(expression(case))
    if read is None:
        return None
    node, text = node_of(case, read.value), LIBRARY.sub("", ast.unparse(read))
    first = None if node is None else freed_by(case, node)
    if node is None or first is None:
        why = case.words("freed_read_why_unseen", read=text)
        return case.explain("second_backward", why, case.words("freed_read_fix_unseen", read=text))
    call = None if first.span is None else with_option(first.span, "retain_graph")
    values = {"read": text, "node": case.titled(node), "first": case.place(first.span), "call": call}
    line, name = case.line(first.span), read.attr.removeprefix("_saved_")
    label = case.words("mark_freed") if line is None else case.words("mark_freed_by", line=line)
    marks = case.chip(node, name, label=label) or case.deck(node, label=label)
    fix = case.words("freed_read_fix" if call is not None else "freed_read_fix_at", **values)
    return case.explain("second_backward", case.words("freed_read_why", **values), fix, marks, first.span)


def reading(tree: ast.AST | None) -> ast.Attribute | None:
    """The attribute in an expression by which a saved value is read; None if there is no one such."""
    names = (part for part in ast.walk(tree) if isinstance(part, ast.Attribute)) if tree is not None else ()
    found = [part for part in names if part.attr.startswith("_saved_") or part.attr == "saved_tensors"]
    return found[0] if len(found) == 1 else None


def node_of(case: Case, tree: ast.expr) -> str | None:
    """The node that `z.grad_fn` or `z.grad_fn.next_functions[0][0]` is; None where that is not known."""
    if isinstance(tree, ast.Attribute) and tree.attr == "grad_fn":
        state = standing(case, ast.unparse(tree.value))
        node = None if state is None else state.node
        return node if node in case.scene.nodes else None
    match tree:
        case ast.Subscript(
            ast.Subscript(ast.Attribute(inner, "next_functions"), ast.Constant(int(i))), ast.Constant(0)
        ):
            node = node_of(case, inner)
            edges = () if node is None else case.scene.nodes[node].edges
            edge = edges[i] if -len(edges) <= i < len(edges) else None
            return None if edge is None or edge[0] not in case.scene.nodes else edge[0]
    return None


def freed_by(case: Case, node: str) -> BackwardStarted | None:
    """The call that freed what a node had saved; of one that does not tell what that was, the only earlier
    call in which it ran."""
    earlier = [call for call in case.scene.index.calls.values() if call.begin < case.time and call.started]
    ended = (call for call in earlier if call.ended is not None and call.until < case.time)
    freed = (call for call in ended if call.ended and node in call.ended.freed)
    ran = [call for call in earlier if node in call.ran and call.number != case.call]
    first = next(freed, ran[0] if len(ran) == 1 else None)
    return None if first is None else first.started


def ran_before(case: Case, node: str) -> bool:
    """Whether a node ran in an earlier call."""
    return any(node in call.ran for call in case.scene.index.calls.values() if call.number < case.call)


def told_twice(case: Case, guilty: str, first: BackwardStarted | None) -> tuple[str, str]:
    """Why and fix: in a row, or in a loop that uses what was computed before it, or in an earlier round."""
    place = case.stage.place_of(guilty)
    assert place is not None
    made = case.trace.events[place.time]
    tensor = place.states[0].id
    node, second = case.titled(guilty), case.place(case.span)
    values = {"node": node, "name": plain_name(case.name(tensor)), "second": second}
    if first is None:
        return case.words("second_backward_why_unseen", **values), case.words("second_backward_fix_anew")
    values |= {"first": case.place(first.span), "keep": keeping(case, first)}
    if first.span is not None and first.span == case.span and isinstance(made, Forward):
        values["made"] = case.place(made.span)
        rounds = made.span is not None and made_again(case, made, first)
        if rounds and tensor in case.scene.named:
            why = case.words("second_backward_why_carried", **values)
            return why, case.words("second_backward_fix_carried", **values)
        if not rounds and made.span is not None:
            fix = "second_backward_fix_once" if case.in_loop(case.span) else "second_backward_fix_each"
            return case.words("second_backward_why_once", **values), case.words(fix, **values)
    both = two_roots(case, first)
    if both is not None:
        values |= {"a": both[0], "b": both[1]}
        return case.words("second_backward_why", **values), case.words("second_backward_fix_sum", **values)
    names = to_compute(case)
    key = "second_backward_fix" if names else "second_backward_fix_unnamed"
    return case.words("second_backward_why", **values), case.words(key, names=", ".join(names), **values)


def keeping(case: Case, first: BackwardStarted) -> str:
    """How the call `first` is to keep the graph; what it says against that has to go."""
    call, key = parsed_call(first.span), "second_backward_keep"
    off, instead = "second_backward_keep_off", "second_backward_keep_instead"
    for keyword in call.keywords if call is not None else ():
        if keyword.arg == "retain_graph":
            key = off if first.create_graph else instead
    return case.words(key, first=case.place(first.span))


def made_again(case: Case, made: Forward, first: BackwardStarted) -> bool:
    """Whether the expression that made a tensor before the call `first` was evaluated again after it."""
    after = case.before[case.before.index(first) :]
    return any(isinstance(event, Forward) and event.span == made.span for event in after)


def two_roots(case: Case, first: BackwardStarted) -> tuple[str, str] | None:
    """The names of two roots of one element that share a part of their graphs, from which two lines went
    backward."""
    assert case.started is not None
    calls = (first, case.started)
    roots = [call.roots[0] for call in calls if call.kind == "backward" and len(call.roots) == 1]
    shapes = [state.value.size for id in roots if (state := case.state(id)) is not None and state.value]
    named = [case.name(id) for id in roots if id in case.scene.named]
    if len({plain_name(name) for name in named}) < 2 or shapes != [1, 1] or first.span == case.span:
        return None
    inner = {node.id for node in case.started.nodes}
    apart = case.scene.node_at(roots[0]) not in inner
    return (named[0], named[1]) if apart else None


def to_compute(case: Case) -> Sequence[str]:
    """The variables of the graph that must be computed anew, because they lead through what was freed; none
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
            found = (state.id for state in place.states if state.id in case.scene.named)
            names += [plain_name(case.name(id)) for id in found]
    names = [name for name in dict.fromkeys(names) if not name.startswith("∂")]  # of no variable
    return names if len(names) <= LISTED else ()


RULES: dict[str, ErrorRule] = {
    "second_backward": rule(r"Trying to backward through the graph a second time", second_backward),
    "saved_modified": rule(
        r"needed for gradient computation has been modified by an inplace operation: "
        r"\[[^\]]*\[(?P<shape>[^\]]*)\]\].*? is at version (?P<now>\d+); expected version (?P<then>\d+)",
        saved_modified,
    ),
    **AT_ROOTS,
    **AT_INPUTS,
    **AT_NODES,
}
