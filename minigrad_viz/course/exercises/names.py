"""Exercises whose answers are names: of leaves, of results that survive, of tensors that keep a gradient."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection
from typing import Any

import minigrad
from minigrad import tensor

from ..answers import Unfit
from ..exercise import Cases, Exercise
from .numbers import leaf


def letters(answer: object, known: Collection[str]) -> set[str]:
    """The letters in an answer such as "ace", "a, b" or ["a", "b"]; Unfit if it is something else."""
    if isinstance(answer, list | tuple | set | frozenset) and all(isinstance(name, str) for name in answer):
        answer = " ".join(answer)
    if not isinstance(answer, str):
        raise Unfit
    found = set(re.sub(r"\band\b|[\s,;.]", "", answer.strip().lower()))
    if not found <= set(known):
        raise Unfit
    return found


def some_letters(answer: object) -> set[str]:
    """The names of tensors from a to e, at least one."""
    return letters(answer, "abcde") or letters(None, "")


def leaves() -> Cases:
    """The names of the leaves."""
    a, b = leaf(2.0), tensor(3.0)
    c, d = b * b, a * b
    tensors = {"a": a, "b": b, "c": c, "d": d, "e": d + 1}
    truth = {name for name, each in tensors.items() if each.is_leaf}
    asking = {name for name, each in tensors.items() if each.requires_grad}
    return [
        ("code_03_right", truth),
        ("code_03_asked", truth & asking),
        ("code_03_made_by_hand", {"a", "b"}),
        ("code_03_others", set(tensors) - truth),
        ("code_03_no_gradient", set(tensors) - asking),
    ]


RESULTS: dict[str, Callable[[Any], Any]] = {
    "a": lambda x: -x,
    "b": lambda x: x + x,
    "c": lambda x: x * x,
    "d": minigrad.exp,
    "e": lambda x: x - 1,
}


def survives(compute: Callable[[Any], Any]) -> bool:
    """Whether backward works twice."""
    result = compute(leaf(5.0))
    result.backward()
    try:
        result.backward()
    except RuntimeError:
        return False
    return True


def survivors() -> Cases:
    """The letters of the results that survive a second backward."""
    truth = {letter for letter, compute in RESULTS.items() if survives(compute)}
    return [
        ("code_06_right", truth),
        ("code_06_nothing", set()),
        ("code_06_all", set(RESULTS)),
        ("code_06_turned", set(RESULTS) - truth),
        ("code_06_missing", lambda given: given < truth),
        ("code_06_exp", lambda given: "d" in given),
    ]


def in_order(answer: object) -> str:
    """Each of the letters a, b, x and z once, as they were given; Unfit if it is something else."""
    if isinstance(answer, list | tuple) and all(isinstance(name, str) for name in answer):
        answer = "".join(answer)
    found = re.sub(r"[\s,;>→]", "", answer.lower()) if isinstance(answer, str) else ""
    if sorted(found) != sorted("abxz"):
        raise Unfit
    return found


def order() -> Cases:
    """The letters of the tensors in the order in which their nodes run."""
    x = leaf(1.0)
    a = x * 2
    b = a + x
    z = a * b
    ran: list[str] = []
    for name, node in {
        "z": z.grad_fn,
        "b": b.grad_fn,
        "a": a.grad_fn,
        "x": b.grad_fn.next_functions[1][0],
    }.items():
        node.register_prehook(lambda grads, name=name: ran.append(name))
    z.backward()
    truth = "".join(ran)
    return [
        ("engine_compared_right", truth),
        ("engine_compared_forward", "xabz"),
        (
            "engine_compared_impatient",
            lambda given: given[0] == "z" and given.index("a") < given.index("b"),
        ),
        ("engine_compared_leaf", lambda given: given[0] == "z"),
    ]


def tensors_named(answer: object) -> set[str]:
    """The names of tensors; Unfit if they are others."""
    given = {answer} if isinstance(answer, str) else answer
    if not isinstance(given, set | frozenset | list | tuple) or not all(isinstance(n, str) for n in given):
        raise Unfit
    names = {name.strip() for name in given}
    if not names <= {"x", "y", "z", "loss"}:
        raise Unfit
    return names


def kept() -> Cases:
    """The names of the tensors whose .grad is not None."""
    x = leaf(1.0)
    y = x * 2
    z = y + 3
    loss = z**2
    loss.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # today's dialect warns where the .grad of a result is read
        tensors = {"x": x, "y": y, "z": z, "loss": loss}
        truth = {name for name, each in tensors.items() if each.grad is not None}
    return [
        ("graph_exercise_right", truth),
        ("graph_exercise_intermediate", lambda given: bool(given & {"y", "z"})),
        ("graph_exercise_root", bool),
    ]


EXERCISES = {
    "code_03": Exercise(leaves, "code_03_other", read=some_letters, unfit="code_03_form"),
    "code_06": Exercise(
        survivors,
        "code_06_square",
        read=lambda answer: set() if answer is None else letters(answer, RESULTS),
        unfit="code_06_other",
    ),
    "engine_compared": Exercise(order, "engine_compared_other", read=in_order, unfit="engine_compared_form"),
    "graph_exercise.kept": Exercise(
        kept, "graph_exercise_none", read=tensors_named, unfit="graph_exercise_names"
    ),
}
