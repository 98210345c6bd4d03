"""Where the path of gradients to a tensor ended, and leaves that were lost because their variable got a
new tensor."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ..model.naming import plain_name
from ..model.provenance import Birth, upstream
from ..model.scene import Scenes
from ..model.trace_index import TraceIndex
from ..trace.events import (
    Forward,
    GradAccumulated,
    ModeChanged,
    NumbersReturned,
    RequiresGradSet,
    TensorCreated,
    TensorDetached,
    of_kinds,
)
from ..trace.graph import CAUSE, Explanation, Mark
from ..trace.source_positions import Span
from .case import Case, Sentence, Values
from .edits import NO_GRAD, of_numpy, plain_target, quote, rewritten, with_tensors
from .syntax import before_dot_source, node_at, span_at, statement_around, written_as

# ─── Where the path of gradients to a tensor ended


MODES = {"detach": "detach()", "data": ".data", "no_grad": "no_grad()", "inference": "inference_mode()"}
ENDED = {  # what ended a path, and what to do about it
    **dict.fromkeys(("detach", "data"), ("ended_detach", "ended_detach_fix")),
    **dict.fromkeys(("no_grad", "inference"), ("ended_no_grad", "ended_no_grad_fix")),
    "numpy": ("ended_numpy", "ended_numbers_fix"),
    "item": ("ended_item", "ended_numbers_fix"),
    "tensor": ("ended_tensor", "ended_tensor_fix"),
    "integer": ("ended_integer", "ended_integer_fix"),
    "made": ("ended_made", "ended_made_fix"),
}


class PathCut(NamedTuple):
    """Where the path of gradients to a tensor ended: at `tensor`, which came from `source` (None: made from
    data). `how` is "detach", "data", "numpy", "item", "tensor", "no_grad", "inference", "integer", or "made"
    (it never required gradients)."""

    how: str
    tensor: str
    source: str | None
    span: Span | None

    def told(self, case: Case) -> dict[str, Sentence]:
        """What ended the path ("ended"), and what to do about it ("repair"), as sentences."""
        names = {"name": case.name(self.tensor), "source": case.name(self.source or self.tensor)}
        names["mode"] = (self.how == "no_grad" and switched_off(case, self)) or MODES.get(self.how, "")
        names["code"] = self.kept(case)
        key, fix_key = ENDED[self.how]
        if self.how == "tensor" and (stacked := stacked_list(case, self.span)):
            fix_key, names["code"] = "ended_list_fix", stacked
        why, fix = (case.words(each, cut=self.span, **names) for each in (key, fix_key))
        return {"ended": why, "repair": fix}

    def kept(self, case: Case) -> str:
        """The statement, if it computes with the numbers of tensors, written with the tensors instead;
        else ""."""
        tree = statement_around(case, self.span)
        text = "" if tree is None else ast.unparse(tree)
        code = "" if tree is None else with_tensors(case, tree)
        parts = [*ast.walk(ast.parse(code))]  # of arrays and of single numbers no tensor takes the place
        other = any(of_numpy(part) or isinstance(part, ast.ListComp) for part in parts)
        return "" if code == text or other else quote(code) or ""

    def marks(self, case: Case, card: bool = True) -> tuple[Mark, ...]:
        """A mark on the arrow that was cut; where the picture has none, with `card` on the tensor behind
        it."""
        label = case.words("mark_cut")
        marks = case.arrow(self.source or "", self.tensor, CAUSE, label)
        return marks or (case.card(self.tensor, CAUSE, label) if card else ())


def stacked_list(case: Case, span: Span | None) -> str:
    """The statement with `torch.stack` instead of `torch.tensor` of a list of tensors that a variable holds;
    "" for any other call."""
    call = node_at(case, span)
    if not isinstance(call, ast.Call) or not call.args or not isinstance(call.args[0], ast.Name):
        return ""
    name = call.args[0].id
    if name in set(map(plain_name, case.scene.named.values())):
        return ""
    return rewritten(case, call, {call: f"torch.stack({name})"}) or ""


def switched_off(case: Case, cut: PathCut) -> str:
    """`set_grad_enabled(False)` with its line, where that switched the grad mode off; "" where it was no such
    call."""
    made = case.scene.index.births.get(cut.tensor)
    time = len(case.trace.events) if made is None else case.scene.index.times[id(made)]
    changes = (e for e in of_kinds(case.trace.events[:time], ModeChanged) if e.mode == "grad")
    last = next(reversed([*changes]), None)
    named = last is not None and last.span is not None and "set_grad_enabled" in last.span.text
    return case.place(last.span) if named and last is not None else ""


def cut_at(case: Case, tensor: str, source: str) -> PathCut | None:
    """The cut between `source`, which requires gradients, and `tensor`, which came from it; None if it is not
    certain what it was."""
    event, place = case.scene.index.births.get(tensor), case.scene.index.at.get(tensor)
    if isinstance(event, Forward) and source not in event.read:
        return PathCut("item", tensor, source, event.span)
    if isinstance(event, TensorDetached) and (numbers := numpy_trip(case, tensor)) is not None:
        return PathCut("numpy", tensor, source, numbers.span or value_around(case, event.span))
    how = getattr(event, "how", "") or (place[0].cut if place else "")
    return PathCut(how, tensor, source, event.span) if event is not None and how else None


def numpy_trip(case: Case, tensor: str) -> NumbersReturned | None:
    """The tensor that was made of the NumPy array of a detached one, if that was only read for it."""
    read = [event for event in case.trace.events if tensor in getattr(event, "read", ())]
    trips = [event for event in read if isinstance(event, NumbersReturned) and event.how == "numpy"]
    return trips[0] if trips and len(trips) == len(read) else None


def value_around(case: Case, span: Span | None) -> Span | None:
    """What the assignment around an expression assigns; the expression itself where it is in none."""
    tree = statement_around(case, span)
    return span_at(case, tree.value) if isinstance(tree, ast.Assign) else span


def numbers_at(case: Case, event: Birth | None) -> list[str]:
    """The tensors whose numbers are in the expression of an op, as in `2 * math.log(x)`."""
    return case.numbers.get(id(event), []) if isinstance(event, Forward) else []


def sources_at(case: Case, event: Birth) -> list[str]:
    """The tensors that a tensor was computed from, and those whose numbers it was computed with."""
    return list(dict.fromkeys((*event.read, *numbers_at(case, event))))


def cut_before(case: Case, tensor: str) -> PathCut | None:
    """Where the path of gradients ended on the way to a tensor that requires none; None if that is not
    certain."""
    born, seen = case.scene.index.births, set[str]()
    todo, made = [tensor], None
    while todo:
        id = todo.pop()
        event = None if id in seen else born.get(id)
        seen.add(id)
        if event is None:
            continue
        span, sources = event.span, sources_at(case, event)
        asking = [source for source in sources if case.scene.asks(source)]
        if isinstance(event, TensorCreated):
            asked = span is None or event.tensor.requires_grad
            made = made or (None if asked else PathCut("made", id, None, span))
        elif not asking:
            todo += sources
        else:
            return cut_at(case, id, asking[0])
    return made if made is not None and made.tensor == tensor else None


# ── from the roots of a call ────────────────────────────────────────────────────────────────────────────────


class LostGradient(NamedTuple):
    """A gradient that does not get past `tensor`, which came from `source`, although both lead to the root.
    `cut` is what ended the path there, if that is certain; `leaf` is a computed tensor between it and the
    root that was made a leaf, and gets the gradients that `source` should have had ("" if there is none)."""

    tensor: str
    source: str
    cut: PathCut | None
    leaf: str


def is_complete(case: Case) -> bool:
    """Whether all of the graph of the call is known."""
    nodes = () if case.started is None else case.started.nodes
    known = {node.id for node in nodes}
    return all(edge is None or edge[0] in known for node in nodes for edge in node.edges)


def reachable_tensors(case: Case) -> set[str]:
    """The tensors whose gradients the call can compute."""
    nodes = case.scene.now.found
    born = (state for event in case.trace.events for state in event.made)
    return {*case.scene.now.accumulators} | {state.id for state in born if state.node in nodes}


def lost_by(case: Case) -> dict[str, LostGradient]:
    """The tensors that the roots of the call were computed from but no gradient can reach, each with the
    place nearest to the roots where its path ended."""
    born, ends, can = case.scene.index.births, case.scene.now.accumulators, reachable_tensors(case)
    todo = list(case.scene.now.roots)
    found, leaf, seen = dict[str, LostGradient](), dict[str, str](), set(todo)
    for id in todo:  # grows while it is read
        event = born.get(id)
        sources = [] if event is None else sources_at(case, event)
        through = leaf.get(id) or (id if id in ends and sources else "")
        for source in sources:
            passed = found.get(id)
            if passed is None and case.scene.asks(source):
                passed = LostGradient(id, source, cut_at(case, id, source), through)
            if passed is not None and source not in can:
                found.setdefault(source, passed)
            leaf.setdefault(source, through)
            if source not in seen:
                seen.add(source)
                todo.append(source)
    return found


def new_leaves(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """For each backward call that left a leaf without gradient because a computed tensor was made a leaf of
    its own on the way: where that was. Not where the leaf got its gradient by another call; of what a loop
    does many times, the last."""
    born, found = scenes.index.births, dict[object, Explanation]()
    for started in scenes.index.started:
        computed = any(born[n.variable].read for n in started.nodes if n.variable in born)
        if started.kind != "backward" or started.wanted is not None or not computed:
            continue
        case = Case(scenes, started.call, started.span, lang)
        lost, ends = lost_by(case) if is_complete(case) else {}, dict[str, list[str]]()
        for id, end in lost.items():
            if end.leaf and end.cut is not None and lacks_gradient(case, id):
                ends.setdefault(end.leaf, []).append(id)
        for leaf, ids in ends.items():
            if reads_gradient(case, leaf) and not any(reads_gradient(case, id) for id in ids):
                continue  # the new leaf is what the gradient was wanted of
            told = new_leaf(case, lost[ids[0]], ids)
            found[told.cause, asked_at(scenes.index, leaf)] = told
    return list(found.values())


def lacks_gradient(case: Case, tensor: str) -> bool:
    """Whether a tensor is a leaf that requires gradients and got none in all of the cell."""
    state = case.state(tensor)
    deposited = any(e.tensor == tensor for e in case.trace.of(GradAccumulated))
    return state is not None and state.is_leaf and state.requires_grad and not deposited


def reads_gradient(case: Case, tensor: str) -> bool:
    """Whether the source reads the `.grad` of a tensor."""
    name = case.plain(tensor)
    parts = (part for part in case.syntax() if isinstance(part, ast.Attribute) and part.attr == "grad")
    return any(ast.unparse(part.value) == name and isinstance(part.ctx, ast.Load) for part in parts)


def asked_at(index: TraceIndex, leaf: str) -> Span | None:
    """Where a tensor was made a leaf that requires gradients."""
    asked = [event.span for event in index.trace.of(RequiresGradSet) if event.tensor.id == leaf]
    born = index.births.get(leaf)
    return asked[-1] if asked else None if born is None else born.span


def new_leaf(case: Case, lost: LostGradient, leaves: list[str]) -> Explanation:
    """The explanation of one such leaf between the root and `leaves`."""
    assert lost.cut is not None
    made, cut = asked_at(case.scene.index, lost.leaf), lost.cut
    values: Values = {"new": case.name(lost.leaf), "made": made, **cut.told(case)}
    values["source"] = case.name(lost.source)
    marks = case.card(lost.leaf, CAUSE, case.words("mark_new_leaf")) + cut.marks(case, card=False)
    why = "new_leaf_why_at_once" if made == cut.span else "new_leaf_why"
    names = case.names(leaves)
    return case.note("new_leaf", why, "new_leaf_fix", marks, cut.span, names=names, cut=cut.span, **values)


# ─── A leaf that was lost because its variable was given a new tensor, `x = x - 0.1 * x.grad`


AROUND = ("detach", "requires_grad_", "clone")  # what may stand around a new value without changing it


class Reassignment(NamedTuple):
    """The assignment `source` at `span` gave the variable `name` a new tensor, computed from the leaf that it
    was. `update` is the same as a write in place, which keeps the leaf ("" for what is not an update
    by a gradient); `reset` is what is missing after it ("" where nothing is)."""

    name: str
    span: Span
    source: str
    update: str
    reset: str


def reassignment_of(case: Case, tensor: str) -> Reassignment | None:
    """How a variable lost its leaf, if `tensor` is what it stood for afterwards, or was computed from that;
    None if that is not certain."""
    behind = upstream(case.scene.index.births, [tensor])
    found = (assignment(case, event.span, id) for id, event in behind if event is not None)
    return next(filter(None, found), None)


def assignment(case: Case, span: Span | None, tensor: str) -> Reassignment | None:
    """The assignment in which `tensor` was computed, if it computes a variable from itself and that was a
    leaf, or had been made of a leaf by the same line."""
    tree = statement_around(case, span)
    pair = pair_around(case, tree, span) if isinstance(tree, ast.Assign) and span is not None else None
    if span is None or tree is None or pair is None or not plain_target(pair[0]):
        return None
    name, value = ast.unparse(pair[0]), pair[1]
    learns = reads(value, f"{name}.grad")
    if not reads(value, name) or not from_leaf(case, span, tensor, None if learns else name):
        return None
    source = quote(written_as(case, tree)) or quote(f"{name} = {written_as(case, value)}") or name
    if not learns:
        return Reassignment(name, span, source, "", "")
    update = as_in_place_write(case, tree, value, name)
    forgotten = not any(is_reset(part, name) for part in case.executed(ast.AST))
    return Reassignment(name, span, source, update, f"{name}.grad = None" if forgotten else "")


def pair_around(case: Case, tree: ast.Assign, span: Span) -> tuple[ast.expr, ast.expr] | None:
    """The target and the value of an assignment that contains an expression: of `a, b = c, d` one pair."""
    target, value = tree.targets[0], tree.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        at = span.line, len(case.source.lines[span.line - 1][: span.column].encode())
        for one, its in zip(target.elts, value.elts, strict=True):
            if (its.lineno, its.col_offset) <= at <= (its.end_lineno or 0, its.end_col_offset or 0):
                return one, its
        return None
    return (target, value) if len(tree.targets) == 1 else None


def from_leaf(case: Case, span: Span, tensor: str, name: str | None) -> bool:
    """Whether what is in the same line as `tensor` was computed from a leaf that requires gradients, or
    from what the line made of one in an earlier round; `name` is the variable that the leaf must have been
    (None: any)."""

    def same_line(event: Birth) -> bool:
        return event.span is not None and event.span.line == span.line

    index = case.scene.index
    for id, event in upstream(index.births, [tensor], same_line):
        state = None if event is not None and same_line(event) else case.made(id)
        leaf = state is not None and state.is_leaf and case.scene.asks(id)
        if leaf and name in (
            None,
            index.seen_as.get(id),
            getattr(event, "name", None),
            target_at(case, event),
        ):
            return True
    return False


def target_at(case: Case, event: Birth | None) -> str:
    """The only variable that the statement of an event gives a value to; "" where there is no one such."""
    tree = None if event is None else statement_around(case, event.span)
    one = isinstance(tree, ast.Assign) and len(tree.targets) == 1
    return ast.unparse(tree.targets[0]) if one and isinstance(tree, ast.Assign) else ""


def reads(tree: ast.AST, text: str) -> bool:
    """Whether an expression reads what is written as `text`."""
    kinds = (ast.Name, ast.Attribute)
    return any(isinstance(part, kinds) and ast.unparse(part) == text for part in ast.walk(tree))


def as_in_place_write(case: Case, tree: ast.stmt, value: ast.expr, name: str) -> str:
    """The assignment of `value` to a variable as a write in place, inside no_grad()."""
    change = update_of(case, value, name)
    return change if under_no_grad(case, tree) else NO_GRAD + change


def update_of(case: Case, value: ast.expr, name: str) -> str:
    """`x -= 0.1 * x.grad` for the value `x - 0.1 * x.grad`, with `.data` or `detach()` wherever; `x.copy_(…)`
    for any other new value."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in AROUND:
        value = value.func.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub | ast.Add) and is_it(value.left, name):
        sign = "-=" if isinstance(value.op, ast.Sub) else "+="
        return f"{name} {sign} {written_as(case, value.right)}"
    return f"{name}.copy_({written_as(case, value)})"


def is_it(tree: ast.expr, name: str) -> bool:
    """Whether an expression is a variable, or its values without history."""
    text = ast.unparse(tree)
    return text in (name, f"{name}.data", f"{name}.detach()", f"{name}.detach().clone()", f"{name}.clone()")


def under_no_grad(case: Case, tree: ast.stmt) -> bool:
    """Whether a statement is in a block of no_grad()."""
    return any(
        block.lineno <= tree.lineno <= (block.end_lineno or 0)
        and any("no_grad" in ast.unparse(item.context_expr) for item in block.items)
        for block in case.executed(ast.With)
    )


def is_reset(part: ast.AST, name: str) -> bool:
    """Whether a part of the cell resets the gradient of a variable, or of all of an optimizer."""
    if isinstance(part, ast.Assign):
        return any(ast.unparse(target) == f"{name}.grad" for target in part.targets)
    text = ast.unparse(part.func) if isinstance(part, ast.Call) else ""
    return text == f"{name}.grad.zero_" or text.endswith(".zero_grad")


def sentence_values(found: Reassignment) -> Values:
    """What sentences say about it."""
    return {**found._asdict(), "line": found.span.line}


def why_and_fix(case: Case, found: Reassignment) -> tuple[Sentence, Sentence]:
    """What the assignment did, and what does the same to the leaf."""
    fix = "rebound_fix" if found.update else "rebound_fix_name"
    return case.words("rebound_why", **sentence_values(found)), case.words(fix, **sentence_values(found))


class RequiresGradRemover(ast.NodeTransformer):
    """Leaves out what makes a tensor require gradients."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The call without `requires_grad=True`; what is before `.requires_grad_()`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
            return node.func.value
        node.keywords = [each for each in node.keywords if each.arg != "requires_grad"]
        return node


def computed_anyway(case: Case, event: Birth) -> bool:
    """Whether a tensor was computed from one that requires gradients and was made in another statement."""
    behind = upstream(case.scene.index.births, list(event.read))
    return any(
        case.scene.asks(id)
        and (other is None or other.span is None or not same_lines(other.span, event.span))
        for id, other in behind
    )


def same_lines(a: Span, b: Span | None) -> bool:
    """Whether two places begin in the same line."""
    return b is not None and (a.origin, a.line) == (b.origin, b.line)


def leaf_behind(case: Case, tensor: str) -> tuple[Sentence, Sentence, Span] | None:
    """Why and fix for a tensor that was computed, in the statement that creates it, from a leaf that nothing
    else names; and that statement. None for any other tensor."""
    event = case.scene.index.births.get(tensor)
    tree = None if event is None else statement_around(case, event.span)
    if event is None or event.span is None or not isinstance(tree, ast.Assign) or len(tree.targets) != 1:
        return None
    new = RequiresGradRemover().visit(ast.parse(ast.unparse(tree.value), mode="eval")).body
    if ast.unparse(new) == ast.unparse(tree.value):
        return None
    name, source = ast.unparse(tree.targets[0]), written_as(case, tree)
    computed = computed_anyway(case, event)
    cut = ".detach()" if computed else ""
    code = quote(f"{name} = {before_dot_source(ast.unparse(new))}{cut}.requires_grad_()")
    if code is None:
        return None
    key = "computed_behind_why" if computed else "leaf_behind_why"
    why = case.words(key, name=name, source=source, line=event.span.line)
    return why, case.words("leaf_behind_fix", name=name, code=code), event.span
