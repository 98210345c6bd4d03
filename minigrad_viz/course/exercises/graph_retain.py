"""Twice backward: two results that share a part of their graph."""

from __future__ import annotations

from typing import Any

import minigrad

from ..answers import Raised, attempt, library_of, same

HINTS = {
    "right": (
        "Right: both gradients have arrived, although a and b share the graph of h.",
        "맞습니다. a와 b가 h의 그래프를 함께 쓰지만 두 변화도가 모두 도착했습니다.",
    ),
    "again": (
        "It still goes a second time through a node that was freed. Which of the two calls has to leave the "
        "saved values of h in place? Or can one call do for both?",
        "아직도 이미 해제된 노드를 두 번째로 지나갑니다. 두 호출 중 어느 것이 h의 저장된 값을 남겨 두어야 "
        "할까요? 아니면 한 번의 호출로 둘 다 할 수 있을까요?",
    ),
    "only_a": (
        "Only the gradient of a has arrived. Is b still computed from x, and is its backward called?",
        "a의 변화도만 도착했습니다. b는 여전히 x로 계산되고, b의 backward도 호출되나요?",
    ),
    "only_b": (
        "Only the gradient of b has arrived. Is x.grad emptied in between, or a left out?",
        "b의 변화도만 도착했습니다. 중간에 x.grad를 비우거나 a를 빠뜨리지 않았나요?",
    ),
    "nothing": (
        "Your function returns None. Its last line has to return x.grad.",
        "함수가 None을 돌려줍니다. 마지막 행에서 x.grad를 돌려주어야 합니다.",
    ),
    "function": (
        "Give the function itself, without calling it: answer = both",
        "함수를 호출하지 말고 함수 자체를 쓰세요: answer = both",
    ),
    "other": (
        "It runs, but x.grad is not the sum of the gradients of a = 2 * h and b = h ** 2 with h = x ** 3.",
        "실행은 되지만 x.grad가 h = x ** 3일 때 a = 2 * h와 b = h ** 2의 변화도를 더한 값이 아닙니다.",
    ),
}


def gradients(start: float) -> list[float]:
    """x.grad from a alone, from b alone, and from both."""
    found = []
    for use_a, use_b in ((1, 0), (0, 1), (1, 1)):
        x = minigrad.tensor(start, requires_grad=True)
        h = x**3
        (use_a * (2 * h) + use_b * h**2).backward()
        found.append(x.grad.item())
    return found


def two_results(answer: Any) -> str:
    """A function that sends the gradients of both results to x."""
    if not callable(answer):
        return "function"
    library = library_of(answer)
    verdicts = []
    for start in (2.0, 1.5):
        try:
            returned = attempt(answer, library.tensor(start, requires_grad=True))
        except Raised as raised:
            if "second time" in str(raised):
                return "again"
            raise
        only_a, only_b, truth = gradients(start)
        known = ((truth, "right"), (only_a, "only_a"), (only_b, "only_b"))
        verdicts.append(next((verdict for number, verdict in known if same(returned, number)), "other"))
        if returned is None:
            return "nothing"
    return verdicts[0] if verdicts[0] == verdicts[1] else "other"


EXERCISES = {"": two_results}
