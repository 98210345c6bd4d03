"""Code 6: which results survive a second backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad

HINTS = {
    "right": (
        "Right: -x, x + x and x - 1 save no tensor, so the first call frees nothing that a second one needs.",
        "맞습니다. -x, x + x, x - 1은 텐서를 저장하지 않으므로, 첫 번째 호출이 해제한 것 중에 두 번째 호출에 "
        "필요한 것이 없습니다.",
    ),
    "nothing": (
        "Some of them do. A second call fails only where a node needs a saved value. What would the node of "
        "-x have to save?",
        "두 번 되는 것도 있습니다. 두 번째 호출은 저장된 값이 필요한 노드에서만 실패합니다. -x의 노드는 "
        "무엇을 저장해야 할까요?",
    ),
    "all": (
        "Not all of them. The derivative of x * x is 2x: where does the way back get the number x from?",
        "모두는 아닙니다. x * x의 도함수는 2x입니다. 역전파는 x의 값을 어디에서 가져올까요?",
    ),
    "turned": (
        "Those are the ones that fail. Their nodes saved something, and it was freed.",
        "그것들은 실패하는 쪽입니다. 그 노드들은 값을 저장했고, 그 값이 해제되었습니다.",
    ),
    "exp": (
        "Not d: the derivative of exp(x) is exp(x) itself, so its node has saved its own result.",
        "d는 아닙니다. exp(x)의 도함수는 exp(x) 자신이므로, 그 노드는 자신의 결과를 저장합니다.",
    ),
    "square": (
        "Not c: its derivative 2x changes with x, so its node has saved x.",
        "c는 아닙니다. 도함수 2x는 x에 따라 달라지므로, 그 노드는 x를 저장합니다.",
    ),
    "missing": (
        "These survive, but there is more. Whose derivative is the same number for every x?",
        "그것들은 두 번 됩니다. 하지만 더 있습니다. 모든 x에서 도함수가 같은 수인 것은 무엇일까요?",
    ),
    "other": (
        'Write letters from a to e as one text, such as "bc".',
        'a부터 e까지의 글자를 하나의 문자열로 쓰세요. 예: "bc"',
    ),
}

RESULTS: dict[str, Callable[[Any], Any]] = {
    "a": lambda x: -x,
    "b": lambda x: x + x,
    "c": lambda x: x * x,
    "d": minigrad.exp,
    "e": lambda x: x - 1,
}


def survives(compute: Callable[[Any], Any]) -> bool:
    """Whether backward works twice."""
    result = compute(minigrad.tensor(5.0, requires_grad=True))
    result.backward()
    try:
        result.backward()
    except RuntimeError:
        return False
    return True


def survivors(answer: object) -> str:
    """The letters of the results that survive."""
    if isinstance(answer, list | tuple | set) and all(isinstance(item, str) for item in answer):
        answer = "".join(answer)
    if answer is None:
        return "nothing"
    if not isinstance(answer, str):
        return "other"
    letters = {letter for letter in answer.lower() if letter not in " ,;"}
    truth = {letter for letter, compute in RESULTS.items() if survives(compute)}
    if letters == truth:
        return "right"
    if not letters <= set(RESULTS):
        return "other"
    if not letters or letters == set(RESULTS):
        return "all" if letters else "nothing"
    if letters == set(RESULTS) - truth:
        return "turned"
    if letters < truth:
        return "missing"
    return "exp" if "d" in letters else "square"


EXERCISES = {"": survivors}
