"""Derivatives by differences: `derivative` shows the definition, `check_gradients` a gradcheck with its
numbers."""

from __future__ import annotations

import html
import inspect
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import minigrad

from ..drawing import matrices, secants
from ..drawing.secants import Limit, Point, Quotient
from ..explaining.jacobians import (
    COARSE,
    SINGLE,
    Array,
    JacobianPair,
    comparison_matrices,
    elements,
    places,
    worst_of,
)
from ..isolation import has_arrived, pass_on
from ..protocol import array_of, dtype_name, is_tensor
from ..sources.pause import without_recording
from ..trace.graph import Matrices
from ..words import text

# ─── `derivative`: the definition of the derivative, with the numbers that a learner would get


STEPS = (4.0, 2.0, 1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)  # for x between 1 and 10; others in proportion
POINTS = 48  # of the curve
EPSILON = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1.2e-7, "float64": 2.2e-16}
NOWHERE = (ArithmeticError, ValueError)  # what functions of Python raise where they have no value


class Derivative:
    """What `derivative` found; it shows itself. `quotients` has (h, slope, f(x + h) …) for each h."""

    def __init__(self, limit: Limit, lang: str | None) -> None:
        self._limit = limit
        self._lang = lang

    @property
    def value(self) -> float:
        """f(x)."""
        return self._limit.here[1]

    @property
    def gradient(self) -> float | None:
        """The derivative by autograd; None where f takes no tensors."""
        return self._limit.tangent if self._limit.by_autograd else None

    @property
    def quotients(self) -> tuple[Quotient, ...]:
        """The difference quotients, one for each h, in the order in which these were given."""
        return self._limit.quotients

    @property
    def errors(self) -> dict[float, float]:
        """By h, how far each quotient is from the slope of the tangent."""
        return {q.h: q.slope - self._limit.tangent for q in self.quotients}

    def __repr__(self) -> str:
        return secants.limit_text(self._limit, self._lang)

    def _repr_html_(self) -> str:
        return secants.limit_html(self._limit, self._lang)


def derivative(
    f: Callable[[Any], Any], x: Any, h: float | Sequence[float] | None = None, *, lang: str | None = None
) -> Derivative:
    """Show the quotients (f(x + h) − f(x)) / ((x + h) − x) for some `h`, beside the gradient from autograd.

    `x` is a tensor with one element, or a number; `f` returns one. Everything is computed in the dtype of
    `x`; a Python number counts as float64. TypeError or ValueError for anything else. Calls of `f` are not
    drawn.
    """
    return Derivative(without_recording(lambda: limit_of(Function(f, x), h)), lang)


class Function:
    """f and the x at which it is looked at, as a tensor or as a float."""

    def __init__(self, f: Callable[[Any], Any], x: Any) -> None:
        self.f = f
        self.x = as_point(x)
        self.dtype = dtype_name(self.x) if is_tensor(x) else "float64"
        self.y = self.call(self.x)
        if not math.isfinite(self.y):
            raise ValueError(f"derivative: f(x) is {float(self.y)}")

    def call(self, x: Any) -> Any:
        """f at a point."""
        try:
            y = self.f(x)
        except TypeError as problem:
            if is_tensor(x) or has_arrived(problem):
                raise
            hint = "derivative: f does not take a number; if it takes tensors, give x as one"
            raise TypeError(f"{hint} ({problem})") from problem
        if is_tensor(y):
            if y.numel() != 1:
                raise ValueError(
                    f"derivative: f must give one number, not a tensor of shape {tuple(y.shape)}"
                )
            if dtype_name(y).startswith("complex"):
                raise TypeError("derivative: f must give a real number, not a complex one")
            return y.detach()
        if not isinstance(y, int | float):
            raise TypeError(f"derivative: f must give one real number, not {type(y).__name__}")
        return y

    def point(self, x: Any) -> tuple[Any, Any]:
        """x and f(x); NaN where f has no value."""
        try:
            return x, self.call(x)
        except NOWHERE as nowhere:
            pass_on(nowhere)
            return x, math.nan

    def quotient(self, h: float) -> Quotient:
        """The difference quotient, in the arithmetic of x."""
        there, y = self.point(self.x + h)
        run = there - self.x
        slope = float((y - self.y) / run) if float(run) else math.nan
        return Quotient(h, (float(there), float(y)), slope)

    def gradient(self) -> float | None:
        """The derivative by autograd; of a function of numbers by minigrad, if that can take it."""
        if is_tensor(self.x):
            return gradient_of(self.f, self.x.detach().clone().requires_grad_())
        try:
            return gradient_of(self.f, minigrad.tensor(self.x, dtype=minigrad.float64, requires_grad=True))
        except Exception as refused:
            pass_on(refused)
            return None  # f is for numbers alone: whatever it says of a tensor, it has no gradient

    def central(self) -> float:
        """The derivative as a central difference, with the step for which truncation and rounding are about
        alike."""
        h = EPSILON.get(self.dtype, 1e-7) ** (1 / 3) * (abs(float(self.x)) or 1.0)
        (before, low), (after, high) = self.point(self.x - h), self.point(self.x + h)
        return float((high - low) / (after - before))


def as_point(x: Any) -> Any:
    """x apart from any graph; TypeError or ValueError if it is not a real number."""
    if is_tensor(x):
        if x.numel() != 1:
            raise ValueError(f"derivative: x must have one element, not shape {tuple(x.shape)}")
        if not dtype_name(x).startswith(("float", "bfloat")):
            raise TypeError(f"derivative: x must be floating point, not {dtype_name(x)}")
        x = x.detach().clone()
    elif isinstance(x, bool) or not isinstance(x, int | float):
        raise TypeError(f"derivative: x must be a number or a tensor, not {type(x).__name__}")
    else:
        x = float(x)
    if not math.isfinite(x):
        raise ValueError(f"derivative: x is {float(x)}")
    return x


def gradient_of(f: Callable[[Any], Any], leaf: Any) -> float | None:
    """The gradient of f at a leaf; None where no path leads there."""
    result = f(leaf)
    if not is_tensor(result) or not result.requires_grad:
        return None
    grad = sys.modules[type(leaf).__module__.partition(".")[0]].autograd.grad
    (found,) = grad(result, leaf, result.detach() * 0 + 1, allow_unused=True)
    return None if found is None else float(found)


def limit_of(function: Function, h: float | Sequence[float] | None) -> Limit:
    """All that is shown of a function at a point."""
    x = float(function.x)
    unit = 10.0 ** math.floor(math.log10(abs(x))) if x else 1.0
    quotients = tuple(function.quotient(step) for step in steps_of(h, unit))
    found = function.gradient()
    tangent = function.central() if found is None else found
    return Limit(
        (x, float(function.y)), function.dtype, quotients, tangent, found is not None,
        curve_of(function, quotients), sweep_of(function, tangent, unit) if found is not None else (),
    )  # fmt: skip


def steps_of(h: float | Sequence[float] | None, unit: float) -> tuple[float, ...]:
    """The h that were asked for; ValueError if there are none, or one is 0 or no number."""
    if h is None:
        return tuple(float(f"{step * unit:.12g}") for step in STEPS)
    steps = tuple(float(step) for step in ((h,) if isinstance(h, int | float) else h))
    if not steps or any(not step or not math.isfinite(step) for step in steps):
        raise ValueError("derivative: h must be one or more numbers other than 0")
    return steps


def curve_of(function: Function, quotients: Sequence[Quotient]) -> tuple[Point, ...]:
    """Points of the curve, around x and those that the drawn secants go through."""
    x = float(function.x)
    ends = [x, *(q.there[0] for q in secants.drawn_of(quotients))]
    span = max(ends) - min(ends)
    if not span:
        return ()
    low, high = min(ends) - 0.3 * span, max(ends) + 0.15 * span
    offsets = (low - x + (high - low) * k / POINTS for k in range(POINTS + 1))
    found = (function.point(function.x + offset) for offset in offsets)
    return tuple((float(there), float(y)) for there, y in found)


def sweep_of(function: Function, tangent: float, unit: float) -> tuple[Point, ...]:
    """The size of the error for h from 1 to as small as the dtype allows, two for each power of ten."""
    digits = -math.floor(math.log10(EPSILON.get(function.dtype, 1e-7)))
    found = (function.quotient(unit * 10.0 ** (-k / 2)) for k in range(2 * digits + 1))
    return tuple((q.h, abs(q.slope - tangent)) for q in found if math.isfinite(q.slope))


# ─── `check_gradients`: a gradcheck whose numbers can be seen


LIBRARIES = ("minigrad", "torch")
SHOWN = 6  # pairs of an output and an input that are shown, those that do not agree first


class GradientCheck:
    """What `check_gradients` found. True where everything agrees; it shows itself.

    `numerical`, `analytical` and `difference` have a list per output with an array per input that requires
    gradients: a row per element of the input, a column per element of the output, as in gradcheck's error. A
    complex output has a column for each real part, then one for each imaginary part.
    """

    def __init__(self, pairs: list[JacobianPair], single: list[str], eps: float, lang: str | None) -> None:
        self.pairs = pairs
        self.single = single
        self.eps = eps
        self.lang = lang

    def __bool__(self) -> bool:
        return self.ok

    @property
    def ok(self) -> bool:
        """Whether every element agrees."""
        return not any(pair.wrong for pair in self.pairs)

    @property
    def numerical(self) -> list[list[Array]]:
        """The Jacobians by central differences."""
        return self._nested([pair.numerical for pair in self.pairs])

    @property
    def analytical(self) -> list[list[Array]]:
        """The Jacobians by backward."""
        return self._nested([pair.analytical for pair in self.pairs])

    @property
    def difference(self) -> list[list[Array]]:
        """The analytical Jacobians less the numerical ones."""
        return self._nested([pair.analytical - pair.numerical for pair in self.pairs])

    def _nested(self, arrays: list[Array]) -> list[list[Array]]:
        outputs = dict.fromkeys(pair.output for pair in self.pairs)
        both = list(zip(self.pairs, arrays, strict=True))
        return [[array for pair, array in both if pair.output == i] for i in outputs]

    def said(self) -> list[str]:
        """Whether all agrees; if not, the worst place of each pair, and what single precision has to do with
        it."""
        if self.ok:
            return [text("check_agrees", self.lang)]
        wrong = [pair for pair in self._shown() if pair.wrong]
        lines = [text("why_jacobian_place", self.lang, **worst_of(pair)) for pair in wrong]
        if self.single and self.eps < COARSE:
            names = ", ".join(self.single)
            lines.append(text("why_single_precision", self.lang, names=names, eps=f"{self.eps:g}"))
            lines.append(text("fix_single_precision", self.lang))
        return lines

    def _shown(self) -> list[JacobianPair]:
        full = [pair for pair in self.pairs if pair.numerical.size]
        return sorted(full, key=lambda pair: not pair.wrong)[:SHOWN]

    def matrices(self) -> tuple[Matrices, ...]:
        """The matrices that are shown."""
        return tuple(map(self._matrices, self._shown()))

    def _matrices(self, pair: JacobianPair) -> Matrices:
        name = pair.rows[0].partition("[")[0] if pair.rows else ""
        title = text("check_title", self.lang, row=name, i=pair.output)
        return comparison_matrices(title, pair, self.lang)

    def _left_out(self) -> list[str]:
        n = len(self.pairs) - len(self._shown())
        return [text("check_left_out", self.lang, n=n)] if n else []

    def __repr__(self) -> str:
        shown = [matrices.matrices_text(each, self.lang) for each in self.matrices()]
        return "\n".join([*self.said(), *shown, *self._left_out()])

    def _repr_html_(self) -> str:
        before, after = (
            "".join(
                f'<p style="font:14px/1.5 system-ui,sans-serif">{html.escape(line)}</p>' for line in lines
            )
            for lines in (self.said(), self._left_out())
        )
        return (
            f"{matrices.STYLE}<div>{before}{matrices.matrices_html(self.matrices(), self.lang)}{after}</div>"
        )


def check_gradients(
    fn: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    lang: str | None = None,
) -> GradientCheck:
    """Compare the gradients of `fn(*inputs)` with central differences (f(x + eps) − f(x − eps)) / (2 eps).

    The numbers are those that `gradcheck` of the same library compares, and every element has to satisfy
    |analytical − numerical| ≤ atol + rtol · |numerical|. Inputs without `requires_grad` are left as they are;
    the others are changed in place while it runs, one element at a time, and then restored. ValueError if no
    input requires gradients, RuntimeError if elements of one share memory. Calls of `fn` are not drawn.
    """
    given = as_tuple(inputs)
    learning = [k for k, t in enumerate(given) if is_tensor(t) and t.requires_grad]
    if not learning:
        raise ValueError("check_gradients needs at least one input tensor with requires_grad=True")
    for k in learning:
        if given[k].numel() and any(
            step == 0 and n > 1 for step, n in zip(given[k].stride(), given[k].shape, strict=True)
        ):
            raise RuntimeError(f"elements of input {k} share memory: give its clone() to check_gradients")
    names = input_names(fn, len(given))
    pairs = without_recording(
        lambda: list(pairs_of(fn, given, {k: names[k] for k in learning}, (eps, atol, rtol)))
    )
    single = [names[k] for k in learning if dtype_name(given[k]) in SINGLE]
    return GradientCheck(pairs, single, eps, lang)


def as_tuple(x: Any) -> tuple[Any, ...]:
    """Inputs or outputs as a tuple."""
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def input_names(fn: Callable[..., Any], n: int) -> list[str]:
    """What to call the inputs: as the function's parameters, if it has one for each; for `MyPow.apply` as
    those of its forward."""
    forward, skipped = forward_of(fn)
    try:
        parameters = list(inspect.signature(forward).parameters.values())[skipped:]
    except (TypeError, ValueError):
        parameters = []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return plain[:n] if len(plain) >= n else [f"in{k}" for k in range(n)]


def forward_of(fn: Callable[..., Any]) -> tuple[Callable[..., Any], int]:
    """The function whose parameters say what `fn` takes, and how many of them are not given to `fn`: of the
    `apply` of a custom Function that is its forward, whose `ctx` only one without setup_context has."""
    cls = getattr(fn, "__self__", None)
    if not isinstance(cls, type) or getattr(fn, "__name__", "") != "apply":
        return fn, 0
    own = [each for each in cls.__mro__ if "setup_context" in vars(each)]
    library = own and own[0].__module__.partition(".")[0] in LIBRARIES
    forward = getattr(cls, "forward", None)
    return (fn, 0) if forward is None or not own else (forward, 1 if library else 0)


def pairs_of(
    fn: Callable[..., Any], given: tuple[Any, ...], names: dict[int, str], limits: tuple[float, float, float]
) -> Iterator[JacobianPair]:
    """Both kinds of Jacobians of each output by each of the inputs `names`, compared."""
    eps, atol, rtol = limits
    outputs = as_tuple(fn(*given))
    floating = [i for i, o in enumerate(outputs) if is_tensor(o) and dtype_name(o).startswith(FLOATING)]
    asking = [i for i in floating if outputs[i].requires_grad] or floating
    columns = {i: columns_of(outputs[i], f"out{i}" if len(outputs) > 1 else "out") for i in asking}
    widths = [len(columns[i]) for i in asking]
    by_input = {k: numerical(fn, given, k, asking, widths, eps) for k in names}
    for n, i in enumerate(asking):
        found = analytical(outputs[i], [given[k] for k in names])
        for (k, name), a in zip(names.items(), found, strict=True):
            expected, shape = by_input[k][n], tuple(given[k].shape)
            wrong = places(a, expected, atol, rtol)
            rows = elements(name, a.shape[0], shape)
            yield JacobianPair(i, k, expected, a, rows, columns[i], dtype_name(given[k]), wrong)


FLOATING = ("float", "bfloat", "complex")


def columns_of(output: Any, name: str) -> tuple[str, ...]:
    """What to call the columns of an output."""
    names = elements(name, output.numel(), tuple(output.shape))
    if not dtype_name(output).startswith("complex"):
        return names
    return (*(f"Re {name}" for name in names), *(f"Im {name}" for name in names))


def flat_numbers(output: Any) -> Array:
    """The numbers of an output in a row, copied; of a complex one the real parts, then the imaginary ones."""
    row = np.array(array_of(output)).reshape(-1)
    return np.concatenate([row.real, row.imag]) if row.dtype.kind == "c" else row


def numerical(
    fn: Callable[..., Any], given: tuple[Any, ...], k: int, asking: list[int], widths: list[int], eps: float
) -> list[Array]:
    """By central differences: the Jacobian of each of the outputs `asking` by input `k`."""
    data = given[k].data
    complex_input = dtype_name(data).startswith("complex")
    rows: list[list[Array]] = [[] for _ in asking]

    def around(index: tuple[int, ...], step: complex) -> list[Array]:
        middle = data[index].clone()
        try:
            sides = []
            for signed in (-step, step):
                data[index] = middle + signed
                results = as_tuple(fn(*given))
                sides.append([flat_numbers(results[i]) for i in asking])
        finally:
            data[index] = middle
        return [(above - below) / (2 * eps) for below, above in zip(*sides, strict=True)]

    for index in np.ndindex(tuple(data.shape)):
        found = around(index, eps)
        if complex_input:
            found = [x + 1j * y for x, y in zip(found, around(index, eps * 1j), strict=True)]
        for column, row in zip(rows, found, strict=True):
            column.append(row)
    return [
        np.stack(found) if found else np.zeros((0, width)) for found, width in zip(rows, widths, strict=True)
    ]


def analytical(output: Any, inputs: list[Any]) -> list[Array]:
    """By backward: the Jacobian of an output by each input, a column per start."""
    columns: list[list[Array]] = [[] for _ in inputs]
    for start in starts(output):
        gradients: Any = [None] * len(inputs)
        if output.requires_grad:
            grad = sys.modules[type(output).__module__.partition(".")[0]].autograd.grad
            gradients = grad(output, inputs, start, retain_graph=True, allow_unused=True)
        for column, t, g in zip(columns, inputs, gradients, strict=True):
            column.append(np.array(array_of(t.detach() * 0 if g is None else g)).reshape(-1))
    both = zip(columns, inputs, strict=True)
    return [np.stack(column, 1) if column else np.zeros((t.numel(), 0)) for column, t in both]


def starts(output: Any) -> Iterator[Any]:
    """The gradients that backward begins with: 1 at one element; for a complex output then i."""
    for one in (1, 1j) if dtype_name(output).startswith("complex") else (1,):
        for index in np.ndindex(tuple(output.shape)):
            start = output.detach() * 0
            start[index] = one
            yield start
