"""A gradcheck that failed: what it compared, as matrices, and whose backward is wrong.

The numbers are those that the gradcheck compared itself: the trace has them.
"""

from __future__ import annotations

import ast
import math
from typing import Any, NamedTuple

import numpy as np

from ..numbers import number
from ..trace.events import Created, Snapshot, TensorState
from ..trace.explained import Explanation, Matrices, Matrix
from ..words import text
from .case import Case, Fix, Values, rule, sure
from .edits import requiring
from .failed_call import FailedCall, call_rule
from .gradcheck_call import Call, check_of, culprit
from .operands import FLOATING

SINGLE = ("float32", "complex64", "float16", "bfloat16")
COARSE = 1e-4  # with a step as large as this, single precision may do


Array = np.ndarray[Any, Any]


class Input(NamedTuple):
    """An input of the checked function: its text in the source, and how it stood."""

    name: str
    state: TensorState


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
    learning = [k for k, one in enumerate(given or ()) if one.state.requires_grad]
    place = learning[input] if input < len(learning) else None
    mine = given[place] if given is not None and place is not None else None
    pair = pair_of(case, output, input, mine)
    row = case.words("check_input", j=input) if mine is None else mine.name
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
        values |= {"function": wrong.name, "line": wrong.span.line, "name": mine.name if mine else ""}
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


# ── the inputs ──────────────────────────────────────────────────────────────────────────────────────────────


def inputs_of(case: Case, call: Call) -> list[Input] | None:
    """The inputs of the call; None unless each of them is a tensor that is known."""
    assert case.failed is not None
    known = dict(case.failed.named)
    last = next((e for e in reversed(case.before) if isinstance(e, Snapshot)), None)
    known = dict(last.rows if last is not None else ()) | known
    names = list(map(ast.unparse, call.inputs))
    if not names or any(name not in known for name in names):
        return None
    return [Input(name, known[name]) for name in names]


def single(case: Case, given: list[Input] | None) -> list[str]:
    """The inputs that require gradients in single precision, or coarser. Where they are not known, all
    tensors of the cell that do so, if there are no others and the text tells of no other dtype."""
    if given is not None:
        asking = [(one.name, one.state) for one in given if one.state.requires_grad]
        return [name for name, state in asking if dtype_of(state) in SINGLE]
    made = {e.tensor.id: e for e in case.before if isinstance(e, Created) and e.tensor.requires_grad}
    plain = "dtype=" not in case.error and all(dtype_of(event.tensor) in SINGLE for event in made.values())
    return [case.name(id) for id in made] if plain else []


def dtype_of(state: TensorState) -> str:
    """The dtype of a tensor, "" where it is not known."""
    return "" if state.value is None else state.value.dtype


# ── the numbers ─────────────────────────────────────────────────────────────────────────────────────────────


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
    value = None if mine is None else mine.state.value
    rows = elements("in" if mine is None else mine.name, high, None if value is None else value.shape)
    columns = elements(f"out{output or ''}", wide)
    wrong = places(analytical, numerical, found.atol, found.rtol)
    return JacobianPair(output, input, numerical, analytical, rows, columns, found.numerical.dtype, wrong)


def places(a: Array, n: Array, atol: float, rtol: float) -> tuple[tuple[int, int], ...]:
    """The places that do not agree, the worst first."""
    with np.errstate(invalid="ignore"):
        size = np.nan_to_num(np.abs(a - n), nan=np.inf)
        wrong = np.argwhere(~np.isclose(a, n, rtol=rtol, atol=atol)).tolist()
    return tuple(sorted(((i, j) for i, j in wrong), key=lambda at: -size[at]))


# ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────


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
    return failed.explain("check_no_input_why", text and Fix(text), "check_no_input_fix")
