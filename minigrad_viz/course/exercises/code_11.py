"""Code 11: a product with a derivative of one's own."""

from __future__ import annotations

from typing import Any

from ..answers import library_of, same
from ..functions import function_of, through, tried

HINTS = {
    "right": (
        "Right: each input gets grad_output times the other input.",
        "맞습니다. 각 입력은 grad_output에 다른 쪽 입력을 곱한 값을 받습니다.",
    ),
    "no_function": (
        "That is not a Function. Write answer = MyMul, the name of the class.",
        "그것은 Function이 아닙니다. 클래스의 이름을 써서 answer = MyMul이라고 하세요.",
    ),
    "forward": (
        "forward gives another number than a · b. Leave it as it was.",
        "forward의 결과가 a · b와 다릅니다. forward는 원래대로 두세요.",
    ),
    "swapped": (
        "The two gradients are the wrong way round. Return them in the order of forward's arguments. "
        "By how much does a · b grow when a grows by 1?",
        "두 변화도의 순서가 바뀌었습니다. forward의 인자와 같은 순서로 return해야 합니다. "
        "a가 1만큼 커지면 a · b는 얼마나 커지나요?",
    ),
    "not_multiplied": (
        "Those are the plain derivatives. They are right only if grad_output is 1: multiply by it.",
        "그것은 도함수의 값 그대로입니다. grad_output이 1일 때만 맞으므로 grad_output을 곱하세요.",
    ),
    "passed_on": (
        "grad_output is passed on unchanged, as for a sum. How much does a · b grow when a grows by 1?",
        "grad_output을 그대로 넘겼습니다. 덧셈이라면 맞습니다. a가 1만큼 커지면 a · b는 얼마나 커지나요?",
    ),
    "none": (
        "backward returns None, which says that this input needs no gradient. Both need one here.",
        "backward가 None을 돌려줍니다. 그 입력에 변화도가 필요 없다는 뜻인데, 여기서는 둘 다 필요합니다.",
    ),
    "other": (
        "Not yet. Which number times grad_output does a get, and which one b? Use both saved values.",
        "아직 아닙니다. a와 b는 각각 grad_output에 어떤 수를 곱한 값을 받나요? 저장한 두 값을 모두 쓰세요.",
    ),
}
INPUTS = (2.0, 7.0)


def product(answer: object) -> str:
    """A Function that multiplies."""
    written = function_of(answer)
    if written is None:
        return "no_function"
    mine = tried(written, INPUTS, 10.0)
    truth, plain = (through(library_of(written), lambda a, b: a * b, INPUTS, sent) for sent in (10.0, 1.0))
    if not same(mine.result, truth.result):
        return "forward"
    if any(gradient is None for gradient in mine.gradients):
        return "none"
    known: dict[str, tuple[Any, ...]] = {
        "right": truth.gradients,
        "swapped": truth.gradients[::-1],
        "not_multiplied": plain.gradients,
        "passed_on": (10.0, 10.0),
    }
    return next((name for name, values in known.items() if same(mine.gradients, values)), "other")


EXERCISES = {"": product}
