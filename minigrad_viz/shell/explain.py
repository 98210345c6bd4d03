"""What a user asks about the last cell: `explain()`, `why_none(x)`, `predict(z, "x.grad")`."""

from __future__ import annotations

import ast
import html
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from ..drawing.export import paragraph
from ..explaining.missing_grad import (
    Answer,
    Facts,
    answer_text,
    from_graph,
    from_scenes,
    in_general,
    of_itself,
)
from ..isolation import silence
from ..model.scene import Scenes
from ..predicting.answer_log import note_answer
from ..predicting.question import Judgment, QuizQuestion, judge, say
from ..predicting.questions import question_about, questions_of
from ..protocol import dtype_name, edges_of, has_history, history_of, is_tensor, value_of, variable_of
from ..recording.aftermath import trace_after
from ..recording.error_frames import entries
from ..recording.tape import describe
from ..trace.events import Trace
from ..trace.graph_walk import trace_of
from ..trace.ids import Ids
from ..trace.source_positions import Locator
from ..trace.statements import parse_expression
from ..words import language, text, wrap_text
from .report import Report
from .run import Recording

# ─── What is kept of the last watched cell, until the next one


_last: list[Report] = []  # that of the last watched cell, if there is one
_error: list[Any] = []  # what is known again of the error that ended it
_ids: list[Ids] = []  # of its tensors, by weak references


def remember(report: Report, error: BaseException | None = None, ids: Ids | None = None) -> None:
    """Keep the report of a watched cell, which `error` ended, until the next one's; its tensors are known by
    their `ids`."""
    _last[:] = [report]
    _error[:] = [] if error is None else [trail(error)]
    _ids[:] = [] if ids is None else [ids]


def last() -> Report:
    """Return the report of the last cell under `%%autograd`; RuntimeError if there is none."""
    if not _last:
        raise RuntimeError(text("no_last"))
    return _last[0]


def report_of(error: BaseException) -> Report | None:
    """The report of the last watched cell, if this is the error that ended it."""
    return _last[0] if _error == [trail(error)] else None


def known_to_last(tensor: Any) -> tuple[Scenes, str] | None:
    """The scenes of the last watched cell and the id of a tensor there, if the cell knew it."""
    id = _ids[0].known(tensor) if _ids else None
    return None if id is None else (_last[0].scenes, id)


def trail(error: BaseException) -> tuple[Any, ...]:
    """What an error is known by, without keeping it: its class and text, and the lines that it came
    through."""
    lines = ((entry.tb_frame.f_code.co_filename, entry.tb_lineno) for entry in entries(error.__traceback__))
    return describe(error), *lines


# ─── `explain()`: the same for an error anywhere as under a cell of `%%autograd`


class ErrorExplanation:
    """An error explained: the picture with what is guilty marked, then the error, why and fix.

    It shows itself in a notebook and as text, and keeps no tensor alive.
    """

    def __init__(self, report: Report) -> None:
        self.report = report

    @property
    def _unknown(self) -> str:
        """The sentence for an error of which nothing is known."""
        known = any(each.why or each.fix for each in self.report.explained) or self.report.problem
        return "" if known else text("error_unknown", self.report.lang)

    def text(self) -> str:
        """All of it in words."""
        report = self.report
        told = report.text(table=False) if report.graph.stations else report.explanation()
        return "\n\n".join(filter(None, (told, self._unknown)))

    def html(self) -> str:
        """All of it for a page."""
        report = self.report
        drawn = bool(report.graph.stations)
        shown = report.html("static", table=False) if drawn else report.explanation_html()
        return shown + (paragraph(self._unknown) if self._unknown else "")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        page = self.html()  # first, for the text tells what hindered it
        return {"text/plain": self.text(), "text/html": page}

    def __repr__(self) -> str:
        return self.text()


def explain(error: BaseException | None = None, **options: Any) -> ErrorExplanation:
    """Explain why `error` (or the last one) occurred, where in the graph, and what to do.

    It works for any code; for a cell under `%%autograd` it knows more. Options are those of `Report`.
    RuntimeError if there was no error; TypeError if `error` is not an exception.
    """
    error = last_error() if error is None else error
    if error is None:
        raise RuntimeError(text("no_error", options.get("lang")))
    if not isinstance(error, BaseException):
        raise TypeError(f"explain() explains errors, not {type(error).__name__}")
    report = report_of(error)
    if report is not None and options:
        report = Report(report.trace, **options)
    return ErrorExplanation(report or Report(trace_after(error), **options))


def last_error() -> BaseException | None:
    """The error that is being handled, or the last one that nobody handled."""
    return sys.exception() or getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)


# ─── `why_none(x)`: why is `x.grad` None?


WIDTH = 80  # columns of a line of text
LARGEST = 1_000_000  # nodes of graphs that are searched


class Why:
    """One sentence, as text, in lines of a terminal's width, and on a page; `key` says which of the known
    reasons it gives."""

    def __init__(self, key: str, sentence: str, lang: str) -> None:
        self.key = key
        self.sentence = sentence
        self.lang = lang

    def __repr__(self) -> str:
        return wrap_text(self.sentence, WIDTH)

    def _repr_html_(self) -> str:
        return f'<p lang="{self.lang}">{html.escape(self.sentence)}</p>'


def why_none(x: Any, lang: str | None = None) -> Why:
    """Explain in one sentence why `x.grad` is None.

    If the last cell under `%%autograd` used `x`, the sentence says what happened there; otherwise it is about
    the graph of `x`.

    What is not certain is left out. TypeError if `x` is not a tensor; ValueError for an unknown language.

    >>> import minigrad as torch
    >>> x = torch.tensor(5.0)
    >>> print(why_none(x, lang="en"))
    x.grad is None because x does not require gradients.
    """
    if not is_tensor(x):
        raise TypeError(f"why_none() asks about a tensor, not {type(x).__name__}")
    lang = lang or language()
    frame = sys._getframe(1)
    facts = facts_of(x, argument_text(frame) or variable_name(x, frame) or text("kind_tensor", lang))
    answer, known = of_itself(facts, lang), known_to_last(x)
    if answer is None and facts.requires_grad and not has_history(x):
        answer = answer_text("why_unknown", lang, name=facts.name)
    if answer is None and known is not None:
        answer = from_scenes(*known, facts, lang)
    answer = answer or in_general(facts, lang) or live(x, facts, frame, lang)
    return Why(answer.key, answer.sentence, lang)


def facts_of(x: Any, name: str) -> Facts:
    """What is known from a tensor alone; nobody is warned."""
    with silence():
        grad = x.grad if has_history(x) else None
    requires, history = bool(x.requires_grad), history_of(x)
    value = None if grad is None else value_of(grad)
    return Facts(name, dtype_name(x), requires, history is None, bool(x.retains_grad), value)


def argument_text(frame: FrameType) -> str | None:
    """What the code in `frame` asks about, if that is a name or an attribute and its source is known."""
    spot = Locator("", frame.f_globals).at(frame)
    call = None if spot is None else parse_expression(spot.span.text)
    if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != "why_none":
        return None
    given = call.args[0] if call.args else None
    return ast.unparse(given) if isinstance(given, ast.Name | ast.Attribute) else None


def visible_variables(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """The variables that code in `frame` sees, its own first."""
    seen: set[str] = set()
    for names in (frame.f_locals, frame.f_globals):
        for name, value in list(names.items()):
            if name not in seen and not name.startswith("_"):
                seen.add(name)
                yield name, value


def variable_name(x: Any, frame: FrameType) -> str | None:
    """The variable that a tensor is."""
    return next((name for name, value in visible_variables(frame) if value is x), None)


def live(x: Any, facts: Facts, frame: FrameType, lang: str) -> Answer:
    """The answer of the graph: which variables lead to the tensor."""
    roots = [(name, t) for name, t in visible_variables(frame) if is_tensor(t) and t is not x]
    found, room = [], LARGEST
    for name, root in roots:
        reaches, visited = leads_to(history_of(root), x, room)
        room -= visited
        if reaches is None:
            return answer_text("why_unknown", lang, name=facts.name)
        if reaches:
            found.append(name)
    return from_graph(facts, found, lang)


def leads_to(node: Any, x: Any, limit: int) -> tuple[bool | None, int]:
    """Whether the gradient of `x` is computed from `node` on, and how many nodes were looked at; None if they
    are too many."""
    goal = history_of(x)
    seen, todo = {node}, [] if node is None else [node]
    for at in todo:  # grows while it is read
        if (variable_of(at) is x) if goal is None else (at == goal):
            return True, len(todo)
        new = [n for n, _ in edges_of(at) if n is not None and n not in seen]
        seen.update(new)
        todo += new
        if len(todo) > limit:
            return None, len(todo)
    return False, len(todo)


# ─── `predict(z, "x.grad")`


QUESTION_WIDTH = 80  # columns of a line of text


class Prediction:
    """A question. Its text is what is asked; none of its texts has the answer before `show`."""

    def __init__(self, question: QuizQuestion, lang: str) -> None:
        self.question, self.lang = question, lang

    def check(self, answer: Any, along: Mapping[str, Any] | None = None) -> Judgment:
        """Judge an answer: a number, a list, a tensor or None, or text as one types it (`"75*0.008"`).
        `along` may have the gradients that you found on the way, by tensor."""
        judged = judge(self.question, answer, along, self.lang)
        note_answer(self.question.subject, judged.right, judged.keys)
        return judged

    def hint(self) -> str:
        """What helps to find the answer."""
        return say(self.question.hint, self.lang)

    def show(self) -> str:
        """The solution."""
        return say(self.question.solution, self.lang)

    def __repr__(self) -> str:
        return wrap_text(say(self.question.prompt, self.lang), QUESTION_WIDTH)


def predict(source: Any, subject: str | None = None, lang: str | None = None) -> Prediction:
    """Return a question about a cell or a graph. It can judge answers.

    `subject` is what it asks for: `"x.grad"`, `"y.shape"`, `"leaves"`, `"next"` or `"raises"`. `source` is a
    tensor (its graph is used, before backward() or under `%%autograd`) or something recorded: a report, a
    recording or a trace. `predict("x.grad")` uses the last cell under `%%autograd`. ValueError if the
    source has no answer to the question.

    >>> import minigrad as torch
    >>> x = torch.tensor(5.0, requires_grad=True)
    >>> z = torch.log(x ** 3)
    >>> print(predict(z, "x.grad", lang="en").check("3/5"))
    Right. x.grad = 0.6
    """
    return Prediction(find_question(source, subject, sys._getframe(1), lang), lang or language())


def check_prediction(
    source: Any, subject: str, answer: Any, along: Mapping[str, Any] | None = None, lang: str | None = None
) -> Judgment:
    """Judge an answer to `predict(source, subject)`.

    The result is true if the answer is right; its `text` is the feedback. Made for `assert`, Otter and
    nbgrader.

    >>> import minigrad as torch
    >>> x = torch.tensor(5.0, requires_grad=True)
    >>> bool(check_prediction(x ** 2, "x.grad", 10))
    True"""
    question = find_question(source, subject, sys._getframe(1), lang)
    return Prediction(question, lang or language()).check(answer, along)


def find_question(source: Any, subject: str | None, frame: Any, lang: str | None) -> QuizQuestion:
    """The question; ValueError if the source does not answer it."""
    if isinstance(source, str) and subject is None:
        source, subject = last(), source
    if subject is None:
        raise TypeError("predict() needs to know what is asked, such as predict(z, 'x.grad')")
    known: list[str] = []
    for scenes, explained in places(source, frame):
        question = question_about(scenes, subject, explained, lang)
        if question is not None:
            return question
        known += [each.subject for each in questions_of(scenes, explained, lang)]
    said = ", ".join(dict.fromkeys(known)) or "–"
    raise ValueError(text("quiz_unanswered", lang, subject=subject, known=said))


def places(source: Any, frame: Any) -> list[tuple[Scenes, Any]]:
    """Where the answer may be: what was recorded, then the graph as it is."""
    if is_tensor(source):
        cell = known_to_last(source)
        names = {**frame.f_globals, **frame.f_locals}
        graph = Scenes(trace_of([source], {n: t for n, t in names.items() if is_tensor(t)}))
        return [*([(cell[0], last().diagnosed)] if cell is not None else []), (graph, ())]
    if isinstance(source, Recording):
        source = source.report
    if isinstance(source, Trace):
        source = Report(source)
    if isinstance(source, Report):
        return [(source.scenes, source.diagnosed)]
    raise TypeError(f"predict() asks about a tensor or a recorded cell, not {type(source).__name__}")
