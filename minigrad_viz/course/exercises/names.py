"""Exercises whose answers are names: of leaves, of results that survive, of tensors that keep a gradient."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..answers import Unfit
from ..exercise import Cases, Exercise


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


# a and b were created, c = b * b, d = a * b, e = d + 1; of a and b only a requires gradients.
LEAVES: Cases = [
    ("code_03_right", {"a", "b", "c"}),
    ("code_03_asked", {"a"}),
    ("code_03_made_by_hand", {"a", "b"}),
    ("code_03_others", {"d", "e"}),
    ("code_03_no_gradient", {"b", "c"}),
]
# Of -x, x + x, x * x, exp(x) and x - 1 those that save no tensor.
SURVIVORS: Cases = [
    ("code_06_right", {"a", "b", "e"}),
    ("code_06_nothing", set()),
    ("code_06_all", {*"abcde"}),
    ("code_06_turned", {"c", "d"}),
    ("code_06_missing", lambda given: given < {"a", "b", "e"}),
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


# z = a * b, b = a + x, a = x * 2.
ORDER: Cases = [
    ("engine_compared_right", "zbax"),
    ("engine_compared_forward", "xabz"),
    ("engine_compared_impatient", lambda given: given[0] == "z" and given.index("a") < given.index("b")),
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


KEPT: Cases = [
    ("graph_exercise_right", {"x"}),
    ("graph_exercise_intermediate", lambda given: bool(given & {"y", "z"})),
    ("graph_exercise_root", bool),
]
EXERCISES = {
    "code_03": Exercise(LEAVES, "code_03_other", read=some_letters, unfit="code_03_form"),
    "code_06": Exercise(
        SURVIVORS,
        "code_06_square",
        read=lambda answer: set() if answer is None else letters(answer, "abcde"),
        unfit="code_06_other",
    ),
    "engine_compared": Exercise(ORDER, "engine_compared_other", read=in_order, unfit="engine_compared_form"),
    "graph_exercise.kept": Exercise(
        KEPT, "graph_exercise_none", read=tensors_named, unfit="graph_exercise_names"
    ),
}
