"""Code 12: a product of a leaf with what was computed from it under no_grad."""

from __future__ import annotations

import contextlib

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: b was not recorded, so it is the constant 16 for autograd, and ∂c/∂a = b = 16.",
        "맞습니다. b는 기록되지 않아 자동 미분에는 상수 16이고, ∂c/∂a = b = 16입니다.",
    ),
    "recorded": (
        "That would be right if b had been recorded. Does a gradient also come back through b?",
        "b가 기록되었다면 맞는 값입니다. 변화도가 b를 지나서도 돌아올까요?",
    ),
    "through_b": (
        "That is the gradient of b = a · a alone. b was computed under no_grad(). What is left of c = a · b?",
        "그것은 b = a · a만의 변화도입니다. b는 no_grad() 안에서 계산했습니다. c = a · b에서 무엇이 남나요?",
    ),
    "leaf": (
        "a was made under no_grad(), but it was asked to require a gradient, and c is computed outside.",
        "a는 no_grad() 안에서 만들었지만 변화도를 요구하도록 했고, c는 블록 밖에서 계산합니다.",
    ),
    "value": (
        "That is the value of c. The question is how fast c grows with a where b is a constant.",
        "그것은 c의 값입니다. b가 상수일 때 a에 따라 c가 얼마나 빨리 커지는지를 물었습니다.",
    ),
    "other": (
        "Not that. Which number is b, and does autograd know that it came from a?",
        "아닙니다. b는 어떤 수이고, 자동 미분은 b가 a에서 나왔다는 것을 알까요?",
    ),
}


def product(mode: contextlib.AbstractContextManager[object]) -> tuple[minigrad.Tensor, minigrad.Tensor]:
    """a and c = a·b, where b = a·a was computed in `mode`, after c.backward()."""
    with mode:
        a = minigrad.tensor(4.0, requires_grad=True)
        b = a * a
    c = a * b
    c.backward()
    return a, c


def unrecorded_factor(answer: object) -> str:
    """a.grad."""
    a, c = product(minigrad.no_grad())
    recorded, _ = product(contextlib.nullcontext())
    if same(answer, a.grad):
        return "right"
    if same(answer, recorded.grad):
        return "recorded"
    if same(answer, recorded.grad - a.grad) or same(answer, 2 * a):
        return "through_b"
    if same(answer, c):
        return "value"
    return "leaf" if answer is None or same(answer, 0.0) else "other"


EXERCISES = {"": unrecorded_factor}
