"""What the source says of a `gradcheck`: its inputs, and whose backward it checked.

Only what can be read plainly is believed: a class that the cell defines once, a function that is one
expression, names that are assigned once.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from ..trace.where import Span
from .case import Case
from .syntax import assigned_once, expression, last_name, named, span_at, stores

CHECKS = ("gradcheck", "gradgradcheck")
CUTTING = ("detach", "no_grad", "data", "item", "numpy", "tolist", "set_grad_enabled", "inference_mode")


class Call(NamedTuple):
    """A call of `gradcheck` or (`second`) `gradgradcheck`. `inputs` are the expressions of its inputs, none
    where they cannot be read."""

    function: ast.expr
    inputs: tuple[ast.expr, ...]
    second: bool


class Culprit(NamedTuple):
    """A backward that gives a wrong gradient: the name of its Function, and where the source says what it
    returns, for the input in question if `exact`."""

    name: str
    span: Span
    exact: bool


def check_of(case: Case) -> Call | None:
    """The check that failed; None if the failing expression has none, or more than one."""
    tree = expression(case.span)
    parts = [] if tree is None else [part for part in ast.walk(tree) if isinstance(part, ast.Call)]
    calls = [call for call in parts if last_name(call) in CHECKS]
    if len(calls) != 1 or any(isinstance(each, ast.Starred) for each in calls[0].args):
        return None
    given: dict[str | None, ast.expr] = dict(zip(("func", "inputs"), calls[0].args, strict=False))
    given |= {each.arg: each.value for each in calls[0].keywords}
    inputs, function = given.get("inputs"), given.get("func")
    if isinstance(inputs, ast.Name):
        assigned = assigned_once(case, inputs.id)
        inputs = assigned if isinstance(assigned, ast.Tuple | ast.List) else inputs
    each = inputs.elts if isinstance(inputs, ast.Tuple | ast.List) else [inputs] if inputs else []
    each = [] if any(isinstance(one, ast.Starred) for one in each) else each
    return None if function is None else Call(function, tuple(each), last_name(calls[0]) == CHECKS[1])


def culprit(case: Case, call: Call, input: int | None) -> Culprit | None:
    """The backward that gives a wrong gradient for input number `input` of all (None: it is not known which).
    None unless there is exactly one custom Function in what was checked."""
    whole = applied(case, call.function)
    if whole is not None:
        return returned(case, whole, input)
    parameters, body = opened(case, call.function)
    parts = [] if body is None else list(ast.walk(body))
    used = [(applied(case, part.func), part) for part in parts if isinstance(part, ast.Call)]
    uses = [(owner, use) for owner, use in used if owner is not None]
    if len(uses) != 1 or any(named(part) in CUTTING for part in parts):
        return None
    owner, use = uses[0]
    name = parameters[input] if input is not None and input < len(parameters) else ""
    mine = [part for part in parts if isinstance(part, ast.Name) and part.id == name]
    places = [k for k, argument in enumerate(use.args) if argument in mine]
    return returned(case, owner, places[0] if len(mine) == len(places) == 1 else None)


def applied(case: Case, function: ast.expr) -> ast.ClassDef | None:
    """The custom Function whose `apply` an expression is."""
    if isinstance(function, ast.Name):
        function = assigned_once(case, function.id) or function
    if not isinstance(function, ast.Attribute) or function.attr != "apply":
        return None
    owner = defined(case, named(function.value))
    mine = isinstance(owner, ast.ClassDef) and any(named(base) == "Function" for base in owner.bases)
    return owner if mine else None


def defined(case: Case, name: str) -> Any:
    """The class or function of that name, if the cell defines it exactly once."""
    found = [part for part in case.parts() if getattr(part, "name", None) == name]
    return found[0] if len(found) == 1 else None


def opened(case: Case, function: ast.expr) -> tuple[list[str], ast.expr | None]:
    """The parameters of a function that is one expression, and that expression."""
    known: Any = function
    if isinstance(function, ast.Name):
        known = assigned_once(case, function.id) or defined(case, function.id)
    if isinstance(known, ast.FunctionDef):
        *told, last = known.body
        plain = isinstance(last, ast.Return) and all(isinstance(each, ast.Expr) for each in told)
        return [each.arg for each in known.args.args], last.value if plain else None  # type: ignore
    return ([a.arg for a in known.args.args], known.body) if isinstance(known, ast.Lambda) else ([], None)


def returned(case: Case, owner: ast.ClassDef, input: int | None) -> Culprit | None:
    """Where the backward of a Function says what it returns: for one input, or (None) at all."""
    methods = [part for part in owner.body if isinstance(part, ast.FunctionDef) and part.name == "backward"]
    parts = list(ast.walk(methods[0])) if len(methods) == 1 else []
    returns = [part for part in parts if isinstance(part, ast.Return) and part.value is not None]
    if len(returns) != 1:
        return None
    where: ast.AST = returns[0]
    each = returns[0].value.elts if isinstance(returns[0].value, ast.Tuple) else [returns[0].value]
    if input is None or input >= len(each) or any(isinstance(one, ast.Starred) for one in each):
        return Culprit(owner.name, span_at(case, where), False)
    part = each[input]
    plain = [one for one in parts if isinstance(one, ast.stmt) and not hasattr(one, "body")]
    made = [one for one in plain if isinstance(part, ast.Name) and part.id in stores(one)]
    if len(made) == 1 and isinstance(made[0], ast.Assign):
        where = made[0]
    elif len(each) > 1 and part is not None:
        where = part
    return Culprit(owner.name, span_at(case, where), True)
