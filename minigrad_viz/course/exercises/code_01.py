"""Code 1: a result does not follow what it was computed from."""

from __future__ import annotations

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: y is 8 and stays 8, whatever the name x is given to later. So z is 9.",
        "맞습니다. y는 8이고, x라는 이름이 나중에 다른 텐서를 가리켜도 8 그대로입니다. 그래서 z는 9입니다.",
    ),
    "followed": (
        "That is 3³ + 1. The third line gives the name x to a new tensor. Does it also compute y again?",
        "그것은 3³ + 1입니다. 셋째 줄은 x라는 이름을 새 텐서에 붙입니다. 그때 y도 다시 계산될까요?",
    ),
    "only_y": (
        "That is y. The last line adds something to it.",
        "그것은 y입니다. 마지막 줄에서 y에 무엇을 더하는지 보세요.",
    ),
    "other": (
        "Not that. Go through the lines one by one, and write down the number behind each name.",
        "아닙니다. 한 줄씩 따라가면서 이름마다 지금 어떤 수인지 적어 보세요.",
    ),
}


def values() -> tuple[minigrad.Tensor, ...]:
    """y and z of the program, and z with y computed again."""
    x = minigrad.tensor(2.0)
    y = x**3
    x = minigrad.tensor(3.0)
    return y, y + 1, x**3 + 1


def renamed(answer: object) -> str:
    """z, when the name x was given to another tensor in between."""
    y, z, followed = values()
    for verdict, value in (("right", z), ("followed", followed), ("only_y", y)):
        if same(answer, value):
            return verdict
    return "other"


EXERCISES = {"": renamed}
