"""`derivative`: the definition of the derivative, with the numbers that a learner would get."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import minigrad

from ..drawing import secant
from ..drawing.secant import Limit, Point, Quotient
from ..faults import has_arrived, pass_on
from ..protocol import dtype_name, is_tensor
from ..sources.unseen import unseen

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
        return secant.to_text(self._limit, self._lang)

    def _repr_html_(self) -> str:
        return secant.to_html(self._limit, self._lang)


def derivative(
    f: Callable[[Any], Any], x: Any, h: float | Sequence[float] | None = None, *, lang: str | None = None
) -> Derivative:
    """The quotients (f(x + h) − f(x)) / ((x + h) − x) for some `h`, beside the gradient from autograd.

    `x` is a tensor with one element, or a number; `f` gives one. All is computed in the dtype of `x`, a
    number of Python's being a float64. TypeError or ValueError for anything else. A cell under
    `%%autograd` is shown without what `f` does here.
    """
    return Derivative(unseen(lambda: limit_of(Function(f, x), h)), lang)


class Function:
    """f and the x at which it is looked at, as a tensor or as a float."""

    def __init__(self, f: Callable[[Any], Any], x: Any) -> None:
        self.f = f
        self.x = checked(x)
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


def checked(x: Any) -> Any:
    """x apart from any graph; TypeError or ValueError if it is no real number."""
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
    ends = [x, *(q.there[0] for q in secant.drawn_of(quotients))]
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
