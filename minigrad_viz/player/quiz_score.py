"""Questions as the data of the player: where each is asked, what it hides, and what is said of every answer.

    {"words": {…}, "yes": […], "no": […], "questions": [question, …]}

    question    {"act", "step" (the first that shows the answer), "kind", "label", "subject",
                 "prompt", "hint", "solution", "right", "unread", "none" (what is said where no wrong answer
                 fits), "truth", "row" (of the picture that has the answer, or ""), "cover" (whether the
                 whole picture has it: asked first, at the last forward step), "choices",
                 "wrong": [wrong, …], "parts": [part, …]}
    wrong       {"key", "answer", "hint", "taken": [route, …], "missing": [route, …]}
    part        {"label", "ask", "wrong", "truth", "route"}

All of it is packed, so no answer stands in the text of a page.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..predicting.backward_pass import Arrow
from ..predicting.judging import say, unreadable
from ..predicting.question import GRAD, LEAVES, NEXT, RAISES, SHAPE, QuizQuestion
from ..predicting.typed import NO, YES
from ..trace.graph import Graph
from ..words import clean, templates, text
from .acts import Act
from .score import packed

WORDS = (
    "quiz_predict", "quiz_check", "quiz_hint", "quiz_show", "quiz_continue", "quiz_taken",
    "quiz_missing", "quiz_so_far", "quiz_attempt", "quiz_either", "quiz_back", "quiz_step_sum", "quiz_asks",
)  # fmt: skip
BACKWARD, FORWARD = "backward", "forward"


def quiz_of(
    questions: Sequence[QuizQuestion], acts: Sequence[Act], calls: Sequence[int], lang: str | None
) -> str:
    """The questions that `acts` of these backward `calls` can ask, packed; "" if there are none."""
    found = [each for i, act in enumerate(acts) for each in asked_in(act, i, calls[i], questions, lang)]
    if not found:
        return ""
    return packed({"words": templates(WORDS, lang), "yes": YES, "no": NO, "questions": found})


def asked_in(
    act: Act, number: int, call: int, questions: Iterable[QuizQuestion], lang: str | None
) -> Iterator[dict[str, Any]]:
    """The questions about one picture: first which are leaves, for every forward step answers that; then in
    the order of its steps."""
    graph = act.picture.graph
    found = []
    for question in questions:
        step = step_of(question, act) if question.call == call else None
        if step is not None:
            found.append((step, question))
    for step, question in sorted(found, key=lambda pair: (pair[1].kind != LEAVES, pair[0])):
        yield {"act": number, "step": step, **told(question, graph, lang)}


def step_of(question: QuizQuestion, act: Act) -> int | None:
    """The first step that shows an answer; None if the picture does not show it by itself. Leaves are asked
    where the forward pass is whole."""
    phases = [frame.phase for frame in act.frames]
    if question.kind == LEAVES:
        return max(1, sum(1 for _ in itertools.takewhile(FORWARD.__eq__, phases)))
    if question.kind == RAISES:
        return phases.index(BACKWARD) + 1 if BACKWARD in phases else None
    stations = act.picture.graph.stations
    if question.kind == SHAPE:
        marks = {
            f"{s.id}-c{i}" for s in stations for i, card in enumerate(s.cards) if card.id == question.tensor
        }
        phase = FORWARD
    else:
        marks = {f"{s.id}-d" for s in stations if s.deck is not None and s.deck.id == question.node}
        phase = BACKWARD
    steps = [i for i, f in enumerate(act.frames, 1) if f.phase == phase and marks & set(f.marks)]
    if not steps and question.kind == GRAD and question.truth is None and marks and BACKWARD in phases:
        return len(phases) - phases[::-1].index(BACKWARD)  # no step is about it: ask at the last
    return steps[0] if steps else None


def told(question: QuizQuestion, graph: Graph, lang: str | None) -> dict[str, Any]:
    """What the player needs of a question."""
    routes: dict[Arrow, str] = {}
    for station in graph.stations:
        if station.deck is not None:
            routes |= {(station.deck.id, i): route for i, route in enumerate(station.deck.inputs) if route}
    labels = {LEAVES: "quiz_label_leaves", NEXT: "quiz_label_next", RAISES: "quiz_label_raises"}
    label = labels.get(question.kind)
    return {
        "kind": question.kind,
        "label": text(label, lang) if label else f"{question.subject} =",
        "subject": question.subject,
        "prompt": clean(say(question.prompt, lang)),
        "hint": say(question.hint, lang),
        "solution": clean(say(question.solution, lang)),
        "right": clean(text("quiz_right", lang, solution=say(question.solution, lang))),
        "unread": text(unreadable(question.kind), lang),
        "none": text("quiz_no_fit", lang),
        "truth": question.truth,
        "row": row_of(question, graph),
        "cover": question.kind == LEAVES,
        "choices": question.choices,
        "wrong": [
            {
                "key": wrong.key,
                "answer": wrong.answer,
                "hint": clean(say(wrong.hint, lang)),
                "taken": drawn(wrong.taken, routes),
                "missing": drawn(wrong.missing, routes),
            }
            for wrong in question.wrong
        ],
        "parts": [
            {
                "label": f"{part.at} → {part.to}",
                "ask": clean(text("quiz_step_ask", lang, node=part.node, at=part.at, to=part.to)),
                "wrong": clean(text("quiz_step_wrong", lang, node=part.node, at=part.at, to=part.to)),
                "truth": part.truth,
                "route": routes.get(part.arrow, ""),
            }
            for part in question.parts
        ],
    }  # fmt: skip


def row_of(question: QuizQuestion, graph: Graph) -> str:
    """The row of the picture that has the answer."""
    what = {GRAD: "grad", SHAPE: "value"}.get(question.kind)
    for station in graph.stations:
        for i, card in enumerate(station.cards):
            if what and card.id == question.tensor:
                return f"{station.id}-c{i}-{what}"
    return ""


def drawn(arrows: Iterable[Arrow], routes: dict[Arrow, str]) -> list[str]:
    """The routes of the picture that stand for arrows."""
    return [routes[arrow] for arrow in arrows if arrow in routes]
