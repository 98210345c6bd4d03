"""A None where a tensor is needed: a function without `return`, an argument that was left out."""

from __future__ import annotations

import ast

from ..trace.explained import Explanation
from .case import Fix, Values
from .edits import at_path, replacing
from .failed_call import FailedCall, call_rule
from .operands import layer_name, standing
from .syntax import assigned_above, last_name, span_at, taken


@call_rule(
    "none_value",
    r"^TypeError: unsupported operand type\(s\) for [^:]+: '{left}' and '(?P<right>NoneType)'",
    r"^TypeError: unsupported operand type\(s\) for [^:]+: '(?P<left>NoneType)' and '{right}'",
    r"^TypeError: '\S+' not supported between instances of '{left}' and '{right}'",
)
def operand(failed: FailedCall, left: str, right: str) -> Explanation | None:
    """One side of an operator is None."""
    node = failed.tree
    sides = list(taken(node))[:2] if isinstance(node, ast.BinOp | ast.AugAssign | ast.Compare) else []
    if not sides:
        return None
    given, other = sides if left == "NoneType" else sides[::-1]
    return of_none(failed, given, other if isinstance(node, ast.BinOp) else None)


@call_rule(
    "none_value",
    r"^TypeError: {function}\(\): argument .*position {place}\) must be Tensor, not None",
)
def argument(failed: FailedCall, function: str, place: int) -> Explanation | None:
    """An argument of a function is None, or what a layer received."""
    place, first = 0 if failed.module is not None else place - 1, failed.before
    if failed.module is not None and first is not None:
        made = without_return(failed, first.event.kind, "")
        if made is None:
            return None
        fixes = (returning(failed, made), "none_returned_fix")
        told: Values = {"layer": layer_name(failed.module), "before": layer_name(first)}
        return failed.explain("none_layer_why", *fixes, function="forward", **told)
    known = failed.module is not None or failed.function == function
    return of_none(failed, failed.arguments[place]) if known and place < len(failed.arguments) else None


@call_rule("none_value", "^TypeError: expected Tensor as element {place} in argument 0, but got NoneType")
def entry(failed: FailedCall, place: int) -> Explanation | None:
    """An entry of a list is None."""
    given = failed.arguments[0] if failed.arguments else None
    entries = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    return of_none(failed, entries[place]) if place < len(entries) else None


@call_rule("none_value", "^AttributeError: 'NoneType' object has no attribute '{name}'")
def attribute(failed: FailedCall, name: str) -> Explanation | None:
    """A method was called on None."""
    part = failed.attribute
    return of_none(failed, part.value) if part is not None and part.attr == name else None


def of_none(failed: FailedCall, given: ast.expr, other: ast.expr | None = None) -> Explanation | None:
    """The explanation for an expression that is None; `other` is what would be left without it."""
    case, name = failed.case, ast.unparse(given)
    if standing(case, name) is not None:
        return None
    made = next(iter(assigned_above(case, name)), given)
    line = case.line(case.span) or 0
    told: Values = {"name": name, "source": ast.unparse(made), "line": getattr(made, "lineno", line)}
    cause = None if made is given else span_at(case, made)
    if isinstance(made, ast.Call):
        module = at_path(case, ast.unparse(made.func))
        kind = last_name(module) if isinstance(module, ast.Call) else ""
        function = without_return(failed, kind, last_name(made))
        if function is None:
            return failed.explain("none_call_why", "none_call_fix", cause=cause, **told)
        fixes = (returning(failed, function), "none_returned_fix")
        return failed.explain("none_returned_why", *fixes, cause=cause, function=function.name, **told)
    if not isinstance(made, ast.Constant) or made.value is not None:
        return None
    why = "none_value_why" if made is given else "none_assigned_why"
    left = None if other is None else failed.instead(ast.unparse(other), "none_without_fix")
    return failed.explain(why, left, "none_value_fix", cause=cause, **told)


def without_return(failed: FailedCall, kind: str, name: str) -> ast.FunctionDef | None:
    """The forward of a class of the cell, else the function `name` of the cell, if it returns nothing."""
    parts = list(failed.case.parts())
    classes = [part for part in parts if isinstance(part, ast.ClassDef) and part.name == kind]
    inside = [part for each in classes for part in each.body if getattr(part, "name", "") == "forward"]
    found: list[ast.AST] = [*inside] or [part for part in parts if name and getattr(part, "name", "") == name]
    returns = any(isinstance(part, ast.Return | ast.Yield) for each in found for part in ast.walk(each))
    one = found[0] if len(found) == 1 and not returns else None
    return one if isinstance(one, ast.FunctionDef) else None


def returning(failed: FailedCall, function: ast.FunctionDef) -> Fix | None:
    """What to do: let a function return what it computed last."""
    case, last = failed.case, function.body[-1]
    if isinstance(last, ast.Expr):
        return replacing(case, last.value, {last.value: f"return {ast.unparse(last.value)}"})
    target = last.targets[0] if isinstance(last, ast.Assign) else getattr(last, "target", None)
    if not isinstance(target, ast.Name):
        return None
    code = f"return {target.id}"
    text = failed.words("none_return_fix", function=function.name, line=last.end_lineno, code=code)
    return Fix(text, span_at(case, last))
