"""Why a number became nan or inf, with the numbers at that moment; and tested code that avoids it.

Note [The branch that was not taken]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
`where(u > 0, sqrt(u), u)` computes both branches and then chooses. Backward goes through both: the branch
that was not chosen receives the gradient 0, and 0 times an infinite derivative is nan. What is wrong is the
argument of the op in that branch. It has to be replaced before the op, by another `where`.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

import minigrad

from ..isolation import pass_on
from ..number_text import number, shape_text
from ..protocol import Value
from ..replay.runs import isolated_run
from ..trace.events import Forward, InPlaceWrite, Snapshot, of_kinds
from ..trace.source_positions import Span
from .case import Case, Sentence
from .edits import quote
from .interpreter import CannotTry, Interpreter, is_finite, tensor_of
from .syntax import before_dot_source, expression_of_span, node_at, operands_in, tree_of

LARGEST = {"float16": 11, "bfloat16": 88, "float32": 88, "float64": 709}  # whose exp is finite
LEAST = {"float16": "1e-4", "bfloat16": "1e-6", "float32": "1e-8", "float64": "1e-8"}  # a small divisor
LEAST_ROOT = {"float16": "1e-4", "bfloat16": "1e-6", "float32": "1e-12", "float64": "1e-12"}
INSIDE_ONE = {"float16": "1e-3", "bfloat16": "1e-2", "float32": "1e-6", "float64": "1e-12"}
HIGHEST = {"float16": "65504", "bfloat16": "3.39e38", "float32": "3.4e38", "float64": "1.8e308"}
SMALLEST_HALF = 2.0**-24  # the smallest float16 number above 0
LOGS = ("log", "log2", "log10")
ROOT = ("sqrt", "rsqrt")
POWERS = ("pow", "powscalar", "powtensor", "rpow")
QUOTIENTS = ("div", "reciprocal", "truedivide", "rdiv")
ARCS = ("acos", "asin", "arccos", "arcsin")
ENDLESS = ("atanh", "arctanh")  # infinite at -1 and 1
MEANS = ("mean", "var", "std", "median", "nanmean")
SPREADS = ("var", "std", "varmean", "stdmean")
SOFT = ("softmax", "logsoftmax")
CHOICES = ("where", "masked_fill")
SAFE = {"exp": "0.0", "expm1": "0.0", **dict.fromkeys((*ARCS, "atanh", "tan"), "0.0")}  # else 1.0
ELEMENTWISE = ("mul", "add", "sub", "neg", "div", "relu", "sigmoid", "tanh", "rmul", "radd", "rsub", "clone")


class Facts(NamedTuple):
    """The facts about the op that made nan or inf: its name `op` in plain letters, its expression, whether
    it happened in `backward`, and of the element where it appeared the numbers of the inputs (`given`, by
    their ids), what was `received` there and what was `made`. `time` is the number of the event, `outputs`
    are the tensors that the op made."""

    op: str
    span: Span | None
    backward: bool
    given: tuple[tuple[str, float | None, Value], ...]
    received: float | None
    made: float | None
    time: int
    outputs: tuple[str, ...]

    @property
    def first(self) -> float | None:
        """The number of the first input."""
        return self.given[0][1] if self.given else None

    @property
    def dtype(self) -> str:
        """The dtype that the op computes with."""
        kinds = (value.dtype for _, _, value in self.given)
        return next((kind for kind in kinds if kind in LEAST), "float32")


class Cause(NamedTuple):
    """Why, and what to do; both may be empty."""

    why: Sentence | str
    fix: Sentence | str


def cause_of(case: Case, facts: Facts) -> Cause:
    """The cause, as far as the numbers show it, and a fix whose code was tried."""
    why = reason(case, facts)
    taken = choice_after(case, facts)
    if taken is not None and (facts.received in (None, 0.0) or not facts.backward):
        return not_taken(case, facts, why, taken)
    lost = lost_epsilon(facts)
    if lost is not None:
        why = Sentence(f"{why} {case.words('finite_epsilon', epsilon=lost, dtype=facts.dtype)}".strip())
    return Cause(why, remedy(case, facts))


def lost_epsilon(facts: Facts) -> str | None:
    """A number in the expression that is rounded to 0 in float16: `1e-8`."""
    tree = expression_of_span(facts.span)
    numbers = [part.value for part in ast.walk(tree) if isinstance(part, ast.Constant)] if tree else []
    small = [n for n in numbers if isinstance(n, float) and 0 < n <= SMALLEST_HALF / 2]
    return f"{small[0]:g}".replace("e-0", "e-") if small and facts.dtype == "float16" else None


# ── what the numbers say ────────────────────────────────────────────────────────────────────────────────────


def reason(case: Case, facts: Facts) -> Sentence | str:
    """Why the op gives no finite number there; "" where that is not certain."""
    op, x, d = facts.op, facts.first, facts.dtype
    shown = "" if x is None else number(x, d).rstrip(".")
    if x is not None and abs(x) > 1 and abs(float(shown)) == 1:
        shown = f"{x:.9g}"  # 1.00001, which is outside
    if (
        not facts.backward
        and x == 0
        and op in ("rsqrt", *POWERS)
        and facts.made is not None
        and math.isinf(facts.made)
    ):
        return case.words("finite_power_of_0")
    if op in ROOT and x is not None:
        if x < 0:
            return case.words("finite_root_below", op=op, x=shown)
        return case.words("finite_slope_at_0", op=op) if x == 0 else ""
    if op in LOGS and x is not None:
        return case.words("finite_log_below" if x < 0 else "finite_log_0", op=op, x=shown) if x <= 0 else ""
    if not facts.backward and (largest := overflows(facts)) is not None:
        return case.words("finite_overflow", dtype=d, largest=largest)
    if op in POWERS and x is not None:
        if of_exponent(facts):
            return case.words("finite_power_exponent", x=shown)
        if x < 0:
            return case.words("finite_power_below", x=shown)
        return case.words("finite_slope_at_0", op="**") if x == 0 else ""
    if op in ARCS and x is not None:
        if abs(x) > 1:
            return case.words("finite_arc_outside", op=op, x=shown)
        return case.words("finite_arc_end", op=op, x=shown) if abs(x) == 1 else ""
    if op in ENDLESS and x is not None and abs(x) >= 1:
        return case.words("finite_arc_outside" if abs(x) > 1 else "finite_at_end", op=op, x=shown)
    if op == "log1p" and x is not None and x <= -1:
        return case.words("finite_log1p", x=shown)
    if op.startswith(MEANS) and facts.given and not facts.given[0][2].size:
        return case.words("finite_no_elements", op=op, name=case.plain(facts.given[0][0]))
    if op in SPREADS and facts.given:
        return of_single_values(case, facts)
    if op in ("exp", "expm1") and x is not None and x > 0 and not facts.backward:
        return case.words("finite_exp", x=shown, dtype=d)
    if op in SOFT and facts.given:
        rows = masked_rows(facts.given[0][2])
        return case.words("finite_masked_row", name=case.plain(facts.given[0][0]), rows=rows) if rows else ""
    if op in QUOTIENTS and facts.given:
        return case.words("finite_quotient") if divisor(facts) == 0 else ""
    if op in ("mul", "rmul") and any(n == 0 for _, n, _ in facts.given):
        return case.words("finite_zero_times_inf")
    if "eig" in op or "svd" in op:
        return case.words("finite_eigenvalues", op=op.replace("linalg", "linalg."))
    return ""


def overflows(facts: Facts) -> str | None:
    """The largest number of the dtype, if finite inputs gave one beyond it: of a power with a base above 1,
    or of a product."""
    values = [value for _, value, _ in facts.given if value is not None]
    large = values and all(math.isfinite(value) and abs(value) >= 1 for value in values)
    large = large and facts.made is not None and math.isinf(facts.made)
    if not large or facts.op not in (*POWERS, "mul", "rmul", "square") or facts.dtype not in HIGHEST:
        return None
    return HIGHEST[facts.dtype]


INDEFINITE = {  # operations that make nan of infinite numbers
    "mul": "finite_zero_times_inf", "rmul": "finite_zero_times_inf", "div": "finite_inf_by_inf",
    "add": "finite_inf_minus_inf", "sub": "finite_inf_minus_inf", "rsub": "finite_inf_minus_inf",
}  # fmt: skip


def nan_of_infinite(case: Case, facts: Facts, until: int) -> Sentence | str:
    """Which later operation made nan of the infinite number that an op gave; "" if none did."""
    if facts.backward or facts.made is None or not math.isinf(facts.made):
        return ""
    infinite = set(facts.outputs)
    for event in of_kinds(case.trace.events[facts.time + 1 : until + 1], Forward):
        value = event.outputs[0].value if event.outputs else None
        if value is None or not value.special or not infinite & set(event.read):
            continue
        if value.special == "nan":
            why = INDEFINITE.get(event.op)
            return case.words("finite_then_nan", place=event.span, why=case.words(why)) if why else ""
        infinite.update(state.id for state in event.outputs)
    return ""


def of_exponent(facts: Facts) -> bool:
    """Whether a power of a negative number has a value and no derivative with respect to its exponent."""
    exponent = facts.given[1][1] if len(facts.given) > 1 else None
    whole = exponent is not None and exponent == round(exponent)
    return whole and facts.backward and facts.first is not None and facts.first < 0


def of_single_values(case: Case, facts: Facts) -> Sentence | str:
    """The reason why a deviation is nan: it is one of a single value, or of one in each row."""
    name, value = case.plain(facts.given[0][0]), facts.given[0][2]
    made = case.state(facts.outputs[0]) if facts.outputs else None
    if value.size == 1:
        return case.words("finite_one_value", op=facts.op, name=name)
    if made is None or made.value is None or made.value.size != value.size:
        return ""
    return case.words("finite_one_each", op=facts.op, name=name, shape=shape_text(value))


def divisor(facts: Facts) -> float | None:
    """The number that was divided by."""
    tree = expression_of_span(facts.span)
    itself = isinstance(tree, ast.BinOp) and ast.unparse(tree.left) == ast.unparse(tree.right)
    if facts.op in ("reciprocal", "rdiv") or itself:
        return facts.first
    return facts.given[1][1] if len(facts.given) > 1 else None


def masked_rows(value: Value) -> str:
    """The rows of which every number is -inf, as a text; "" if there are none."""
    if value.items is None or not value.shape or not value.shape[-1]:
        return ""
    n = value.shape[-1]
    rows = [value.items[i : i + n] for i in range(0, len(value.items), n)]
    found = [str(i) for i, row in enumerate(rows) if all(each == -math.inf for each in row)]
    return ", ".join(found)


# ── the branch that was not taken ───────────────────────────────────────────────────────────────────────────


class Choice(NamedTuple):
    """A `where` that did not take the numbers of an op: its event, and in which of its arguments they are."""

    event: Forward
    place: int


def choice_after(case: Case, facts: Facts) -> Choice | None:
    """The `where`, or `masked_fill`, behind an op, whose result is finite although the op's is not."""
    reached = set(facts.outputs)
    for event in case.trace.of(Forward):
        sources = [i for i, id in enumerate(event.inputs) if id in reached]
        if not sources:
            continue
        finite = all(s.value is not None and not s.value.special for s in event.outputs)
        if event.op in CHOICES and finite:
            return Choice(event, sources[0])
        if event.op in ELEMENTWISE or event.op in CHOICES:
            reached.update(state.id for state in event.outputs)
    return None


def not_taken(case: Case, facts: Facts, why: Sentence | str, taken: Choice) -> Cause:
    """The cause and the fix for a branch that was not taken."""
    said = case.words("finite_not_taken", why=why, choice=taken.event.span)
    code = guarded_argument(case, facts, taken)
    if code is not None and stays_finite(code, values_at(case, facts)):
        return Cause(said, case.words("finite_not_taken_fix", code=code))
    return Cause(said, case.words("finite_not_taken_words"))


def guarded_argument(case: Case, facts: Facts, taken: Choice) -> str | None:
    """The op with an argument that is replaced where the branch is not taken."""
    call, tree = node_at(case, taken.event.span), expression_of_span(facts.span)
    if not isinstance(call, ast.Call) or len(call.args) != 3 or tree is None:
        return None
    condition, argument = ast.unparse(call.args[0]), critical(tree, facts.op)
    if argument is None:
        return None
    safe, inner = SAFE.get(facts.op, "1.0"), ast.unparse(argument)
    first = taken.place == (1 if len(taken.event.inputs) == 3 else 0)
    chosen = f"{inner}, {safe}" if first else f"{safe}, {inner}"
    return with_argument(tree, argument, f"torch.where({condition}, {chosen})")


def critical(tree: ast.AST, op: str) -> ast.expr | None:
    """The part of an expression that decides whether an op is finite: its argument, the divisor, the base."""
    match tree:
        case ast.BinOp(op=ast.Div(), right=right):
            return right
        case ast.BinOp(op=ast.Pow(), left=left):
            return left
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=given):
            if name.replace("_", "") not in (op, op.removeprefix("true")):
                return None
            plain = isinstance(owner, ast.Name) and owner.id in ("torch", "F", "math")
            if not plain and not (
                isinstance(owner, ast.Attribute) and ast.unparse(owner).startswith("torch.")
            ):
                return owner
            place = 1 if op in QUOTIENTS and op != "reciprocal" else 0
            return given[place] if len(given) > place else None
    return None


def with_argument(tree: ast.AST, part: ast.expr, new: str) -> str | None:
    """An expression with another text for one of its parts."""

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return ast.parse(new, mode="eval").body if node is part else self.generic_visit(node)

    return quote(re.sub(r"e-0(\d)", r"e-\1", ast.unparse(Put().visit(tree))))


# ── what avoids it ──────────────────────────────────────────────────────────────────────────────────────────


def values_at(case: Case, facts: Facts) -> dict[str, Value]:
    """The values that the variables had when the op ran."""
    names: dict[str, Value] = {}
    for event in case.trace.events[: facts.time + 1]:
        for state in () if isinstance(event, Snapshot) else event.states:
            if state.value is not None:
                names[str(case.plain(state.id))] = state.value
    for id, _, value in facts.given:
        names[str(case.plain(id))] = value
    return names


def stays_finite(code: str, values: Mapping[str, Value]) -> bool:
    """Whether an expression, and the gradients of all that it is computed from, are finite: it is computed
    again with the `values` of its variables."""
    tree = tree_of(code)
    if not isinstance(tree, ast.expr):
        return False
    with np.errstate(all="ignore"), isolated_run(minigrad, draws=True):
        try:
            names = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)} & values.keys()
            tensors = {name: tensor_of(values[name]) for name in names}
            for tensor in tensors.values():
                tensor.requires_grad_(tensor.is_floating_point())
            walk = Interpreter({"F": minigrad.nn.functional, **tensors}, {})
            result = walk.value(tree, walk.top)
            if not isinstance(result, minigrad.Tensor) or not is_finite(result):
                return False
            if result.requires_grad:
                result.sum().backward()
        except CannotTry:
            return False
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as refused:
            pass_on(refused)
            return False
    return all(tensor.grad is None or is_finite(tensor.grad) for tensor in tensors.values())


def remedy(case: Case, facts: Facts) -> Sentence | str:
    """What keeps the numbers finite: the first code that does so when it is tried, else words."""
    values, words = values_at(case, facts), "first_nan_fix_argument"
    for key, code, plain in candidates(case, facts):
        if code is not None and stays_finite(code, values):
            return case.words(key, code=code)
        words = plain
    return case.words(words)


def candidates(case: Case, facts: Facts) -> Iterator[tuple[str, str | None, str]]:
    """Fixes for an op: the sentence, the code that it shows, and the sentence that has no code."""
    tree = expression_of_span(facts.span)
    argument = None if tree is None else critical(tree, facts.op)
    op, d = facts.op, facts.dtype

    def changed(wrap: Callable[[str], str]) -> str | None:
        if argument is None or tree is None:
            return None
        copy = expression_of_span(facts.span)
        again = None if copy is None else critical(copy, op)
        return None if copy is None or again is None else with_argument(copy, again, wrap(ast.unparse(again)))

    def least(value: str) -> Callable[[str], str]:
        return lambda text: f"{before_dot_source(text)}.clamp(min={value})"

    def plus(value: str) -> Callable[[str], str]:
        return lambda text: f"({text} + {value})"

    if not facts.backward and overflows(facts) is not None:
        wider = None if tree is None else in_single_precision(tree) if d == "float16" else None
        yield "finite_fix_wider", wider, "finite_words_overflow"
        return
    if op in LOGS:
        inner = sigmoid_in(case, argument)
        if inner is not None:
            yield "finite_fix_log_sigmoid", inner, "finite_words_log"
        yield "first_nan_fix_log", changed(least(LEAST[d])), "finite_words_log"
        yield "first_nan_fix_log", changed(least("1e-4")), "finite_words_log"
    elif op in POWERS and of_exponent(facts):
        code = None
        if isinstance(tree, ast.BinOp):
            exponent = before_dot_source(ast.unparse(tree.right))
            code = quote(f"{ast.unparse(tree.left)} ** {exponent}.detach()")
        yield "finite_fix_exponent", code, "finite_words_exponent"
    elif op in ROOT or op in POWERS:
        for value in (LEAST_ROOT[d], "1e-8", "1e-6", "1e-4"):
            yield "first_nan_fix_root", changed(least(value)), "finite_words_root"
    elif op in QUOTIENTS:
        words = "finite_words_quotient"
        for value in (LEAST[d], "1e-6", "1e-4"):
            yield "first_nan_fix_quotient", changed(plus(value)), words
    elif op == "log1p":
        yield "finite_fix_log1p", changed(least(f"-1 + {INSIDE_ONE[d]}")), "finite_words_log1p"
    elif op.startswith(MEANS) and not facts.given[0][2].size:
        yield "first_nan_fix_argument", None, "finite_words_no_elements"
    elif op in (*ARCS, *ENDLESS):
        end = INSIDE_ONE[d]
        bounds = f"-1 + {end}, 1 - {end}"
        code = changed(lambda text: f"{before_dot_source(text)}.clamp({bounds})")
        yield "finite_fix_arc", code, "finite_words_arc"
    elif op in ("exp", "expm1"):
        if is_normalized(case, facts):
            code = changed(lambda text: f"{text} - {before_dot_source(text)}.max()")
            yield "first_nan_fix_exp", code, "finite_words_exp"
        top = LARGEST[d]
        code = changed(lambda text: f"{before_dot_source(text)}.clamp(max={top})")
        yield "finite_fix_exp_clamp", code, "finite_words_exp"
    elif op in SPREADS:
        yield "first_nan_fix_argument", None, "finite_words_spread"
    elif op in SOFT:
        yield "first_nan_fix_argument", None, "finite_words_masked"
    elif op in ("mul", "rmul"):
        yield "first_nan_fix_argument", None, "finite_words_product"
    elif "eig" in op or "svd" in op:
        yield "first_nan_fix_argument", None, "finite_words_eigenvalues"


def in_single_precision(tree: ast.AST) -> str | None:
    """An expression with its first operand as float32: `x.float() ** 2`."""
    copy = ast.parse(ast.unparse(tree), mode="eval").body
    first = next(iter(operands_in(copy)), None)
    if first is None:
        return None
    return with_argument(copy, first, f"{before_dot_source(ast.unparse(first))}.float()")


def sigmoid_in(case: Case, argument: ast.expr | None) -> str | None:
    """`torch.nn.functional.logsigmoid(-x)` for the argument `1 - p` of a log, where p is a sigmoid of x; of
    `p` itself `logsigmoid(x)`. None for any other."""
    minus = isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Sub)
    one = minus and isinstance(argument.left, ast.Constant) and argument.left.value == 1  # type: ignore[union-attr]
    part = argument.right if one and isinstance(argument, ast.BinOp) else argument
    for event in case.trace.of(Forward):
        if event.op != "sigmoid" or part is None:
            continue
        tree = expression_of_span(event.span)
        same = isinstance(part, ast.Name) and event.name == part.id
        if same or (tree is not None and ast.unparse(tree) == ast.unparse(part)):
            inner = None if tree is None else critical(tree, "sigmoid")
            if inner is not None:
                text = ast.unparse(inner)
                given = f"-{before_dot_source(text)}" if one else text
                return quote(f"torch.nn.functional.logsigmoid({given})")
    return None


def is_normalized(case: Case, facts: Facts) -> bool:
    """Whether the result of an exp is only divided by a sum of such results: then the largest argument may be
    subtracted, and the result stays the same."""
    made, quotients = set(facts.outputs), 0
    text = None if facts.span is None else facts.span.flat
    for event in case.trace.of(Forward):
        if event.span is not None and event.span.flat == text:
            made.update(state.id for state in event.outputs)
    sums = set[str]()
    for event in case.trace.of(Forward, InPlaceWrite):
        used = [id for id in list(event.read) if id in made]
        if not used:
            if isinstance(event, Forward) and set(event.read) & sums and event.op not in ("div", "log"):
                return False
            continue
        if isinstance(event, InPlaceWrite):
            return False
        if event.op in ("sum", "sum_all", "cumsum"):
            sums.update(state.id for state in event.outputs)
        elif event.op in ("div", "truedivide") and event.inputs[1:2] and event.inputs[1] in sums:
            quotients += 1
        else:
            return False
    return quotients > 0
