"""`check`: whether the answer to an exercise is right, and a hint where it is not.

Each notebook with exercises has a module in `exercises/`. An exercise there is a function that is given the
answer, finds the truth by running it, and returns the name of what is to be said: "right", or what the answer
mixes up.
`HINTS` of the module has the sentences, a pair of English and Korean under each name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from ..sources.unseen import unseen
from ..words import language, wrapped
from .answers import Raised

WIDTH = 66  # columns of a printed line: what a narrow window shows without breaking words
MARKS = {"right": "✓", "unanswered": "…"}  # a hint has ✗
COMMON = {
    "unanswered": (
        "Not answered yet. Write your answer in place of the three dots, then run this cell again.",
        "아직 답이 없습니다. 점 세 개 자리에 답을 쓰고 이 셀을 다시 실행하세요.",
    ),
    "raised": (
        "What you wrote raised an error when it was tried: {error}",
        "작성한 코드를 실행해 보니 오류가 났습니다: {error}",
    ),
}


def check(name: str, answer: object = ...) -> None:
    """Print whether `answer` is right, and a hint if it is not, in the language in force.

    `name` is the notebook's, such as "code_07", or with the name of one of its exercises, "code_07.second".
    Three dots, the placeholder of every exercise, count as not answered. ValueError for an unknown name.
    """
    print(said(name, answer))


def said(name: str, answer: object) -> str:
    """What `check` prints."""
    module, judge = found(name)
    verdict = "unanswered"
    values: dict[str, str] = {}
    if answer is not ...:
        try:
            verdict = unseen(lambda: judge(answer))
        except Raised as raised:
            verdict, values = "raised", {"error": str(raised)}
    sentence = (module.HINTS | COMMON)[verdict][language() == "ko"]
    return wrapped(f"{MARKS.get(verdict, '✗')} {sentence.format_map(values)}", WIDTH, "  ")


def found(name: str) -> tuple[ModuleType, Callable[[object], str]]:
    """The module and the function of an exercise."""
    notebook, _, part = name.partition(".")
    home = f"{__package__}.exercises.{notebook}"
    if re.fullmatch(r"[a-z]\w*", notebook) and find_spec(home):
        module = import_module(home)
        if judge := module.EXERCISES.get(part):
            return module, judge
    raise ValueError(f"check: there is no exercise called {name!r}")
