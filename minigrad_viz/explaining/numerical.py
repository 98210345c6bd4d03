"""A gradcheck that failed: what it compared, as matrices, and whose backward is wrong.

The numbers are those that the gradcheck compared itself: the trace has them. Of the source only what can be
read plainly is believed: a class that the cell defines once, a function that is one expression, names that
are assigned once.
"""

from __future__ import annotations

import ast
import math
from typing import Any, NamedTuple

import numpy as np

from ..numbers import number
from ..trace.events import Created, Snapshot, TensorState
from ..trace.explained import Explanation, Matrices, Matrix
from ..trace.where import Span
from ..words import text
from .case import Case, Fix, Values, sure
from .edits import requiring
from .failed_call import FailedCall, call_rule
from .operands import FLOATING
from .rules import rule
from .syntax import assigned_once, expression, last_name, named, span_at, stores

# ── what the source says of it ──────────────────────────────────────────────────────────────────────────────

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
    found = [part for part in case.syntax() if getattr(part, "name", None) == name]
    return found[0] if len(found) == 1 and case.ran(found[0]) else None


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


# ── what is said of it ──────────────────────────────────────────────────────────────────────────────────────

SINGLE = ("float32", "complex64", "float16", "bfloat16")
COARSE = 1e-4  # with a step as large as this, single precision may do

Array = np.ndarray[Any, Any]
Input = tuple[str, TensorState]  # of the checked function: its text in the source, and how it stood


class JacobianPair(NamedTuple):
    """One output by one input: the Jacobians of both kinds, a row per element of the input and a column per
    element of the output (of a complex output first the real parts, then the imaginary ones). `wrong` are the
    places that do not agree, the worst first."""

    output: int
    input: int
    numerical: Array
    analytical: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    dtype: str
    wrong: tuple[tuple[int, int], ...]


@rule(
    "jacobian_mismatch",
    "Jacobian .*mismatch for output {output} with respect to input {input},\nnumerical:",
)
def jacobian_mismatch(case: Case, output: int, input: int) -> Explanation | None:
    """The derivative by backward is not that by differences."""
    last, call = sure(case.failed).compared, sure(check_of(case))
    given = inputs_of(case, call)
    learning = [k for k, (_, state) in enumerate(given or ()) if state.requires_grad]
    place = learning[input] if input < len(learning) else None
    mine = given[place] if given is not None and place is not None else None
    pair = pair_of(case, output, input, mine)
    row = case.words("check_input", j=input) if mine is None else mine[0]
    title = case.words("check_title", row=row, i=output)
    shown = () if pair is None else (compared(title, pair, case.lang),)
    imprecise = ", ".join(single(case, given))
    if imprecise and last is not None and last.eps < COARSE:
        values: Values = {"names": imprecise, "eps": f"{last.eps:g}", "key": "single_precision"}
        told = case.explain("why_single_precision", "fix_single_precision", **values)
        return told._replace(matrices=shown)
    forward = "forward mode" in case.error
    wrong = None if call.second or forward else culprit(case, call, place)
    values, fix = {"i": output, "j": input}, ""
    if wrong is not None:
        fix = "fix_jacobian_input" if wrong.exact and mine is not None else "fix_jacobian"
        values |= {"function": wrong.name, "line": wrong.span.line, "name": mine[0] if mine else ""}
    why = "why_jacobian_second" if call.second else "why_jacobian"
    if pair is not None and pair.wrong:
        why = "why_jacobian_place_second" if call.second else "why_jacobian_place"
        values |= worst_of(pair)
    cause = None if wrong is None else wrong.span
    return case.explain(why, fix, cause=cause, **values)._replace(matrices=shown)


def worst_of(pair: JacobianPair) -> dict[str, object]:
    """What does not agree, with the numbers of the worst place."""
    worst = row, column = pair.wrong[0]
    return {
        "above": pair.columns[column],
        "below": pair.rows[row],
        "numerical": number(pair.numerical[worst].item(), pair.dtype),
        "analytical": number(pair.analytical[worst].item(), pair.dtype),
        "n": len(pair.wrong),
        "total": len(pair.rows) * len(pair.columns),
    }


# ── the inputs ────────────────────────────────────────────────────────────────────────────────────────────


def inputs_of(case: Case, call: Call) -> list[Input] | None:
    """The inputs of the call; None unless each of them is a tensor that is known."""
    assert case.failed is not None
    known = dict(case.failed.named)
    last = next((e for e in reversed(case.before) if isinstance(e, Snapshot)), None)
    known = dict(last.rows if last is not None else ()) | known
    names = list(map(ast.unparse, call.inputs))
    if not names or any(name not in known for name in names):
        return None
    return [(name, known[name]) for name in names]


def single(case: Case, given: list[Input] | None) -> list[str]:
    """The inputs that require gradients in single precision, or coarser. Where they are not known, all
    tensors of the cell that do so, if there are no others and the text tells of no other dtype."""
    if given is not None:
        return [name for name, state in given if state.requires_grad and dtype_of(state) in SINGLE]
    made = {e.tensor.id: e for e in case.before if isinstance(e, Created) and e.tensor.requires_grad}
    plain = "dtype=" not in case.error and all(dtype_of(event.tensor) in SINGLE for event in made.values())
    return [case.name(id) for id in made] if plain else []


def dtype_of(state: TensorState) -> str:
    """The dtype of a tensor, "" where it is not known."""
    return "" if state.value is None else state.value.dtype


# ── the numbers ───────────────────────────────────────────────────────────────────────────────────────────


def pair_of(case: Case, output: int, input: int, mine: Input | None) -> JacobianPair | None:
    """The numerical and the analytical matrix; None if they were not kept."""
    assert case.failed is not None
    found = case.failed.compared
    if found is None or len(found.numerical.shape) != 2:
        return None
    high, wide = found.numerical.shape
    numerical, analytical = (
        np.array(value.items).reshape(high, wide) for value in (found.numerical, found.analytical)
    )
    value = None if mine is None else mine[1].value
    rows = elements("in" if mine is None else mine[0], high, None if value is None else value.shape)
    columns = elements(f"out{output or ''}", wide)
    wrong = places(analytical, numerical, found.atol, found.rtol)
    return JacobianPair(output, input, numerical, analytical, rows, columns, found.numerical.dtype, wrong)


def places(a: Array, n: Array, atol: float, rtol: float) -> tuple[tuple[int, int], ...]:
    """The places that do not agree, the worst first."""
    with np.errstate(invalid="ignore"):
        size = np.nan_to_num(np.abs(a - n), nan=np.inf)
        wrong = np.argwhere(~np.isclose(a, n, rtol=rtol, atol=atol)).tolist()
    return tuple(sorted(((i, j) for i, j in wrong), key=lambda at: -size[at]))


# ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────


def compared(title: str, pair: JacobianPair, lang: str | None = None) -> Matrices:
    """analytical − numerical = difference, with the wrong places marked in each."""
    told = (
        (text("check_analytical", lang), pair.analytical, ""),
        (text("check_numerical", lang), pair.numerical, "−"),
        (text("check_difference", lang), pair.analytical - pair.numerical, "="),
    )
    known = pair.dtype, pair.rows, pair.columns, pair.wrong
    shown = (
        Matrix(name, tuple(map(tuple, (array + 0.0).tolist())), *known, sign)
        for name, array, sign in told  # + 0.0: without −0
    )
    return Matrices(title, tuple(shown))


def elements(name: str, n: int, shape: tuple[int, ...] | None = None) -> tuple[str, ...]:
    """What to call the `n` elements of a tensor: `x[0, 1]`; a single one like the tensor."""
    if n == 1:
        return (name,)
    places = (
        list(np.ndindex(shape)) if shape is not None and math.prod(shape) == n else [(k,) for k in range(n)]
    )
    return tuple(f"{name}[{', '.join(map(str, place))}]" for place in places)


@call_rule("check_no_input", "gradcheck expects at least one input tensor to require grad")
def no_input(failed: FailedCall) -> Explanation:
    """No input of a gradcheck requires gradients."""
    text = requiring(failed.case, [each.id for each in failed.operands if each.dtype.startswith(FLOATING)])
    return failed.explain("check_no_input", text and Fix(text))
