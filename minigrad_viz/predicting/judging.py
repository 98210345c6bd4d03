"""What an answer is worth: right, the hint of the misconception that gives it, or where to look first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..equality import numbers
from ..sources.unseen import unseen
from ..words import text
from .question import GRAD, LEAVES, NEXT, RAISES, SHAPE, Part, QuizQuestion, Said, Wrong
from .typed import Unreadable, equal, read, read_names, read_shape, read_yes


class Judged(NamedTuple):
    """What is said of an answer. It counts as true if the answer is `right`.

    `keys` are the misconceptions that give this answer, `hints` a sentence for each; `text` is all that is
    said. `step` is the first step that is wrong or not known yet, of an answer that no misconception gives.
    """

    right: bool
    text: str
    keys: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    step: Part | None = None

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return self.text


def judge(
    question: QuizQuestion, answer: Any, along: Mapping[str, Any] | None = None, lang: str | None = None
) -> Judged:
    """Judge an answer. `along` may have the gradients that the reader found on the way, by tensor."""
    try:
        given = unseen(lambda: understood(question, answer))
    except Unreadable:
        return Judged(False, text(unreadable(question.kind), lang), (unreadable(question.kind),))
    written = answer if isinstance(answer, str) else ""
    if fits(question, given, question.truth, written):
        return Judged(True, text("quiz_right", lang, solution=say(question.solution, lang)), ("quiz_right",))
    found = [wrong for wrong in question.wrong if explains(question, given, wrong, written)]
    if found:
        told = {wrong.key: wrong for wrong in reversed(found)}  # of each misconception the first place
        kept = tuple(wrong for wrong in found if told[wrong.key] is wrong)
        hints = tuple(say(wrong.hint, lang) for wrong in kept)
        return Judged(False, joined(hints, lang), tuple(wrong.key for wrong in kept), hints)
    return first_step(question, given, along or {}, lang)


def understood(question: QuizQuestion, answer: Any) -> Any:
    """An answer as data of the kind that was asked for."""
    if question.kind == SHAPE:
        return list(read_shape(answer))
    if question.kind == LEAVES:
        return sorted(read_names(answer))
    if question.kind == RAISES:
        return read_yes(answer)
    if question.kind == NEXT:
        return str(answer).strip()
    given = read(answer) if isinstance(answer, str) else answer
    if given is not None and numbers(given) is None:
        raise Unreadable(str(answer))
    return given


def explains(question: QuizQuestion, given: Any, wrong: Wrong, written: str) -> bool:
    """Whether an answer is the wrong one that is known. A wrong answer about leaves is one name that is among
    those given, or is not."""
    if question.kind == LEAVES:
        return (wrong.answer[0] in given) == (wrong.key == "quiz_leaves_result")
    return fits(question, given, wrong.answer, written)


def fits(question: QuizQuestion, given: Any, truth: Any, written: str = "") -> bool:
    """Whether an answer is one that is known."""
    if question.kind == NEXT:
        return names_node(given, truth, question)
    if question.kind != GRAD:
        return bool(given == truth)
    return equal(given, truth, written)


def names_node(given: str, truth: str, question: QuizQuestion) -> bool:
    """Whether a node was named: as `LogBackward(a)`, or by its node or its tensor alone where no other that
    could be meant has the same."""
    plain = given.replace(" ", "").lower().replace(" at ", "(")
    for wanted in (truth.lower(), *parts(truth)):
        alike = [each for each in question.choices if wanted in (each.lower(), *parts(each))]
        if plain == wanted.replace(" ", "") and (len(alike) <= 1 or wanted == truth.lower()):
            return True
    return False


def parts(called: str) -> Iterator[str]:
    """The node and the tensor of `LogBackward(a)`, with and without the number at the node's end."""
    node, _, at = called.lower().partition("(")
    yield from (node, node.rstrip("0123456789"), at.removesuffix(")"))


def first_step(question: QuizQuestion, given: Any, along: Mapping[str, Any], lang: str | None) -> Judged:
    """Of an answer that no misconception gives: the first step that is wrong, or that is to be looked at."""
    ends = [part.to for part in question.parts]
    for part in question.parts:
        names = [f"{part.at}->{part.to}", *([part.to] if ends.count(part.to) == 1 else [])]
        mine = next((along[name] for name in names if name in along), ...)
        if mine is ...:
            return at_step(part, "quiz_step_ask", lang)
        value = read(mine) if isinstance(mine, str) else mine
        if not equal(value, part.truth, mine if isinstance(mine, str) else ""):
            return at_step(part, "quiz_step_wrong", lang)
    if not question.parts:
        return Judged(False, text("quiz_no_fit", lang), ("quiz_no_fit",))
    return Judged(False, text("quiz_step_sum", lang, x=question.subject), ("quiz_step_sum",))


def at_step(part: Part, key: str, lang: str | None) -> Judged:
    """What is said of a step."""
    return Judged(False, text(key, lang, node=part.node, at=part.at, to=part.to), (key,), step=part)


def unreadable(kind: str) -> str:
    """The key of what is said of a text that is no answer."""
    if kind == SHAPE:
        return "quiz_read_shape"
    if kind == RAISES:
        return "quiz_read_yes"
    return "quiz_read_names" if kind == LEAVES else "quiz_read_number"


def say(said: Said, lang: str | None) -> str:
    """A sentence of the catalogue."""
    return text(said[0], lang, **said[1])


def joined(hints: tuple[str, ...], lang: str | None) -> str:
    """Hints of misconceptions that give the same answer."""
    if len(hints) == 1:
        return hints[0]
    return text("quiz_either", lang, first=hints[0], others=" ".join(hints[1:]))
