"""Questions in a terminal: as a list, and one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..words import text
from .judging import judge, say
from .question import RAISES, QuizQuestion


def fair(questions: Sequence[QuizQuestion], failed: bool) -> tuple[QuizQuestion, ...]:
    """The questions that are still open where the error of a cell that `failed` stands above them."""
    return tuple(q for q in questions if not (failed and q.kind == RAISES))


def to_text(questions: Sequence[QuizQuestion], lang: str | None = None) -> str:
    """The questions of a cell, numbered, each with how to answer it."""
    if not questions:
        return text("quiz_nothing", lang)
    lines = [text("quiz_title", lang)]
    for i, question in enumerate(questions, 1):
        code = f'predict("{question.subject}").check("…")'
        key, said = question.prompt
        early = key == "quiz_ask_again"  # which tells the answer of an earlier question
        prompt = say(("quiz_ask_after", said) if early else question.prompt, lang)
        lines += [f"{i}. {prompt}", f"   {text('quiz_how', lang, code=code)}"]
    return "\n".join(lines)


def interview(
    questions: Sequence[QuizQuestion],
    ask: Callable[[str], str],
    tell: Callable[[str], object],
    lang: str | None = None,
) -> bool:
    """Ask one question after the other; `ask` gives what was typed. It goes on when the answer is right, or
    when nothing was typed, after the solution. False if nobody is there to answer."""
    for question in questions:
        tell(say(question.prompt, lang))
        while True:
            try:
                typed = ask(text("quiz_prompt", lang) + " ").strip()
            except EOFError:
                return False
            if not typed:
                tell(say(question.solution, lang))
                break
            if typed == "?":
                tell(say(question.hint, lang))
                continue
            judged = judge(question, typed, lang=lang)
            tell(judged.text)
            if judged.right:
                break
    return True
