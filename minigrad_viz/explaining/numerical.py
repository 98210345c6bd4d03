"""A gradcheck that failed: what it compared, as matrices, and whose backward is wrong.

The numbers are those of the error's text, which has four digits after the point. A place is only called wrong
if that is certain whatever the digits are that the text leaves out.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from typing import Any, NamedTuple

import numpy as np

from ..numbers import number
from ..trace.events import Created, Snapshot, TensorState
from ..trace.explained import Explanation, Matrices, Matrix
from ..words import text
from .case import Case, Rule, rule
from .gradcheck_call import Call, Culprit, Source

MISMATCH = (
    r"Jacobian (?:computed with forward mode )?mismatch for output (?P<output>\d+) "
    r"with respect to input (?P<input>\d+),\n"
    r"numerical:(?P<numerical>.*?)\nanalytical:(?P<analytical>.*?)(?:\n\n.*?\n)?"
    r"(?:Numerical:\n (?P<slow_numerical>.*?)\nAnalytical:\n(?P<slow_analytical>.*?)\n\nThe max .*)?\Z"
)
TENSOR = re.compile(r"tensor\((\[.*\])(?:, dtype=[\w.]*?(?P<dtype>\w+))?\)", re.DOTALL)
SINGLE = ("float32", "complex64", "float16", "bfloat16")
COARSE = 1e-4  # with a step as large as this, single precision may do


class Read(NamedTuple):
    """A matrix out of an error's text. `slack` is how far each number may be off for want of digits."""

    items: tuple[tuple[Any, ...], ...]
    slack: tuple[tuple[float, ...], ...]
    dtype: str


class Input(NamedTuple):
    """An input of the checked function: its text in the source, and how it stood."""

    name: str
    state: TensorState


class Pair(NamedTuple):
    """What a gradcheck compared: both matrices, what their rows and columns stand for, and the wrong places,
    the worst first."""

    numerical: Read
    analytical: Read
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
    pair = pair_of(match, call, mine)
    shown = () if pair is None else (matrices(case, match, mine, pair),)
    imprecise = ", ".join(single(case, given, match[0]))
    step = call.limits["eps"]
    if imprecise and step is not None and step < COARSE:
        why = case.words("why_single_precision", names=imprecise, eps=f"{step:g}")
        found = case.explain("single_precision", why, case.words("fix_single_precision"))
        return found._replace(matrices=shown)
    culprit = None
    if not call.second and "forward mode" not in match[0]:
        culprit = source.culprit(call, place)
    why, fix = why_of(case, match, call, pair), fix_of(case, culprit, mine)
    cause = None if culprit is None else culprit.span
    return case.explain("jacobian_mismatch", why, fix, cause=cause)._replace(matrices=shown)


def why_of(case: Case, match: re.Match[str], call: Call, pair: Pair | None) -> str:
    """What does not agree, with the numbers of the worst place."""
    if pair is None or not pair.wrong:
        key = "why_jacobian_second" if call.second else "why_jacobian"
        return case.words(key, i=match["output"], j=match["input"])
    row, column = pair.wrong[0]
    return case.words(
        "why_jacobian_place_second" if call.second else "why_jacobian_place",
        above=pair.columns[column],
        below=pair.rows[row],
        numerical=number(pair.numerical.items[row][column], pair.numerical.dtype),
        analytical=number(pair.analytical.items[row][column], pair.analytical.dtype),
        n=len(pair.wrong),
        total=len(pair.rows) * len(pair.columns),
    )


def fix_of(case: Case, culprit: Culprit | None, mine: Input | None) -> str:
    """Which backward to correct, and where."""
    if culprit is None:
        return ""
    if culprit.exact and mine is not None:
        return case.words("fix_jacobian_input", function=culprit.name, name=mine.name, line=culprit.span.line)
    return case.words("fix_jacobian", function=culprit.name, line=culprit.span.line)


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
    """The inputs that ask for gradients in single precision, or coarser. Where they are not known, all
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


# ── the numbers of the text ─────────────────────────────────────────────────────────────────────────────────


def pair_of(match: re.Match[str], call: Call, mine: Input | None) -> Pair | None:
    """The numerical and the analytical matrix; None if the text does not hold them in full."""
    slow = "" if match["slow_numerical"] is None else "slow_"
    numerical, analytical = read(match[f"{slow}numerical"]), read(match[f"{slow}analytical"])
    if numerical is None or analytical is None or size(numerical) != size(analytical):
        return None
    high, wide = size(numerical)
    value = None if mine is None else mine.state.value
    rows = elements("in" if mine is None else mine.name, high, None if value is None else value.shape)
    output = "out" if match["output"] == "0" else f"out{match['output']}"
    return Pair(numerical, analytical, rows, elements(output, wide), places(numerical, analytical, call))


def size(matrix: Read) -> tuple[int, int]:
    """Rows and columns."""
    return len(matrix.items), len(matrix.items[0])


def read(told: str) -> Read | None:
    """A matrix as a library prints it; None if it is none, or is shortened there."""
    match = TENSOR.fullmatch(told.strip())
    if match is None or "..." in told:
        return None
    rows = [row.split(",") for row in re.findall(r"\[([^\[\]]+)\]", match[1])]
    try:
        items = tuple(tuple(parsed(token) for token in row) for row in rows)
    except ValueError:
        return None
    if not items or len({len(row) for row in items}) != 1:
        return None
    slack = tuple(tuple(rounding(token) for token in row) for row in rows)
    return Read(items, slack, match["dtype"] or "float32")


def parsed(token: str) -> Any:
    """A number as it is printed."""
    return (complex(token.strip()) if "j" in token else float(token)) + 0.0  # without −0


def rounding(token: str) -> float:
    """How far a printed number may be from the number itself; none has all digits of it but whole ones."""
    found = 0.0
    for digits, exponent in re.findall(r"\.(\d*)(?:e([+-]?\d+))?", token):
        found = max(found, 0.5 * 10.0 ** (int(exponent or 0) - len(digits)) if digits else 0.0)
    return found


def places(numerical: Read, analytical: Read, call: Call) -> tuple[tuple[int, int], ...]:
    """The places that are beyond the tolerances for certain, the worst first; none if these are not known. If
    none is certain and only one can be, it is that."""
    atol, rtol = call.limits["atol"], call.limits["rtol"]
    if atol is None or rtol is None:
        return ()
    sure: list[tuple[float, tuple[int, int]]] = []
    possible: list[tuple[int, int]] = []
    high, wide = size(numerical)
    for at in itertools.product(range(high), range(wide)):
        n, a = (m.items[at[0]][at[1]] for m in (numerical, analytical))
        off = 2 * sum(m.slack[at[0]][at[1]] for m in (numerical, analytical))  # of both parts, if complex
        allowed = atol + rtol * abs(n)
        if not np.isfinite(a - n):
            sure.append((-math.inf, at))
        elif abs(a - n) - off > allowed + rtol * off:
            sure.append((-abs(a - n), at))
        elif abs(a - n) + off > allowed - rtol * off:
            possible.append(at)
    if not sure:
        return tuple(possible) if len(possible) == 1 else ()
    return tuple(at for _, at in sorted(sure))


# ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────


def matrices(case: Case, match: re.Match[str], mine: Input | None, pair: Pair) -> Matrices:
    """The two matrices and their difference."""
    unknown = case.words("check_input", j=match["input"])
    title = case.words("check_title", row=unknown if mine is None else mine.name, i=match["output"])
    return compared(
        title, pair.numerical.items, pair.analytical.items, pair.numerical.dtype, pair.rows, pair.columns,
        pair.wrong, case.lang,
    )  # fmt: skip


def compared(
    title: str,
    numerical: tuple[tuple[Any, ...], ...],
    analytical: tuple[tuple[Any, ...], ...],
    dtype: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    wrong: tuple[tuple[int, int], ...],
    lang: str | None = None,
) -> Matrices:
    """analytical − numerical = difference, with the wrong places marked in each."""
    both = zip(analytical, numerical, strict=True)
    difference = tuple(tuple(a - n for a, n in zip(*pair, strict=True)) for pair in both)
    told = (
        (text("check_analytical", lang), analytical, ""),
        (text("check_numerical", lang), numerical, "−"),
        (text("check_difference", lang), difference, "="),
    )
    shown = (Matrix(name, items, dtype, rows, columns, wrong, sign) for name, items, sign in told)
    return Matrices(title, tuple(shown))


def elements(name: str, n: int, shape: tuple[int, ...] | None = None) -> tuple[str, ...]:
    """What to call the `n` elements of a tensor: `x[0, 1]`; a single one like the tensor."""
    if n == 1:
        return (name,)
    places = (
        list(np.ndindex(shape)) if shape is not None and math.prod(shape) == n else [(k,) for k in range(n)]
    )
    return tuple(f"{name}[{', '.join(map(str, place))}]" for place in places)


RULES: dict[str, Rule] = {"jacobian_mismatch": rule(MISMATCH, jacobian_mismatch)}
