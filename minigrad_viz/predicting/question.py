"""A question as data: what is asked, what the trace answers, and what each wrong answer would tell."""

from __future__ import annotations

from typing import Any, NamedTuple

from .backward_pass import Arrow

GRAD, NEXT, LEAVES, SHAPE, RAISES = "grad", "next", "leaves", "shape", "raises"

Said = tuple[str, dict[str, Any]]  # a sentence: its key in the catalogue, and what is filled in


class Wrong(NamedTuple):
    """A wrong answer that somebody may give, and why. `key` is that of the misconception, `hint` says what
    went wrong; `taken` are the arrows that this answer follows, `missing` those that it forgets."""

    key: str
    answer: Any
    hint: Said
    taken: tuple[Arrow, ...] = ()
    missing: tuple[Arrow, ...] = ()


def wrong(key: str, answer: Any, **said: Any) -> Wrong:
    """A wrong answer whose hint is filled with what is `said`."""
    return Wrong(key, answer, (key, said))


class Part(NamedTuple):
    """One step on the way to an answer: over this `arrow` the node called `node`, at the tensor `at`, passes
    `truth` to the tensor `to`."""

    arrow: Arrow
    node: str
    at: str
    to: str
    truth: Any


class QuizQuestion(NamedTuple):
    """One question about the backward call `call` of a trace.

    `subject` is what is asked for, as one would type it (`x.grad`), and `prompt` the question. `time` is the
    event that answers it: what this and later events tell is to be hidden; `tensor` and `node` are what it is
    about. `wrong` are wrong answers that are understood, `parts` the steps on the way to the right one.
    `choices` are the words of an answer, where it is one of a few. `hint` helps before any answer, and
    `solution` says why the answer is right.
    """

    kind: str
    subject: str
    truth: Any
    prompt: Said
    solution: Said
    call: int
    time: int
    hint: Said
    tensor: str = ""
    node: str = ""
    wrong: tuple[Wrong, ...] = ()
    parts: tuple[Part, ...] = ()
    choices: tuple[str, ...] = ()
