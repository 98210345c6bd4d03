"""Introduction: a function that makes a tensor which can receive a gradient."""

from __future__ import annotations

from typing import Any

from ...protocol import is_tensor
from ..answers import attempt, same

WHOLE = [1, 2, 3]
HINTS = {
    "right": (
        "Right: your tensor is a leaf of floating point numbers that requires a gradient, and it got one.",
        "맞습니다. 변화도를 요구하는 실수 잎 텐서이고, 실제로 변화도를 받았습니다.",
    ),
    "no_function": (
        "That is no function yet. Begin with def answer(numbers): and let it return a tensor.",
        "아직 함수가 아닙니다. def answer(numbers): 로 시작해서 텐서를 반환하게 하세요.",
    ),
    "no_tensor": (
        "For [1, 2, 3] your function returns no tensor. Does it end with a return?",
        "[1, 2, 3]을 넣었더니 텐서가 반환되지 않았습니다. 마지막에 return이 있나요?",
    ),
    "values": (
        "For [1, 2, 3] the tensor should hold 1, 2 and 3, in one row.",
        "[1, 2, 3]을 넣으면 텐서에는 1, 2, 3이 한 줄로 들어 있어야 합니다.",
    ),
    "whole": (
        "The tensor holds whole numbers, and does not ask for a gradient. First convert, then ask.",
        "정수 텐서이고 변화도를 요구하지 않습니다. 먼저 실수로 바꾸고, 그다음 요구하세요.",
    ),
    "not_asked": (
        "The numbers are fine, but nobody has asked for a gradient: requires_grad is False.",
        "숫자는 맞지만 변화도를 요구하지 않았습니다. requires_grad가 False입니다.",
    ),
    "not_a_leaf": (
        "The tensor was computed from one that had asked. So it is a result, not a leaf, and its .grad stays"
        " None. Convert first, then ask.",
        "변화도를 요구한 텐서로부터 계산한 텐서입니다. 그래서 잎이 아니라 연산의 결과이고 .grad는 None으로"
        " 남습니다. 먼저 변환하고, 그다음 요구하세요.",
    ),
}


def asking(answer: object) -> str:
    """A function from a list of whole numbers to a leaf that requires a gradient."""
    if not callable(answer):
        return "no_function"
    made = attempt(answer, list(WHOLE))
    if not is_tensor(made):
        return "no_tensor"
    if not same(made.detach().real if made.is_complex() else made, WHOLE):
        return "values"
    return receives(made)


def receives(made: Any) -> str:
    """Whether a tensor gets a gradient, which is tried, or why it does not."""
    if not made.requires_grad:
        return "not_asked" if made.is_floating_point() or made.is_complex() else "whole"
    (made * made).sum().abs().backward()
    return "right" if made.is_leaf and made.grad is not None else "not_a_leaf"


EXERCISES = {"": asking}
