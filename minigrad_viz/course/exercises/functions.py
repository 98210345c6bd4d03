"""Exercises whose answers are functions that somebody wrote: they are tried."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import minigrad

from ...predicting.question import same_answer
from ...protocol import is_tensor, pytorch
from ..exercise import AnswerError, Cases, Exercise, Unfit, attempt, function, library_of

# ─── Exercises whose answers are functions that somebody wrote


# ── gradients ───────────────────────────────────────────────────────────────────────────────────────────────


class LeafResult(NamedTuple):
    """What a function returned for a leaf, and what came into the leaf's `.grad`."""

    returned: Any
    grad: Any


def requires_grad(answer: object) -> Any:
    """What a function makes of a list of whole numbers."""
    return attempt(answer, [1, 2, 3])


def gets_gradient(made: Any) -> bool:
    """Whether a tensor is a leaf that gets a gradient, found by trying."""
    (made * made).sum().abs().backward()
    return made.is_leaf and made.grad is not None


def leaf_with_grad() -> Cases:
    """A leaf of these numbers that receives a gradient."""

    def real(made: Any) -> bool:
        return made.is_floating_point() or made.is_complex()

    return [
        ("intro_requires_grad_no_tensor", lambda made: not is_tensor(made)),
        (
            "intro_requires_grad_values",
            lambda made: not same_answer(made.detach().real if made.is_complex() else made, [1, 2, 3]),
        ),
        ("intro_requires_grad_not_asked", lambda made: not made.requires_grad and real(made)),
        ("intro_requires_grad_whole", lambda made: not made.requires_grad),
        ("intro_requires_grad_right", gets_gradient),
    ]


def constant_factor(at: float) -> Cases:
    """A function of x with the value x²·x, whose gradient takes x² for a constant."""

    def comes(gradient: float) -> Callable[[LeafResult], bool]:
        return lambda came: same_answer(came.grad, gradient)

    return [
        ("exercise_unanswered", lambda came: came.returned is ...),
        ("code_14_no_tensor", lambda came: not is_tensor(came.returned)),
        ("code_14_value", lambda came: not same_answer(came.returned, at**3)),
        ("code_14_all_cut", lambda came: came.grad is None),
        ("code_14_right", comes(at**2)),
        ("code_14_uncut", comes(3 * at**2)),
        ("code_14_other_factor", comes(2 * at**2)),
    ]


def result_after_backward(answer: object, at: float) -> LeafResult:
    """What a function returns for x, and x.grad after backward from there."""
    written = function(answer)
    x = library_of(written).tensor(at, requires_grad=True)
    result = attempt(written, x)
    if is_tensor(result) and result.requires_grad and same_answer(result, at**3):
        attempt(result.backward)
    return LeafResult(result, x.grad)


GRADIENT = [0.5, -3.0, 2.0, -0.25]


POSITIVE: Cases = [
    ("code_19_in_place", lambda came: came is None),
    ("code_19_right", [0.5, 0.0, 2.0, 0.0]),
    ("code_19_unchanged", GRADIENT),
    ("code_19_absolute", [0.5, 3.0, 2.0, 0.25]),
    ("code_19_opposite", [0.0, -3.0, 0.0, -0.25]),
    ("code_19_positive", lambda came: not same_answer([came[0], came[2]], [0.5, 2.0])),
]


def through_hook(answer: object) -> list[float] | None:
    """What comes through a hook in a backward pass; None if the hook wrote into what it was given."""
    if not callable(answer):
        raise Unfit
    torch, wrote = library_of(answer), []

    def hook(grad: Any) -> Any:  # its name stands in the error about a wrong shape
        before = grad.tolist()
        returned = answer(grad)
        wrote.append(grad.tolist() != before)
        return returned

    def run() -> list[float]:
        x = torch.ones(4, requires_grad=True)
        y = x + 1
        y.register_hook(hook)
        y.backward(gradient=torch.tensor(GRADIENT))
        return x.grad.tolist()

    came: list[float] = attempt(run)
    return None if any(wrote) else came


STARTS = (2.0, 1.5)
# x.grad of a = 2h and b = h² with h = x³, at both.
TWO_RESULTS: Cases = [
    ("exercise_nothing", lambda given: None in [each for each in given if not is_tensor(each)]),
    ("graph_retain_right", [6 * x**2 + 6 * x**5 for x in STARTS]),
    ("graph_retain_only_a", [6 * x**2 for x in STARTS]),
    ("graph_retain_only_b", [6 * x**5 for x in STARTS]),
]


def tried_at_starts(answer: object) -> list[Any]:
    """What a function gives for two leaves."""
    library = library_of(answer)
    return [attempt(answer, library.tensor(start, requires_grad=True)) for start in STARTS]


class Twice(NamedTuple):
    """A function, and its first two derivatives at 5."""

    function: Callable[[Any, Any], Any]
    first: float
    second: float


TWICE = (
    Twice(lambda torch, x: x**3, 75, 30),
    Twice(lambda torch, x: torch.log(x**3), 0.6, -0.12),
    Twice(lambda torch, x: x * torch.exp(x), 6 * math.exp(5), 7 * math.exp(5)),
)


def second_derivative(known: Twice) -> Cases:
    """The second derivative of a function at 5."""
    return [
        ("exercise_nothing", lambda came: came.returned is None),
        ("exercise_tuple", lambda came: isinstance(came.returned, tuple | list)),
        ("backward_grad_twice_stored", lambda came: came.grad is not None),
        ("backward_grad_twice_right", lambda came: same_answer(came.returned, known.second)),
        ("backward_grad_twice_first", lambda came: same_answer(came.returned, known.first)),
    ]


def derivative_result(answer: object, known: Twice) -> LeafResult:
    """What a function of f and x returns, and x.grad after it."""
    torch = library_of(answer)
    x = torch.tensor(5.0, requires_grad=True)
    return LeafResult(attempt(answer, functools.partial(known.function, torch), x), x.grad)


# ── graphs ──────────────────────────────────────────────────────────────────────────────────────────────────


def two_ways(torch: Any) -> Any:
    """The graph of Code 22."""
    x = torch.tensor(5.0, requires_grad=True)
    return torch.log(x**3) + torch.sqrt(x**2)


def number_inside(torch: Any) -> Any:
    """A graph with an edge that leads nowhere."""
    return torch.tensor(5.0, requires_grad=True) * 2


def chain(torch: Any) -> Any:
    """A graph of 5,000 nodes."""
    x = torch.tensor(5.0, requires_grad=True)
    for _ in range(5000):
        x = x + 1
    return x


def names_without_numbers(found: Sequence[str]) -> Counter[str]:
    """Nodes by name, without namespace and number, where name() and the name of its class can differ."""
    return Counter(name.rpartition("::")[2].rstrip("0") for name in found)


def names_listed_by(answer: object, graph: Callable[[Any], Any]) -> Counter[str] | None:
    """What a function lists for a graph; None if these are no names, or if it fails at one of the graphs that
    are tried after that of the notebook."""
    try:
        given = attempt(answer, graph(library_of(answer)).grad_fn)
    except AnswerError:
        if graph is two_ways:
            raise
        return None
    good = isinstance(given, list | tuple | set) and all(isinstance(name, str) for name in given)
    return names_without_numbers(list(given)) if good else None


NODES: dict[Callable[[Any], Any], list[str]] = {
    two_ways: ["AddBackward", "LogBackward", "SqrtBackward", "PowBackward", "PowBackward", "AccumulateGrad"],
    number_inside: ["MulBackward", "AccumulateGrad"],
    chain: [*["AddBackward"] * 5000, "AccumulateGrad"],
}


def every_node(graph: Callable[[Any], Any]) -> Cases:
    """The names of all nodes behind a root, itself included."""
    truth = Counter(NODES[graph])
    if graph is not two_ways:
        hint = "code_22_none" if graph is number_inside else "code_22_deep"
        return [("code_22_right", truth), (hint, lambda given: True)]
    return [
        ("code_22_no_list", None),
        ("code_22_right", truth),
        ("code_22_twice", lambda given: set(given) == set(truth) and given > truth),
        ("code_22_same_name", lambda given: set(given) == set(truth)),
        ("code_22_start", Counter(NODES[graph][1:])),
        ("code_22_end", Counter(NODES[graph][:-1])),
    ]


# ── the engine of the notebook ──────────────────────────────────────────────────────────────────────────────

AT, TIMES = 0.5, 3.0  # where tanh is tried, and what its result is multiplied by


SLOPE = 1 - math.tanh(AT) ** 2
TANH: Cases = [
    ("from_scratch_not_a_value", lambda came: came.returned is None),
    ("from_scratch_value", lambda came: not same_answer(came.returned, math.tanh(AT))),
    ("from_scratch_no_node", lambda came: came.grad is None),
    ("from_scratch_right", lambda came: same_answer(came.grad, TIMES * SLOPE)),
    ("from_scratch_not_multiplied", lambda came: same_answer(came.grad, SLOPE)),
    ("from_scratch_of_the_input", lambda came: same_answer(came.grad, TIMES * (1 - AT**2))),
]


def on_a_value(answer: object) -> LeafResult:
    """The number that a function makes of a Value, and the gradient that comes back, if one does. The number
    is None if it makes no Value."""
    value = getattr(answer, "__globals__", {}).get("Value")
    if not isinstance(value, type) or not callable(answer):
        raise Unfit

    def run() -> LeafResult:
        x = value(AT, requires_grad=True)
        result: Any = answer(x)
        if not isinstance(result, value):
            return LeafResult(None, None)
        if getattr(result, "grad_fn", None) is None:
            return LeafResult(result.data, None)  # type: ignore[attr-defined]
        (result * TIMES).backward()  # type: ignore[attr-defined, operator]
        return LeafResult(result.data, None if x.grad is None else x.grad.data)  # type: ignore[attr-defined]

    came: LeafResult = attempt(run)
    return came


FUNCTION_EXERCISES = {
    "code_14": Exercise(
        constant_factor,
        "code_14_other",
        read=result_after_backward,
        unfit="code_14_no_function",
        places=(5.0, 2.0, -3.0),
    ),
    "code_19": Exercise(POSITIVE, "code_19_other", read=through_hook),
    "code_22": Exercise(
        every_node, "code_22_other", read=names_listed_by, places=(two_ways, number_inside, chain)
    ),
    "intro_requires_grad": Exercise(
        leaf_with_grad,
        "intro_requires_grad_not_a_leaf",
        read=requires_grad,
        unfit="intro_requires_grad_no_function",
    ),
    "graph_retain": Exercise(
        TWO_RESULTS,
        "graph_retain_other",
        read=tried_at_starts,
        errors={"second time": "graph_retain_again"},
    ),
    "backward_grad_twice": Exercise(
        second_derivative,
        "backward_grad_twice_other",
        read=derivative_result,
        errors={"does not require grad": "backward_grad_twice_no_graph"},
        places=TWICE,
    ),
    "from_scratch": Exercise(TANH, "from_scratch_other", read=on_a_value),
}


# ─── Exercises whose answers are difference quotients that somebody wrote


Function = Callable[[Any], Any]


def cube(x: Any) -> Any:
    """x³."""
    return x**3


def fourth(x: Any) -> Any:
    """x⁴ − 2x."""
    return x**4 - 2 * x


def central_quotient(f: Function, x: float, h: float) -> float:
    """The quotient to both sides."""
    return (f(x + h) - f(x - h)) / (2 * h)


def both_sides() -> Cases:
    """The quotient of x³ at 2 with h = 0.3."""
    x, h = 2.0, 0.3
    high, here, low = cube(x + h), cube(x), cube(x - h)
    return [
        ("exercise_nothing", None),
        ("code_02_right", central_quotient(cube, x, h)),
        ("code_02_one_side", (high - here) / h),
        ("code_02_one_side", (here - low) / h),
        ("code_02_twice", 2 * central_quotient(cube, x, h)),
        ("code_02_difference", high - low),
        ("code_02_brackets", (high - low) / 2 * h),
        ("code_02_brackets", high - low / 2 * h),
        ("code_02_brackets", high - low / (2 * h)),
        ("code_02_sign", -central_quotient(cube, x, h)),
        ("code_02_exact", 3 * x**2),
    ]


def tried_on_cube(answer: object) -> Any:
    """What a function of f, x and h gives for x³ at 2."""
    library = library_of(answer)
    return attempt(answer, cube, library.tensor(2.0, dtype=library.float64), 0.3)


PLACES: list[tuple[Function, float, float]] = [(cube, 5.0, 0.1), (fourth, -2.0, 0.25)]
QUOTIENTS: list[tuple[str, Callable[[Function, float, float], float]]] = [
    ("code_20_right", central_quotient),
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


QUOTIENT_EXERCISES = {
    "code_02": Exercise(both_sides, "code_02_other", read=tried_on_cube, unfit="code_02_no_function"),
    "code_20": Exercise(quotients, "code_20_other", read=tried_at_places, digits=6),
}


# ─── Exercises whose answers are Functions, operations with a derivative of one's own


class FunctionTrial(NamedTuple):
    """The result of a Function: its result, the gradients of its inputs, the tensors that it saved."""

    result: Any
    gradients: tuple[Any, ...]
    saved: tuple[Any, ...]


def function_of(answer: object) -> type[Any] | None:
    """The Function that an answer is, or whose `apply` it is; None for anything else."""
    written = answer if isinstance(answer, type) else getattr(answer, "__self__", None)
    known = [library.autograd.Function for library in (minigrad, pytorch()) if library]
    if isinstance(written, type) and issubclass(written, tuple(known)) and written not in known:
        return written
    return None


def try_function(written: type[Any], inputs: Sequence[Any], sent: Any) -> FunctionTrial:
    """`written` applied to `inputs`, in double precision, and the gradients when `sent` comes back to it.

    Raised if what somebody wrote raises.
    """
    library = library_of(written)

    def run() -> FunctionTrial:
        given = [library.tensor(value, dtype=library.float64, requires_grad=True) for value in inputs]
        result = written.apply(*given)
        if not is_tensor(result):
            raise TypeError(f"forward returned {type(result).__name__}, not a tensor")
        saved = getattr(result.grad_fn, "saved_tensors", ())
        came = library.tensor(sent, dtype=library.float64)
        return FunctionTrial(result, library.autograd.grad(result, given, came, allow_unused=True), saved)

    return attempt(run)


def trial(places: Sequence[Sequence[Any]], sent: Any) -> Callable[[object], list[FunctionTrial]]:
    """What applies a Function to the inputs of each place, and sends `sent` back to it."""

    def read(answer: object) -> list[FunctionTrial]:
        written = function_of(answer)
        if written is None:
            raise Unfit
        return [try_function(written, place, sent) for place in places]

    return read


def trial_results(tries: Sequence[FunctionTrial]) -> list[Any]:
    """What came out."""
    return [each.result for each in tries]


def gradients(tries: Sequence[FunctionTrial]) -> list[Any]:
    """What went back."""
    return [each.gradients for each in tries]


FACTORS, GIVEN = [(2.0, 7.0)], 10.0
PRODUCT: Cases = [
    ("code_11_forward", lambda mine: not same_answer(trial_results(mine), [14])),
    ("code_11_none", lambda mine: any(gradient is None for gradient in mine[0].gradients)),
    ("code_11_right", lambda mine: same_answer(gradients(mine), [(70, 20)])),
    ("code_11_swapped", lambda mine: same_answer(gradients(mine), [(20, 70)])),
    ("code_11_not_multiplied", lambda mine: same_answer(gradients(mine), [(7, 2)])),
    ("code_11_passed_on", lambda mine: same_answer(gradients(mine), [(10, 10)])),
]

PAIRS = [(3.0, 2.0), (1.0, 4.0), (-2.0, -0.5)]
SLOPES = [(1 / b, -a / b**2) for a, b in PAIRS]
TRUTH = [(GIVEN * by_a, GIVEN * by_b) for by_a, by_b in SLOPES]
QUOTIENT: Cases = [
    ("code_21_forward", lambda mine: not same_answer(trial_results(mine), [a / b for a, b in PAIRS])),
    ("code_21_right", lambda mine: same_answer(gradients(mine), TRUTH)),
    ("code_21_not_multiplied", lambda mine: same_answer(gradients(mine), SLOPES)),
    ("code_21_one_point", lambda mine: same_answer(gradients(mine[:1]), TRUTH[:1])),
    ("code_21_first", lambda mine: not same_answer(mine[0].gradients[0], TRUTH[0][0])),
    ("code_21_unchanged", lambda mine: same_answer(mine[0].gradients[1], -GIVEN * 3 / 2)),
    ("code_21_sign", lambda mine: same_answer(mine[0].gradients[1], -TRUTH[0][1])),
]

POINTS, SENT = [([0.0, 1.0, -2.0],)], [10.0, 1.0, -3.0]
SIGMOID = 1 / (1 + np.exp(-np.array(POINTS[0][0])))
ITS_SLOPE = SIGMOID * (1 - SIGMOID)


def gradient_arrived(gradient: np.ndarray) -> Callable[[list[FunctionTrial]], bool]:
    """Whether that gradient came back."""
    return lambda mine: same_answer(mine[0].gradients[0], gradient)


right = gradient_arrived(SENT * ITS_SLOPE)
# A sigmoid that saves its output alone.
SAVING: Cases = [
    ("backward_exp_forward", lambda mine: not same_answer(trial_results(mine), [SIGMOID.tolist()])),
    ("backward_exp_none", lambda mine: mine[0].gradients[0] is None),
    ("backward_exp_not_saved", lambda mine: right(mine) and not mine[0].saved),
    (
        "backward_exp_right",
        lambda mine: right(mine) and all(same_answer(kept, SIGMOID) for kept in mine[0].saved),
    ),
    ("backward_exp_saved_input", right),
    ("backward_exp_not_multiplied", gradient_arrived(ITS_SLOPE)),
    ("backward_exp_like_exp", gradient_arrived(SENT * SIGMOID)),
]

CUSTOM_FUNCTION_EXERCISES = {
    "code_11": Exercise(PRODUCT, "code_11_other", trial(FACTORS, GIVEN), "exercise_no_class"),
    "code_21": Exercise(QUOTIENT, "code_21_other", trial(PAIRS, GIVEN), "exercise_no_class"),
    "backward_exp": Exercise(SAVING, "backward_exp_other", trial(POINTS, SENT), "exercise_no_class"),
}
