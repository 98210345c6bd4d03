"""Exercises whose answers are difference quotients that somebody wrote: they are tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..answers import attempt, library_of
from ..exercise import Cases, Exercise

Function = Callable[[Any], Any]


def cube(x: Any) -> Any:
    """x³."""
    return x**3


def fourth(x: Any) -> Any:
    """x⁴ − 2x."""
    return x**4 - 2 * x


def central(f: Function, x: float, h: float) -> float:
    """The quotient to both sides."""
    return (f(x + h) - f(x - h)) / (2 * h)


def both_sides() -> Cases:
    """The quotient of x³ at 2 with h = 0.3."""
    x, h = 2.0, 0.3
    high, here, low = cube(x + h), cube(x), cube(x - h)
    return [
        ("exercise_nothing", None),
        ("code_02_right", central(cube, x, h)),
        ("code_02_one_side", (high - here) / h),
        ("code_02_one_side", (here - low) / h),
        ("code_02_twice", 2 * central(cube, x, h)),
        ("code_02_difference", high - low),
        ("code_02_brackets", (high - low) / 2 * h),
        ("code_02_brackets", high - low / 2 * h),
        ("code_02_brackets", high - low / (2 * h)),
        ("code_02_sign", -central(cube, x, h)),
        ("code_02_exact", 3 * x**2),
    ]


def tried_on_cube(answer: object) -> Any:
    """What a function of f, x and h gives for x³ at 2."""
    library = library_of(answer)
    return attempt(answer, cube, library.tensor(2.0, dtype=library.float64), 0.3)


PLACES: list[tuple[Function, float, float]] = [(cube, 5.0, 0.1), (fourth, -2.0, 0.25)]
QUOTIENTS: list[tuple[str, Callable[[Function, float, float], float]]] = [
    ("code_20_right", central),
    ("code_20_one_sided", lambda f, x, eps: (f(x + eps) - f(x)) / eps),
    ("code_20_one_sided", lambda f, x, eps: (f(x) - f(x - eps)) / eps),
    ("code_20_one_sided", lambda f, x, eps: (f(x + 2 * eps) - f(x)) / (2 * eps)),
    ("code_20_half_distance", lambda f, x, eps: (f(x + eps) - f(x - eps)) / eps),
    ("code_20_sign", lambda f, x, eps: (f(x - eps) - f(x + eps)) / (2 * eps)),
    ("code_20_brackets", lambda f, x, eps: (f(x + eps) - f(x - eps)) / 2 * eps),
    ("code_20_difference", lambda f, x, eps: f(x + eps) - f(x - eps)),
]


def quotients() -> Cases:
    """The quotients of two functions."""
    found = [(key, [quotient(*place) for place in PLACES]) for key, quotient in QUOTIENTS]
    return [("code_20_unfinished", lambda given: None in given or ... in given), *found]


def tried_at_places(answer: object) -> list[Any]:
    """What a function of f, x and eps gives for them."""
    return [attempt(answer, *place) for place in PLACES]


EXERCISES = {
    "code_02": Exercise(both_sides, "code_02_other", read=tried_on_cube, unfit="code_02_no_function"),
    "code_20": Exercise(quotients, "code_20_other", read=tried_at_places, digits=6),
}
