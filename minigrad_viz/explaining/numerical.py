"""A gradcheck that failed: what it compared, as matrices, and whose backward is wrong.

The numbers are those that the gradcheck compared itself: the trace has them.
"""

from __future__ import annotations

import ast
import math
import re
from typing import Any, NamedTuple

import numpy as np

from ..numbers import number
from ..trace.events import Created, Snapshot, TensorState
from ..trace.explained import Explanation, Matrices, Matrix
from ..words import text
from .case import Case, Values, rule
from .edits import requiring
from .failed_call import FLOATING, FailedCall, Fix, call_rule
from .gradcheck_call import Call, Source

MISMATCH = (
    r"Jacobian (?:computed with forward mode )?mismatch for output (?P<output>\d+) "
    r"with respect to input (?P<input>\d+),\nnumerical:.*"
)
SINGLE = ("float32", "complex64", "float16", "bfloat16")
COARSE = 1e-4  # with a step as large as this, single precision may do


Array = np.ndarray[Any, Any]


class Input(NamedTuple):
    """An input of the checked function: its text in the source, and how it stood."""

    name: str
    state: TensorState


class Pair(NamedTuple):
    """What a gradcheck compared: both matrices, what their rows and columns stand for, and the wrong places,
    the worst first."""

    numerical: Array
    analytical: Array
    dtype: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    wrong: tuple[tuple[int, int], ...]


def jacobian_mismatch(case: Case, match: re.Match[str]) -> Explanation | None:
    """The derivative by backward is not that by differences."""
    source = Source(case.trace.source)
    call = source.call(case.span)
    if case.failed is None or call is None:
        return None
    given = inputs_of(case, call)
    learning = [k for k, one in enumerate(given or ()) if one.state.requires_grad]
    place = learning[int(match["input"])] if int(match["input"]) < len(learning) else None
    mine = given[place] if given is not None and place is not None else None
    pair = pair_of(case, match["output"], mine)
    shown = () if pair is None else (matrices(case, match, mine, pair),)
    imprecise = ", ".join(single(case, given, match[0]))
    step = None if case.failed.compared is None else case.failed.compared.eps
    if imprecise and step is not None and step < COARSE:
        values: Values = {"names": imprecise, "eps": f"{step:g}", "key": "single_precision"}
        told = case.explain("why_single_precision", "fix_single_precision", **values)
        return told._replace(matrices=shown)
    culprit = None
    if not call.second and "forward mode" not in match[0]:
        culprit = source.culprit(call, place)
    values = {"i": match["output"], "j": match["input"]}
    fix = ""
    if culprit is not None:
        fix = "fix_jacobian_input" if culprit.exact and mine is not None else "fix_jacobian"
        values |= {"function": culprit.name, "line": culprit.span.line, "name": mine.name if mine else ""}
    why = "why_jacobian_second" if call.second else "why_jacobian"
    if pair is not None and pair.wrong:
        why = "why_jacobian_place_second" if call.second else "why_jacobian_place"
        values |= worst_of(pair)
    cause = None if culprit is None else culprit.span
    return case.explain(why, fix, cause=cause, **values)._replace(matrices=shown)


def worst_of(pair: Pair) -> dict[str, object]:
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
    names = [ast.unparse(expression) for expression in call.inputs or ()]
    if not names or any(name not in known for name in names):
        return None
    return [Input(name, known[name]) for name in names]


def single(case: Case, given: list[Input] | None, told: str) -> list[str]:
    """The inputs that require gradients in single precision, or coarser. Where they are not known, all
    tensors of the cell that do so, if there are no others and the text tells of no other dtype."""
    if given is not None:
        asking = [(one.name, one.state) for one in given if one.state.requires_grad]
        return [name for name, state in asking if dtype_of(state) in SINGLE]
    made = {e.tensor.id: e for e in case.before if isinstance(e, Created) and e.tensor.requires_grad}
    plain = bool(made) and "dtype=" not in told and all(dtype_of(e.tensor) in SINGLE for e in made.values())
    return [case.name(id) for id in made] if plain else []


def dtype_of(state: TensorState) -> str:
    """The dtype of a tensor, "" where it is not known."""
    return "" if state.value is None else state.value.dtype


# ── the numbers ─────────────────────────────────────────────────────────────────────────────────────────────


def pair_of(case: Case, output: str, mine: Input | None) -> Pair | None:
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
    columns = elements("out" if output == "0" else f"out{output}", wide)
    wrong = places(analytical, numerical, found.atol, found.rtol)
    return Pair(numerical, analytical, found.numerical.dtype, rows, columns, wrong)


def places(a: Array, n: Array, atol: float, rtol: float) -> tuple[tuple[int, int], ...]:
    """The places that do not agree, the worst first."""
    with np.errstate(invalid="ignore"):
        size = np.nan_to_num(np.abs(a - n), nan=np.inf)
        wrong = np.argwhere(~np.isclose(a, n, rtol=rtol, atol=atol)).tolist()
    return tuple(sorted(((i, j) for i, j in wrong), key=lambda at: -size[at]))


# ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────


def matrices(case: Case, match: re.Match[str], mine: Input | None, pair: Pair) -> Matrices:
    """The two matrices and their difference."""
    unknown = case.words("check_input", j=match["input"])
    title = case.words("check_title", row=unknown if mine is None else mine.name, i=match["output"])
    return compared(
        title, pair.numerical, pair.analytical, pair.dtype, pair.rows, pair.columns, pair.wrong, case.lang
    )


def compared(
    title: str,
    numerical: Array,
    analytical: Array,
    dtype: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    wrong: tuple[tuple[int, int], ...],
    lang: str | None = None,
) -> Matrices:
    """analytical − numerical = difference, with the wrong places marked in each."""
    told = (
        (text("check_analytical", lang), analytical, ""),
        (text("check_numerical", lang), numerical, "−"),
        (text("check_difference", lang), analytical - numerical, "="),
    )
    shown = (
        Matrix(name, tuple(map(tuple, (array + 0.0).tolist())), dtype, rows, columns, wrong, sign)
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


def no_input(failed: FailedCall, match: re.Match[str]) -> Explanation:
    """No input of a gradcheck requires gradients."""
    text = requiring(failed.case, [each.id for each in failed.operands if each.dtype.startswith(FLOATING)])
    fix = None if text is None else Fix(text)
    return failed.explain("check_no_input_why", fix, "check_no_input_fix")


RULES = [call_rule("check_no_input", no_input, "gradcheck expects at least one input tensor to require grad")]
RULES += [rule("jacobian_mismatch", jacobian_mismatch, MISMATCH)]
