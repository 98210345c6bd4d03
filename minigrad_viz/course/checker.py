"""`check`: whether an answer to an exercise or a question is right, and a hint where it is not."""

from __future__ import annotations

from ..predicting.answer_log import note_answer
from ..sources.pause import without_recording
from ..words import text, wrap_text
from .exercise import AnswerError, praises
from .exercises import EXERCISES
from .exercises.predictions import PREDICTIONS

WIDTH = 66  # columns of a printed line: what a narrow window shows without breaking words


def check(name: str, answer: object = ...) -> None:
    """Print whether `answer` is right, and a hint if it is not, in the language in force.

    `name` is the notebook's, such as "code_07", or with the name of one of its exercises, "code_07.second".
    "code_07.predict_1" is the first question of "Predict first".
    Three dots, the placeholder of every exercise, count as not answered. ValueError for an unknown name.
    """
    print(check_text(name, answer))


def check_text(name: str, answer: object) -> str:
    """What `check` prints."""
    if name in PREDICTIONS:
        return prediction(name, answer)
    if name not in EXERCISES:
        raise ValueError(f"check: there is no exercise called {name!r}")
    error, key = "", "exercise_unanswered"
    if answer is not ...:
        try:
            key = without_recording(lambda: EXERCISES[name].judge(answer))
        except AnswerError as raised:
            key, error = "exercise_raised", str(raised)
        note_answer(name, praises(key), [key])
    mark = "✓" if praises(key) else "…" if key == "exercise_unanswered" else "✗"
    return wrap_text(f"{mark} {text(key, error=error)}", WIDTH, "  ")


def prediction(name: str, answer: object) -> str:
    """What `check` prints of a question of "Predict first": how to answer it, where it is not answered."""
    asked = PREDICTIONS[name]
    form = asked.ask(int(name.rpartition("_")[2]))
    if answer is ...:
        prefix = name.rstrip("0123456789")
        last = name == [other for other in PREDICTIONS if other.startswith(prefix)][-1]
        lines = [f"… {form}", *([f"  {text('predict_closed')}"] if last else [])]
        return "\n".join(wrap_text(line, WIDTH, "  ") for line in lines)
    key = without_recording(lambda: asked.exercise.judge(answer))
    note_answer(name, praises(key), [key])
    told = form if key == asked.form else text(key)
    return wrap_text(f"{'✓' if praises(key) else '✗'} {told}", WIDTH, "  ")
