"""Backward: a sigmoid that saves its output."""

from __future__ import annotations

from typing import Any

from ..answers import library_of, same
from ..functions import function_of, through, tried

HINTS = {
    "right": (
        "Right: s(1 − s) from the saved output, times grad_output. Nothing is computed twice.",
        "맞습니다. 저장한 출력으로 s(1 − s)를 구해 grad_output을 곱했습니다. 두 번 계산하는 것이 없습니다.",
    ),
    "no_function": (
        "That is not a Function. Write answer = Sigmoid, the name of the class.",
        "그것은 Function이 아닙니다. 클래스의 이름을 써서 answer = Sigmoid라고 하세요.",
    ),
    "forward": (
        "forward gives another number than the sigmoid. Leave its first line as it was.",
        "forward의 결과가 시그모이드와 다릅니다. 첫 줄은 원래대로 두세요.",
    ),
    "saved_input": (
        "The gradient is right, but something else than the output is saved. The formula needs only s: "
        "save result alone.",
        "변화도는 맞지만 출력이 아닌 것을 저장했습니다. 식에는 s만 필요하므로 result만 저장하세요.",
    ),
    "not_saved": (
        "The gradient is right, but nothing went through save_for_backward, which guards against changes "
        "and frees the value afterwards.",
        "변화도는 맞지만 save_for_backward로 저장한 것이 없습니다. save_for_backward는 값이 바뀌지 않는지 "
        "확인하고, 다 쓴 뒤에 해제해 줍니다.",
    ),
    "like_exp": (
        "That is the backward of Exp: grad_output * result. The derivative of the sigmoid is s(1 − s).",
        "그것은 Exp의 backward, grad_output * result입니다. 시그모이드의 도함수는 s(1 − s)입니다.",
    ),
    "not_multiplied": (
        "That is the derivative itself. It is right only if grad_output is 1: multiply by it.",
        "그것은 도함수의 값 그대로입니다. grad_output이 1일 때만 맞으므로 grad_output을 곱하세요.",
    ),
    "none": (
        "backward returns no gradient yet. Return grad_output times s(1 − s).",
        "backward가 아직 변화도를 돌려주지 않습니다. grad_output에 s(1 − s)를 곱해서 return하세요.",
    ),
    "other": (
        "Not yet. With s the saved output: grad_output times s, times 1 − s.",
        "아직 아닙니다. 저장한 출력을 s라고 하면, grad_output에 s를 곱하고 1 − s를 곱합니다.",
    ),
}
INPUT = [0.0, 1.0, -2.0]
SENT = [10.0, 1.0, -3.0]


def sigmoid(written: object) -> str:
    """A Function that is a sigmoid."""
    function = function_of(written)
    if function is None:
        return "no_function"
    library = library_of(function)
    mine = tried(function, [INPUT], SENT)
    truth, plain = (
        through(library, lambda i: 1 / (1 + (-i).exp()), [INPUT], sent) for sent in (SENT, [1.0] * 3)
    )
    if not same(mine.result, truth.result):
        return "forward"
    (gradient,) = mine.gradients
    if gradient is None:
        return "none"
    if same(gradient, truth.gradients[0]):
        if not mine.saved:
            return "not_saved"
        return "right" if all(same(kept, truth.result) for kept in mine.saved) else "saved_input"
    known: dict[str, Any] = {
        "not_multiplied": plain.gradients[0],
        "like_exp": truth.result.detach() * library.tensor(SENT, dtype=library.float64),
    }
    return next((name for name, value in known.items() if same(gradient, value)), "other")


EXERCISES = {"": sigmoid}
