"""`predict(z, "x.grad")`: a question about a graph or a cell. `check_prediction` judges an answer to it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ..model.scene import Scenes
from ..predicting.judging import Judged, judge, say
from ..predicting.question import QuizQuestion
from ..predicting.questions import asked, questions_of
from ..protocol import is_tensor
from ..trace.events import Trace
from ..trace.walk import trace_of
from ..words import language, text, wrapped
from .last import known_to_last, last
from .report import Report
from .run import Recording

WIDTH = 80  # columns of a line of text


class Prediction:
    """A question. Its text is what is asked; the answer stands in none of its texts before `show`."""

    def __init__(self, question: QuizQuestion, lang: str) -> None:
        self.question, self.lang = question, lang

    def check(self, answer: Any, along: Mapping[str, Any] | None = None) -> Judged:
        """Judge an answer: a number, a list, a tensor or None, or text as one types it (`"75*0.008"`).
        `along` may have the gradients that you found on the way, by tensor."""
        return judge(self.question, answer, along, self.lang)

    def hint(self) -> str:
        """What helps to find the answer."""
        return say(self.question.hint, self.lang)

    def show(self) -> str:
        """The solution."""
        return say(self.question.solution, self.lang)

    def __repr__(self) -> str:
        return wrapped(say(self.question.prompt, self.lang), WIDTH)


def predict(source: Any, subject: str | None = None, lang: str | None = None) -> Prediction:
    """A question about a cell or a graph, which can judge answers.

    `subject` is what is asked for: `"x.grad"`, `"y.shape"`, `"leaves"`, `"next"` or `"raises"`. `source` is a
    tensor (then its graph is asked, before backward() or under `%%autograd`), or what was recorded: a
    report, a recording or a trace. `predict("x.grad")` asks the last cell under `%%autograd`.
    ValueError if that does not answer the question.
    """
    return Prediction(found(source, subject, sys._getframe(1), lang), lang or language())


def check_prediction(
    source: Any, subject: str, answer: Any, along: Mapping[str, Any] | None = None, lang: str | None = None
) -> Judged:
    """Judge an answer to `predict(source, subject)`. The result is true if the answer is right; its text is
    what is said of it. For `assert`, Otter and nbgrader."""
    return judge(found(source, subject, sys._getframe(1), lang), answer, along, lang)


def found(source: Any, subject: str | None, frame: Any, lang: str | None) -> QuizQuestion:
    """The question; ValueError if the source does not answer it."""
    if isinstance(source, str) and subject is None:
        source, subject = last(), source
    if subject is None:
        raise TypeError("predict() needs to know what is asked, such as predict(z, 'x.grad')")
    known: list[str] = []
    for scenes, explained in places(source, frame):
        question = asked(scenes, subject, explained, lang)
        if question is not None:
            return question
        known += [each.subject for each in questions_of(scenes, explained, lang)]
    said = ", ".join(dict.fromkeys(known)) or "–"
    raise ValueError(text("quiz_unanswered", lang, subject=subject, known=said))


def places(source: Any, frame: Any) -> list[tuple[Scenes, Any]]:
    """Where the answer may stand: what was recorded, then the graph as it is."""
    if is_tensor(source):
        cell = known_to_last(source)
        names = {**frame.f_globals, **frame.f_locals}
        graph = Scenes(trace_of([source], {n: t for n, t in names.items() if is_tensor(t)}))
        return [*([(cell[0], last().explained)] if cell is not None else []), (graph, ())]
    if isinstance(source, Recording):
        source = source.report
    if isinstance(source, Trace):
        source = Report(source)
    if isinstance(source, Report):
        return [(source.scenes, source.explained)]
    raise TypeError(f"predict() asks about a tensor or a recorded cell, not {type(source).__name__}")
