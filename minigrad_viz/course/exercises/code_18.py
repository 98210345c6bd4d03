"""Code 18: the third derivative."""

from __future__ import annotations

from typing import Any

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: 6/x³ = 6/125 = 0.048. Every derivative but the last needs create_graph=True.",
        "맞습니다. 6/x³ = 6/125 = 0.048입니다. 마지막을 뺀 모든 미분에 create_graph=True가 필요합니다.",
    ),
    "tuple": (
        "The number is right. autograd.grad returns a tuple with one gradient for each input: take it out, "
        "as in (answer,) = …",
        "수는 맞습니다. autograd.grad는 입력마다 변화도가 하나씩 든 튜플을 반환합니다. (answer,) = … 처럼 "
        "꺼내세요.",
    ),
    "first": (
        "That is the first derivative. Differentiate it twice more.",
        "그것은 1차 미분입니다. 두 번 더 미분하세요.",
    ),
    "second": (
        "That is the second derivative. One more time; then the second one needs a graph too.",
        "그것은 2차 미분입니다. 한 번 더 미분하세요. 그러려면 2차 미분에도 그래프가 필요합니다.",
    ),
    "sign": (
        "The size is right, the sign is not. −3/x² is negative. Does it grow or shrink when x grows?",
        "크기는 맞지만 부호가 다릅니다. −3/x²은 음수입니다. x가 커지면 이 값은 커지나요, 작아지나요?",
    ),
    "added": (
        "That is a sum of derivatives: backward() adds to x.grad. autograd.grad returns each of them alone.",
        "그것은 미분한 값들의 합입니다. backward()는 x.grad에 더합니다. autograd.grad는 하나씩 따로 "
        "반환합니다.",
    ),
    "other": (
        "Not that. In the cell above, `second` is made like `first`. What does it lack before it can be "
        "differentiated as well?",
        "아닙니다. 위의 셀에서 second는 first처럼 만들어집니다. second도 미분하려면 무엇이 더 있어야 하나요?",
    ),
}


def derivatives(order: int) -> list[float]:
    """The first derivatives of ln x³ at 5, up to `order`."""
    x = minigrad.tensor(5.0, dtype=minigrad.float64, requires_grad=True)
    found: list[Any] = [minigrad.log(x**3)]
    for _ in range(order):
        found += minigrad.autograd.grad(found[-1], x, create_graph=True)
    return [tensor.item() for tensor in found[1:]]


def third_derivative(answer: object) -> str:
    """∂³z/∂x³ at x = 5."""
    first, second, third = derivatives(3)
    told = {
        "right": third,
        "tuple": [third],
        "first": first,
        "second": second,
        "sign": -third,
        "added": first + second + third,
    }
    found = next((name for name, value in told.items() if same(answer, value)), "other")
    return "added" if same(answer, first + second) else found


EXERCISES = {"": third_derivative}
