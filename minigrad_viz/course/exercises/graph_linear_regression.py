"""Computational graph: the gradients of a squared distance."""

from __future__ import annotations

import minigrad

from ..answers import numbers, same

X, W, B, TARGET = 2.0, 3.0, 1.0, 10.0
HINTS = {
    "right": (
        "Right. Both are negative: raising w or b lowers the loss, for the line is too low at this point.",
        "맞습니다. 둘 다 음수이므로 w나 b를 키우면 loss가 작아집니다. 이 점에서 직선이 너무 낮기 때문입니다.",
    ),
    "sign": (
        "The sizes are right. Now the sign: is y - 10 above or below 0?",
        "크기는 맞습니다. 이제 부호를 보세요. y - 10은 0보다 큰가요, 작은가요?",
    ),
    "no_target": (
        "Those are the gradients of y². Now the loss is (y - 10)², so 10 is taken off before the square.",
        "그것은 y²의 변화도입니다. 이제 loss는 (y - 10)²이므로 제곱하기 전에 10을 뺍니다.",
    ),
    "no_x": (
        "b.grad is right. Between w and y there is one more factor: y = w · x + b.",
        "b.grad는 맞습니다. w와 y 사이에는 인수가 하나 더 있습니다: y = w · x + b.",
    ),
    "no_two": (
        "Nearly: half of what it should be. The derivative of a square has a 2 in front.",
        "거의 맞았지만 절반입니다. 제곱을 미분하면 앞에 2가 붙습니다.",
    ),
    "swapped": (
        "Both numbers are right, but they have changed places: w.grad comes first.",
        "두 수는 맞지만 자리가 바뀌었습니다. w.grad를 먼저 쓰세요.",
    ),
    "not_two": (
        "Two numbers are asked for, in brackets: first w.grad, then b.grad.",
        "답은 대괄호 안의 두 수입니다. 먼저 w.grad, 그다음 b.grad를 쓰세요.",
    ),
    "other": (
        "Not these. Start at the loss: ∂loss/∂y = 2 · (y - 10), with y = 7. Then go on to b, and to w.",
        "아닙니다. loss에서 시작하세요: y = 7일 때 ∂loss/∂y = 2 · (y - 10)입니다. 그다음 b와 w로 가세요.",
    ),
}


def gradients(target: float) -> list[float]:
    """w.grad and b.grad of the squared distance from the target."""
    w, b = minigrad.tensor(W, requires_grad=True), minigrad.tensor(B, requires_grad=True)
    ((w * minigrad.tensor(X) + b - target) ** 2).backward()
    return [w.grad.item(), b.grad.item()]


def regression(answer: object) -> str:
    """Both gradients, in order."""
    given = numbers(answer)
    if given is None or given.size != 2:
        return "not_two"
    pair, truth = given.reshape(-1).tolist(), gradients(TARGET)
    mistaken = {
        "right": truth,
        "sign": [-number for number in truth],
        "no_target": gradients(0.0),
        "no_x": [truth[1], truth[1]],
        "no_two": [number / 2 for number in truth],
        "swapped": truth[::-1],
    }
    return next((name for name, value in mistaken.items() if same(pair, value)), "other")


EXERCISES = {"": regression}
