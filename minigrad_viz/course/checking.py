"""`check`: whether the answer to an exercise is right, and a hint where it is not."""

from __future__ import annotations

from ..sources.unseen import unseen
from ..words import text, wrapped
from .answers import Raised
from .exercise import praises
from .exercises import EXERCISES
from .predictions import PREDICTIONS, judged, prompt

WIDTH = 66  # columns of a printed line: what a narrow window shows without breaking words


def check(name: str, answer: object = ...) -> None:
    """Print whether `answer` is right, and a hint if it is not, in the language in force.

    `name` is the notebook's, such as "code_07", or with the name of one of its exercises, "code_07.second".
    Under "code_07.predict" stands the question of "Predict first", if a program answers it.
    Three dots, the placeholder of every exercise, count as not answered. ValueError for an unknown name.
    """
    print(said(name, answer))


def said(name: str, answer: object) -> str:
    """What `check` prints."""
    if name in PREDICTIONS:
        return prediction(name, answer)
    if name not in EXERCISES:
        raise ValueError(f"check: there is no exercise called {name!r}")
    error, key = "", "exercise_unanswered"
    if answer is not ...:
        try:
            key = unseen(lambda: EXERCISES[name].judge(answer))
        except Raised as raised:
            key, error = "exercise_raised", str(raised)
    mark = "✓" if praises(key) else "…" if key == "exercise_unanswered" else "✗"
    return wrapped(f"{mark} {text(key, error=error)}", WIDTH, "  ")


def prediction(name: str, answer: object) -> str:
    """What `check` prints of a question of "Predict first": the question itself where it is not answered."""
    if answer is ...:
        return wrapped(f"… {prompt(name)}", WIDTH, "  ")
    told = judged(name, answer)
    return wrapped(f"{'✓' if told.right else '✗'} {told.text}", WIDTH, "  ")
