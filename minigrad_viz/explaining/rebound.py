"""A leaf that was lost because its variable was given a new tensor, `x = x - 0.1 * x.grad`; and one that
never had a name: `w = torch.randn(3, requires_grad=True) * 0.1`."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ..model.births import Birth, upstream
from ..trace.where import Span
from .case import Case, Said, Values
from .edits import NO_GRAD, plain_target, quoted
from .syntax import statement_around, written_as

AROUND = ("detach", "requires_grad_", "clone")  # what may stand around a new value without changing it


class Rebound(NamedTuple):
    """The assignment `source` at `span` gave the variable `name` a new tensor, computed from the leaf that it
    was. `update` is the same as a write in place, which keeps the leaf ("" for what is no update
    by a gradient); `reset` is what is missing after it ("" where nothing is)."""

    name: str
    span: Span
    source: str
    update: str
    reset: str


def rebound(case: Case, tensor: str) -> Rebound | None:
    """How a variable lost its leaf, if `tensor` is what it stood for afterwards, or was computed from that;
    None if that is not certain."""
    behind = upstream(case.scene.index.births, [tensor])
    found = (assignment(case, event.span, id) for id, event in behind if event is not None)
    return next(filter(None, found), None)


def assignment(case: Case, span: Span | None, tensor: str) -> Rebound | None:
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
    source = quoted(written_as(case, tree)) or quoted(f"{name} = {written_as(case, value)}") or name
    if not learns:
        return Rebound(name, span, source, "", "")
    update = updated(case, tree, value, name)
    forgotten = not any(is_reset(part, name) for part in case.executed(ast.AST))
    return Rebound(name, span, source, update, f"{name}.grad = None" if forgotten else "")


def pair_around(case: Case, tree: ast.Assign, span: Span) -> tuple[ast.expr, ast.expr] | None:
    """The target and the value of an assignment in which an expression stands: of `a, b = c, d` one pair."""
    target, value = tree.targets[0], tree.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        at = span.line, len(case.source.lines[span.line - 1][: span.column].encode())
        for one, its in zip(target.elts, value.elts, strict=True):
            if (its.lineno, its.col_offset) <= at <= (its.end_lineno or 0, its.end_col_offset or 0):
                return one, its
        return None
    return (target, value) if len(tree.targets) == 1 else None


def from_leaf(case: Case, span: Span, tensor: str, name: str | None) -> bool:
    """Whether what stands in the same line as `tensor` was computed from a leaf that requires gradients, or
    from what the line made of one in an earlier round; `name` is the variable that the leaf must have been
    (None: any)."""

    def same_line(event: Birth) -> bool:
        return event.span is not None and event.span.line == span.line

    index = case.scene.index
    for id, event in upstream(index.births, [tensor], same_line):
        state = None if event is not None and same_line(event) else case.made(id)
        leaf = state is not None and state.is_leaf and case.scene.asks(id)
        if leaf and name in (None, index.seen_as.get(id), getattr(event, "name", None)):
            return True
    return False


def reads(tree: ast.AST, text: str) -> bool:
    """Whether an expression reads what is written as `text`."""
    kinds = (ast.Name, ast.Attribute)
    return any(isinstance(part, kinds) and ast.unparse(part) == text for part in ast.walk(tree))


def updated(case: Case, tree: ast.stmt, value: ast.expr, name: str) -> str:
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
    """Whether a statement stands in a block of no_grad()."""
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


def named(found: Rebound) -> Values:
    """What sentences say of it."""
    return {**found._asdict(), "line": found.span.line}


def why_and_fix(case: Case, found: Rebound) -> tuple[Said, Said]:
    """What the assignment did, and what does the same to the leaf."""
    fix = "rebound_fix" if found.update else "rebound_fix_name"
    return case.words("rebound_why", **named(found)), case.words(fix, **named(found))


class Plain(ast.NodeTransformer):
    """Leaves out what makes a tensor require gradients."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The call without `requires_grad=True`; what stands before `.requires_grad_()`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
            return node.func.value
        node.keywords = [each for each in node.keywords if each.arg != "requires_grad"]
        return node


def leaf_behind(case: Case, tensor: str) -> tuple[Said, Said, Span] | None:
    """Why and fix for a tensor that was computed, in the statement which creates it, from a leaf that nothing
    else names; and that statement. None for any other tensor."""
    event = case.scene.index.births.get(tensor)
    tree = None if event is None else statement_around(case, event.span)
    if event is None or event.span is None or not isinstance(tree, ast.Assign) or len(tree.targets) != 1:
        return None
    new = Plain().visit(ast.parse(ast.unparse(tree.value), mode="eval")).body
    if ast.unparse(new) == ast.unparse(tree.value):
        return None
    name, source = ast.unparse(tree.targets[0]), written_as(case, tree)
    code = quoted(f"{name} = ({ast.unparse(new)}).requires_grad_()")
    if code is None:
        return None
    why = case.words("leaf_behind_why", name=name, source=source, line=event.span.line)
    return why, case.words("leaf_behind_fix", name=name, code=code), event.span
