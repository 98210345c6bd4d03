"""A None where a tensor is needed: a `.grad` that is None, as in `0.1 * x.grad`; a function without `return`;
an argument that was left out. And Python numbers where a tensor is needed."""

from __future__ import annotations

import ast

from ..trace.events import ModuleCalled, TensorState
from ..trace.graph import Explanation
from .case import Case, Fix, Values, need, require, rule
from .edits import at_path, quote, replace_part, require_gradients, with_tensors
from .failed_call import FailedCall, call_rule, layer_name, operand_tensor
from .lost_paths import as_in_place_write, leaf_behind, reads, reassignment_of, why_and_fix
from .missing_grad import Answer, Facts, from_scenes, in_general
from .syntax import (
    assigned_above,
    assignments,
    expression_of_span,
    function_around,
    last_name,
    operands_in,
    span_at,
    statement_around,
)


@rule("none_grad", "^(?:TypeError|AttributeError): .*'?NoneType'?")
def none_grad(case: Case) -> Explanation | None:
    """The gradient that a failing expression used is None: why it is."""
    need(case.failed is not None, not case.by_hand)
    text, state = require(without_gradient(case))
    lost = None if state.is_leaf and state.requires_grad else reassignment_of(case, state.id)
    hidden = None if state.is_leaf else leaf_behind(case, state.id)
    told = hidden if lost is None else (*why_and_fix(case, lost), lost.span)
    if told is not None:
        why, repair, cause = told
        marks = case.card(state.id, label=case.words("mark_computed"))
        return case.explain(why, repair, marks, cause)
    answer = why_grad_is_none(case, text, state)
    if answer is None:
        return case.explain("none_grad_why", name=text)
    fix = FIXES.get(answer.key, "")
    fix = (
        (require_gradients(case, [state.id]) if fix == "none_grad_flag_fix" else None) or answer.repair or fix
    )
    return case.explain("", fix, case.card(state.id), name=text)._replace(why=answer.sentence)


def without_gradient(case: Case) -> tuple[str, TensorState] | None:
    """The tensor whose `.grad` the expression reads, and that has none, with its text; None if there are
    several."""
    found: dict[str, TensorState] = {}
    tree = expression_of_span(case.span)
    for part in () if tree is None else ast.walk(tree):
        if isinstance(part, ast.Attribute) and part.attr == "grad":
            text = ast.unparse(part.value)
            state = operand_tensor(case, text)
            if state is not None and state.grad is None:
                found.setdefault(text, state)
    return next(iter(found.items())) if len(found) == 1 else None


def why_grad_is_none(case: Case, text: str, state: TensorState) -> Answer | None:
    """Why the gradient is None."""
    if not case.scene.index.calls and not case.trace.skipped and state.requires_grad:
        return Answer("none_grad_early", case.words("none_grad_early", name=text))
    dtype = "" if state.value is None else state.value.dtype
    facts = Facts(text, dtype, state.requires_grad, state.is_leaf, bool(state.retains_grad), None)
    return from_scenes(case.scenes, state.id, facts, case.lang) or in_general(facts, case.lang)


FIXES = {  # what to do, by the reason
    "none_grad_early": "none_grad_early_fix",
    "why_grad_call": "none_grad_call_fix",
    "why_no_flag": "none_grad_flag_fix",
    "why_reset_at": "none_grad_reset_fix",
    **dict.fromkeys(("why_not_leaf", "why_not_leaf_value", "why_retained_late"), "non_leaf_grad_fix"),
    **dict.fromkeys(("why_no_path", "why_not_in_graph"), "none_grad_skip_fix"),
}


@rule("assigned_parameter", "^TypeError: cannot assign '[^']*Tensor' as parameter '[^']*'")
def assigned_parameter(case: Case) -> Explanation | None:
    """A computed tensor was to take the place of a parameter of a module: `m.weight = m.weight - …`."""
    tree = None if case.by_hand else statement_around(case, case.span)
    if not isinstance(tree, ast.Assign) or len(tree.targets) != 1:
        return None
    name = ast.unparse(tree.targets[0])
    update = (
        quote(as_in_place_write(case, tree, tree.value, name)) if reads(tree.value, f"{name}.grad") else None
    )
    fix = "" if update is None else "rebound_fix"
    return case.explain("assigned_parameter", fix, name=name, update=update)


@call_rule(
    "python_number",
    "'(?P<kind>float|int|list)' object has no .*'(?:backward|grad|requires_grad|detach|item)'",
)
def python_number(failed: FailedCall, kind: str) -> Explanation | None:
    """A Python number was used like a tensor: it was made by `item()`, or the like, on the way."""
    case, part = failed.case, require(failed.attribute)
    name = ast.unparse(part.value)
    same = [made.value for target, made in assignments(case) if target == name]
    names = {name} | {value.id for value in same if isinstance(value, ast.Name)}
    writes: list[ast.Assign | ast.AugAssign] = [*case.executed(ast.Assign), *case.executed(ast.AugAssign)]
    for made in writes:
        target = made.targets[0] if isinstance(made, ast.Assign) else made.target
        if ast.unparse(target) not in names:
            continue
        text, tensor = ast.unparse(made), with_tensors(case, made)
        if tensor != text:
            cause = span_at(case, made)
            values: Values = {"name": name, "source": cause.text, "line": cause.line, "kind": kind}
            return case.explain("python_number", "", (), cause, code=tensor, **values)
    return None


@call_rule(
    "none_value",
    r"^TypeError: unsupported operand type\(s\) for [^:]+: '{left}' and '(?P<right>NoneType)'",
    r"^TypeError: unsupported operand type\(s\) for [^:]+: '(?P<left>NoneType)' and '{right}'",
    r"^TypeError: '\S+' not supported between instances of '{left}' and '{right}'",
)
def none_operand(failed: FailedCall, left: str, right: str) -> Explanation | None:
    """One side of an operator is None."""
    node = failed.tree
    sides = list(operands_in(node))[:2] if isinstance(node, ast.BinOp | ast.AugAssign | ast.Compare) else []
    need(sides)
    given, other = sides if left == "NoneType" else sides[::-1]
    return of_none(failed, given, other if isinstance(node, ast.BinOp) else None)


@call_rule(
    "none_value",
    r"^TypeError: {function}\(\): argument .*position {place}\) must be Tensor, not None",
)
def none_argument(failed: FailedCall, function: str, place: int) -> Explanation | None:
    """An argument of a function is None, or what a layer received."""
    place, first = 0 if failed.module is not None else place - 1, failed.before
    if failed.module is not None and first is not None:
        made = require(without_return(failed, first.event.kind, ""))
        fixes = (add_return(failed, made), "none_returned_fix")
        told: Values = {"layer": layer_name(failed.module), "before": layer_name(first)}
        return failed.explain("none_layer_why", *fixes, function="forward", **told)
    given = failed.arguments[place : place + 1]
    known = failed.module is not None or failed.function == function
    if not known and given:  # a function with another name, which was given what a module returned
        known = module_called(failed.case, given[0]) is not None
    return of_none(failed, given[0]) if known and given else None


@call_rule("none_value", "^TypeError: expected Tensor as element {place} in argument 0, but got NoneType")
def entry(failed: FailedCall, place: int) -> Explanation | None:
    """An entry of a list is None."""
    given = failed.arguments[0] if failed.arguments else None
    entries = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    return of_none(failed, entries[place]) if place < len(entries) else None


@call_rule("none_value", "^AttributeError: 'NoneType' object has no attribute '{name}'")
def none_attribute(failed: FailedCall, name: str) -> Explanation | None:
    """A method was called on None."""
    part = require(failed.attribute)
    need(part.attr == name)
    return of_none(failed, part.value)


def of_none(failed: FailedCall, given: ast.expr, other: ast.expr | None = None) -> Explanation | None:
    """The explanation for an expression that is None; `other` is what would be left without it."""
    case, name = failed.case, ast.unparse(given)
    need(operand_tensor(case, name) is None)
    made = next(iter(assigned_above(case, name)), given)
    line = case.line(case.span) or 0
    told: Values = {"name": name, "source": ast.unparse(made), "line": getattr(made, "lineno", line)}
    cause = None if made is given else span_at(case, made)
    if isinstance(made, ast.Call):
        module, called = at_path(case, ast.unparse(made.func)), module_called(case, made)
        kind = last_name(module) if isinstance(module, ast.Call) else called or ""
        function = without_return(failed, kind, last_name(made))
        if function is None:
            return failed.explain("none_call", cause=cause, **told)
        fixes = (add_return(failed, function), "none_returned_fix")
        return failed.explain("none_returned_why", *fixes, cause=cause, function=function.name, **told)
    around = default_of(case, given)
    if around is not None:
        told["function"] = around.name
        return failed.explain("none_default", cause=cause, **told)
    need(is_none(made))
    why = "none_value_why" if made is given else "none_assigned_why"
    left = None if other is None else failed.instead(ast.unparse(other), "none_value_fix")
    return failed.explain(why, left, "none_value_fix", cause=cause, **told)


def module_called(case: Case, tree: ast.expr) -> str | None:
    """The class of the module that an expression has called last."""
    code = ast.unparse(tree)
    for event in reversed(case.earlier(ModuleCalled)):
        if event.span is not None:
            called = expression_of_span(event.span)
            if called is not None and ast.unparse(called) == code:
                return event.kind
    return None


def default_of(case: Case, given: ast.expr) -> ast.FunctionDef | None:
    """The function around the failing line, if `given` is a parameter of it whose default is None."""
    function = function_around(case, case.span)
    if not isinstance(function, ast.FunctionDef):
        return None
    args = function.args
    pairs = [*zip(args.args[::-1], args.defaults[::-1]), *zip(args.kwonlyargs, args.kw_defaults)]
    mine = any(each.arg == ast.unparse(given) and is_none(value) for each, value in pairs)
    return function if mine else None


def is_none(value: ast.expr | None) -> bool:
    """Whether an expression is the literal None."""
    return isinstance(value, ast.Constant) and value.value is None


def without_return(failed: FailedCall, kind: str, name: str) -> ast.FunctionDef | None:
    """The forward of a class of the cell, else the function `name` of the cell, if it returns nothing; None
    if it is not known that it ran."""
    parts = list(failed.case.syntax())
    classes = [part for part in parts if isinstance(part, ast.ClassDef) and part.name == kind]
    inside = [part for each in classes for part in each.body if getattr(part, "name", "") == "forward"]
    found: list[ast.AST] = [*inside] or [part for part in parts if name and getattr(part, "name", "") == name]
    returns = any(isinstance(part, ast.Return | ast.Yield) for each in found for part in ast.walk(each))
    one = found[0] if len(found) == 1 and not returns else None
    return one if isinstance(one, ast.FunctionDef) and failed.case.ran(one.body[0]) else None


def add_return(failed: FailedCall, function: ast.FunctionDef) -> Fix | None:
    """What to do: let a function return what it computed last."""
    case, last = failed.case, function.body[-1]
    if isinstance(last, ast.Expr):
        return replace_part(case, last.value, {last.value: f"return {ast.unparse(last.value)}"})
    target = last.targets[0] if isinstance(last, ast.Assign) else getattr(last, "target", None)
    if not isinstance(target, ast.Name):
        return None
    code = f"return {target.id}"
    text = failed.words("none_returned_fix", function=function.name, line=last.end_lineno, code=code)
    return Fix(text, span_at(case, last))
