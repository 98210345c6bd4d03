"""Questions as the data of the player: where each is asked, what it hides, and the feedback on every
answer.

    {"words": {…}, "yes": […], "no": […], "questions": [question, …], "noted": whether answers are noted}

    question    {"act", "step" (the first that shows the answer), "kind" (whose answers it has), "label",
                 "subject", "prompt", "hint", "solution", "right", "unread" (the key and the text of what is
                 said of an answer that cannot be read), "none" (what is said where no
                 wrong answer fits), "truth", "row" (of the picture that has the answer, or ""), "cover"
                 (whether the whole picture has it: asked first, at the last forward step), "choices",
                 "wrong": [wrong, …], "parts": [part, …]}
    wrong       {"key", "answer", "hint", "taken": [route, …], "missing": [route, …]}
    part        {"label", "ask", "wrong", "truth", "route"}

All of it is packed, so no answer is in the text of a page.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..flow.backward_pass import Arrow
from ..predicting import answer_log
from ..predicting.question import GRAD, NO, PASSED_ON, PASSES, YES, QuizQuestion, say, unreadable
from ..predicting.questions import AT_BACKWARD, AT_NODE, AT_TENSOR, AT_UPDATE, AT_WHOLE, KINDS
from ..trace.graph import Graph
from ..words import clean, templates, text
from .acts import Act
from .score import pack_json

QUIZ_WORDS = (
    "quiz_predict", "quiz_check", "quiz_hint", "quiz_show", "quiz_continue", "quiz_taken",
    "quiz_missing", "quiz_both", "quiz_count", "quiz_so_far", "quiz_attempt", "quiz_back", "quiz_step_sum",
    "quiz_asks", "quiz_not_noted",
)  # fmt: skip
BACKWARD, FORWARD, UPDATE = "backward", "forward", "update"


def quiz_of(
    questions: Sequence[QuizQuestion], acts: Sequence[Act], calls: Sequence[int], lang: str | None
) -> str:
    """The questions that `acts` of these backward `calls` can ask, packed; "" if there are none."""
    found = [each for i, act in enumerate(acts) for each in asked_in(act, i, calls[i], questions, lang)]
    if not found:
        return ""
    told = {"words": templates(QUIZ_WORDS, lang), "yes": YES, "no": NO, "questions": found}
    return pack_json(told | {"noted": answer_log.file is not None})


def asked_in(
    act: Act, number: int, call: int, questions: Iterable[QuizQuestion], lang: str | None
) -> Iterator[dict[str, Any]]:
    """The questions about one picture: first those about the whole of it, for every forward step answers
    those; then in the order of its steps."""
    graph = act.picture.graph
    found = []
    for question in questions:
        step = step_of(question, act) if question.call == call else None
        if step is not None:
            found.append((step, question))
    for step, question in sorted(found, key=lambda pair: (KINDS[pair[1].kind].asked_at != AT_WHOLE, pair[0])):
        yield {"act": number, "step": step, **question_entry(question, graph, lang)}


def step_of(question: QuizQuestion, act: Act) -> int | None:
    """The first step that shows an answer; None if the picture does not show it by itself. The whole picture
    is asked about where the forward pass is whole."""
    phases, place = [frame.phase for frame in act.frames], KINDS[question.kind].asked_at
    if place == AT_WHOLE:
        return max(1, sum(1 for _ in itertools.takewhile(FORWARD.__eq__, phases)))
    if place == AT_BACKWARD:
        return phases.index(BACKWARD) + 1 if BACKWARD in phases else None
    if place == AT_UPDATE:
        updates = (i for i, f in enumerate(act.frames, 1) if f.phase == UPDATE and question.node in f.marks)
        return next(updates, None)
    stations = act.picture.graph.stations
    if question.kind == PASSES and all(card.id != question.tensor for s in stations for card in s.cards):
        return None  # both ends stand in one closed box
    if question.kind == GRAD and question.truth is not None:
        return step_of_gradient(question, act)
    if question.node == PASSED_ON:
        marks = {f"{s.id}-d" for s in stations if any(card.id == question.tensor for card in s.cards)}
        phase = BACKWARD
    elif place == AT_TENSOR:
        marks = {
            f"{s.id}-c{i}" for s in stations for i, card in enumerate(s.cards) if card.id == question.tensor
        }
        phase = FORWARD
    else:
        marks = {f"{s.id}-d" for s in stations if s.deck is not None and s.deck.id == question.node}
        phase = BACKWARD
    steps = [i for i, f in enumerate(act.frames, 1) if f.phase == phase and marks & set(f.marks)]
    if not steps and place == AT_NODE and question.truth is None and marks and BACKWARD in phases:
        return len(phases) - phases[::-1].index(BACKWARD)  # no step is about it: ask at the last
    return steps[0] if steps else None


def step_of_gradient(question: QuizQuestion, act: Act) -> int | None:
    """The first step that shows a part of a leaf's gradient; None if none shows the whole."""
    stations, coming = act.picture.graph.stations, coming_to(question.tensor, act.picture.graph)
    own = {f"{s.id}-d" for s in stations if s.deck is not None and s.deck.id == question.node}
    backward = [(i, set(f.marks)) for i, f in enumerate(act.frames, 1) if f.phase == BACKWARD]
    last = next((i for i, marks in backward if own & marks), None)  # the step at its own node shows the sum
    return last if last is None else min(last, next((i for i, marks in backward if coming & marks), last))


def coming_to(tensor: str, graph: Graph) -> set[str]:
    """The gradient arrows that come to a tensor: what they carry adds up to its `.grad`."""
    at = {station.id for station, card in graph.cards() if card.id == tensor}
    return {f"{route.id}-g" for route in graph.routes if route.source in at and route.tracked}


def question_entry(question: QuizQuestion, graph: Graph, lang: str | None) -> dict[str, Any]:
    """What the player needs of a question."""
    routes: dict[Arrow, str] = {}
    for station in graph.stations:
        if station.deck is not None:
            routes |= {(station.deck.id, i): route for i, route in enumerate(station.deck.inputs) if route}
    kind = KINDS[question.kind]
    return {
        "kind": question.form,
        "label": text(kind.label, lang) if kind.label else f"{question.subject} =",
        "subject": question.subject,
        "prompt": clean(say(question.prompt, lang)),
        "hint": say(question.hint, lang),
        "solution": clean(say(question.solution, lang)),
        "right": clean(text("quiz_right", lang, solution=say(question.solution, lang))),
        "unread": [key := unreadable(question.form), text(key, lang)],
        "none": text("quiz_no_fit", lang),
        "truth": question.truth,
        "row": answer_row(question, graph),
        "cover": kind.asked_at == AT_WHOLE,
        "choices": question.choices,
        "wrong": [
            {
                "key": wrong.key,
                "answer": wrong.answer,
                "hint": clean(say(wrong.hint, lang)),
                "taken": routes_of_arrows(wrong.taken, routes),
                "missing": routes_of_arrows(wrong.missing, routes),
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


def answer_row(question: QuizQuestion, graph: Graph) -> str:
    """The row of the picture that has the answer."""
    what = "" if question.node == PASSED_ON else KINDS[question.kind].row
    for station in graph.stations:
        for i, card in enumerate(station.cards):
            if what and card.id == question.tensor:
                return f"{station.id}-c{i}-{what}"
    return ""


def routes_of_arrows(arrows: Iterable[Arrow], routes: dict[Arrow, str]) -> list[str]:
    """The routes of the picture that stand for arrows."""
    return [routes[arrow] for arrow in arrows if arrow in routes]
