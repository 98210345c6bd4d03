"""Exercises whose answers are functions that somebody wrote: they are tried."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...equality import same
from ...protocol import is_tensor
from ..answers import Raised, Unfit, attempt, function, library_of
from ..exercise import Cases, Exercise

# ── gradients ───────────────────────────────────────────────────────────────────────────────────────────────


class Came(NamedTuple):
    """What a function returned for a leaf, and what came into the leaf's `.grad`."""

    returned: Any
    grad: Any


def requires_grad(answer: object) -> Any:
    """What a function makes of a list of whole numbers."""
    return attempt(answer, [1, 2, 3])


def receives(made: Any) -> bool:
    """Whether a tensor is a leaf that gets a gradient, which is tried."""
    (made * made).sum().abs().backward()
    return made.is_leaf and made.grad is not None


def asking() -> Cases:
    """A leaf of these numbers that receives a gradient."""

    def real(made: Any) -> bool:
        return made.is_floating_point() or made.is_complex()

    return [
        ("intro_requires_grad_no_tensor", lambda made: not is_tensor(made)),
        (
            "intro_requires_grad_values",
            lambda made: not same(made.detach().real if made.is_complex() else made, [1, 2, 3]),
        ),
        ("intro_requires_grad_not_asked", lambda made: not made.requires_grad and real(made)),
        ("intro_requires_grad_whole", lambda made: not made.requires_grad),
        ("intro_requires_grad_right", receives),
    ]


def constant_factor(at: float) -> Cases:
    """A function of x with the value x²·x, whose gradient takes x² for a constant."""

    def comes(gradient: float) -> Callable[[Came], bool]:
        return lambda came: same(came.grad, gradient)

    return [
        ("exercise_unanswered", lambda came: came.returned is ...),
        ("code_14_no_tensor", lambda came: not is_tensor(came.returned)),
        ("code_14_value", lambda came: not same(came.returned, at**3)),
        ("code_14_all_cut", lambda came: came.grad is None),
        ("code_14_right", comes(at**2)),
        ("code_14_uncut", comes(3 * at**2)),
        ("code_14_other_factor", comes(2 * at**2)),
    ]


def gone_back(answer: object, at: float) -> Came:
    """What a function returns for x, and x.grad after backward from there."""
    written = function(answer)
    x = library_of(written).tensor(at, requires_grad=True)
    result = attempt(written, x)
    if is_tensor(result) and result.requires_grad and same(result, at**3):
        attempt(result.backward)
    return Came(result, x.grad)


GRADIENT = [0.5, -3.0, 2.0, -0.25]


POSITIVE: Cases = [
    ("code_19_in_place", lambda came: came is None),
    ("code_19_right", [0.5, 0.0, 2.0, 0.0]),
    ("code_19_unchanged", GRADIENT),
    ("code_19_absolute", [0.5, 3.0, 2.0, 0.25]),
    ("code_19_opposite", [0.0, -3.0, 0.0, -0.25]),
    ("code_19_positive", lambda came: not same([came[0], came[2]], [0.5, 2.0])),
]


def through_hook(answer: object) -> list[float] | None:
    """What comes through a hook in a backward pass; None if the hook wrote into what it was given."""
    if not callable(answer):
        raise Unfit
    torch, wrote = library_of(answer), []

    def watched(grad: Any) -> Any:
        before = grad.tolist()
        returned = answer(grad)
        wrote.append(grad.tolist() != before)
        return returned

    def run() -> list[float]:
        x = torch.ones(4, requires_grad=True)
        y = x + 1
        y.register_hook(watched)
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
        ("backward_grad_twice_right", lambda came: same(came.returned, known.second)),
        ("backward_grad_twice_first", lambda came: same(came.returned, known.first)),
    ]


def differentiated(answer: object, known: Twice) -> Came:
    """What a function of f and x returns, and x.grad after it."""
    torch = library_of(answer)
    x = torch.tensor(5.0, requires_grad=True)
    return Came(attempt(answer, functools.partial(known.function, torch), x), x.grad)


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


def named(found: Sequence[str]) -> Counter[str]:
    """Nodes by name, without namespace and number, where name() and the name of its class can differ."""
    return Counter(name.rpartition("::")[2].rstrip("0") for name in found)


def names_of(answer: object, graph: Callable[[Any], Any]) -> Counter[str] | None:
    """What a function lists for a graph; None if these are no names, or if it fails at one of the graphs that
    are tried after that of the notebook."""
    try:
        given = attempt(answer, graph(library_of(answer)).grad_fn)
    except Raised:
        if graph is two_ways:
            raise
        return None
    good = isinstance(given, list | tuple | set) and all(isinstance(name, str) for name in given)
    return named(list(given)) if good else None


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
    ("from_scratch_value", lambda came: not same(came.returned, math.tanh(AT))),
    ("from_scratch_no_node", lambda came: came.grad is None),
    ("from_scratch_right", lambda came: same(came.grad, TIMES * SLOPE)),
    ("from_scratch_not_multiplied", lambda came: same(came.grad, SLOPE)),
    ("from_scratch_of_the_input", lambda came: same(came.grad, TIMES * (1 - AT**2))),
]


def on_a_value(answer: object) -> Came:
    """The number that a function makes of a Value, and the gradient that comes back, if one does. The number
    is None if it makes no Value."""
    value = getattr(answer, "__globals__", {}).get("Value")
    if not isinstance(value, type) or not callable(answer):
        raise Unfit

    def run() -> Came:
        x = value(AT, requires_grad=True)
        result: Any = answer(x)
        if not isinstance(result, value):
            return Came(None, None)
        if getattr(result, "grad_fn", None) is None:
            return Came(result.data, None)  # type: ignore[attr-defined]
        (result * TIMES).backward()  # type: ignore[attr-defined, operator]
        return Came(result.data, None if x.grad is None else x.grad.data)  # type: ignore[attr-defined]

    came: Came = attempt(run)
    return came


EXERCISES = {
    "code_14": Exercise(
        constant_factor, "code_14_other", read=gone_back, unfit="code_14_no_function", places=(5.0, 2.0, -3.0)
    ),
    "code_19": Exercise(POSITIVE, "code_19_other", read=through_hook),
    "code_22": Exercise(every_node, "code_22_other", read=names_of, places=(two_ways, number_inside, chain)),
    "intro_requires_grad": Exercise(
        asking, "intro_requires_grad_not_a_leaf", read=requires_grad, unfit="intro_requires_grad_no_function"
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
        read=differentiated,
        errors={"does not require grad": "backward_grad_twice_no_graph"},
        places=TWICE,
    ),
    "from_scratch": Exercise(TANH, "from_scratch_other", read=on_a_value),
}
