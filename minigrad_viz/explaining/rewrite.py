"""Fixes as code: a statement of the cell, written so that it does what was meant."""

from __future__ import annotations

import ast
from typing import Any

import minigrad

from ..trace.source_text import range_of
from ..trace.statements import find
from ..trace.where import Span
from ..words import columns
from .case import Case

LONGEST = 80  # columns of code that is quoted
NO_GRAD = "with torch.no_grad(): "
FILLED = {"zero_": "zeros_like", "fill_": "full_like", "normal_": "randn_like", "uniform_": "rand_like"}


def statement_around(case: Case, span: Span | None) -> ast.stmt | None:
    """The innermost statement of the cell around an expression."""
    if span is None or span.origin or not 0 < span.line <= len(case.source.lines):
        return None
    column = len(case.source.lines[span.line - 1][: span.column].encode())
    found = find(case.source.tree, span.line, column)
    return None if found is None else found.statement


def written_as(case: Case, tree: ast.AST) -> str:
    """A part of the cell as it is written there."""
    return case.source.cut(case.source.in_characters(range_of(tree)))


def quoted(tree: ast.AST | str | None) -> str | None:
    """Code that may stand in a sentence; None for what is too long, or has a block."""
    text = tree if isinstance(tree, str) else "" if tree is None else ast.unparse(tree)
    return text if text and "\n" not in text and columns(text) <= LONGEST else None


def in_place(case: Case, span: Span | None) -> str | None:
    """The statement that writes in place, inside no_grad(); None where it is no simple one."""
    tree = statement_around(case, span)
    if not isinstance(tree, ast.Expr | ast.AugAssign | ast.Assign):
        return None
    text = quoted(written_as(case, tree))
    return None if text is None else NO_GRAD + text


def out_of_place(case: Case, span: Span | None) -> str | None:
    """What gives the variable a new tensor instead of writing to its memory: `w = w + 1` for `w += 1`,
    `w = w.clone(); w[0] = 5` for an assignment to a part; None where that is not known."""
    tree = statement_around(case, span)
    if isinstance(tree, ast.AugAssign) and plain_target(tree.target):
        return quoted(assigned(tree.target, ast.BinOp(loaded(tree.target), tree.op, tree.value)))
    if isinstance(tree, ast.Assign | ast.AugAssign):
        target = tree.targets[0] if isinstance(tree, ast.Assign) else tree.target
        if isinstance(target, ast.Subscript) and plain_target(target.value):
            copied = ast.unparse(assigned(target.value, method(loaded(target.value), "clone")))
            return quoted(f"{copied}; {written_as(case, tree)}")
    call = tree.value if isinstance(tree, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    owner, name = call.func.value, call.func.attr
    if ast.unparse(owner) == "torch" and call.args:  # torch.relu_(h)
        owner, call = call.args[0], ast.Call(ast.Attribute(call.args[0], name), call.args[1:], call.keywords)
    if not plain_target(owner) or not name.endswith("_") or name.endswith("__"):
        return None
    new = replaced(call, owner, name)
    if new is None:
        return quoted(f"{ast.unparse(owner)} = {ast.unparse(method(owner, 'clone'))}; {ast.unparse(call)}")
    return quoted(assigned(owner, new))


def replaced(call: ast.Call, owner: ast.expr, name: str) -> ast.expr | None:
    """The call without its writing: `x.mul(2)` for `x.mul_(2)`; None for an op that only writes."""
    if name == "copy_" and call.args:
        return method(call.args[0], "clone")
    if name in FILLED:
        given = call.args if name == "fill_" else []
        return ast.Call(ast.Attribute(ast.Name("torch"), FILLED[name]), [owner, *given], [])
    if not hasattr(minigrad.Tensor, name[:-1]):
        return None
    return ast.Call(ast.Attribute(owner, name[:-1]), call.args, call.keywords)


def plain_target(tree: ast.expr) -> bool:
    """Whether a tree is a variable, or an attribute of one."""
    return isinstance(tree, ast.Name) or (isinstance(tree, ast.Attribute) and plain_target(tree.value))


def loaded(tree: ast.expr) -> Any:
    """The same tree, as a value."""
    return ast.parse(ast.unparse(tree), mode="eval").body


def assigned(target: ast.expr, value: ast.expr) -> ast.Assign:
    """`target = value`."""
    return ast.Assign([target], value, lineno=0)


def method(owner: ast.expr, name: str) -> ast.Call:
    """`owner.name()`."""
    return ast.Call(ast.Attribute(owner, name), [], [])
