"""Code 16: the vector that makes a mean."""

from __future__ import annotations

import numpy as np

import minigrad

from ..answers import numbers, same

HINTS = {
    "right": (
        "Right: every element of the mean counts a third, so backward starts with (1/3, 1/3, 1/3) at y.",
        "맞습니다. 평균에서 원소는 저마다 1/3의 비중이므로, y에서 출발하는 변화도는 (1/3, 1/3, 1/3)입니다.",
    ),
    "sum": (
        "That is the sum: every element counts 1. How much does an element count in the mean of three?",
        "그것은 합입니다. 원소마다 비중이 1입니다. 세 수의 평균에서는 원소 하나의 비중이 얼마인가요?",
    ),
    "shape": (
        "gradient needs the shape of y: three numbers, one for each element.",
        "gradient의 shape는 y와 같아야 합니다. 원소마다 하나씩, 수가 세 개 필요합니다.",
    ),
    "only_here": (
        "This gives the same x.grad here, but only by chance. In the mean every element counts the same.",
        "여기서는 x.grad가 같지만 우연입니다. 평균에서는 모든 원소의 비중이 같습니다.",
    ),
    "values": (
        "These are the values of y, or their mean. gradient says how much each element counts.",
        "그것은 y의 값이나 그 평균입니다. gradient에는 원소마다 얼마의 비중인지를 씁니다.",
    ),
    "other": (
        "Not that. Write the mean as a sum: ? · y₁ + ? · y₂ + ? · y₃. Which numbers are the question marks?",
        "아닙니다. 평균을 합으로 써 보세요. ? · y₁ + ? · y₂ + ? · y₃에서 물음표는 어떤 수인가요?",
    ),
}


def started(gradient: np.ndarray | None) -> tuple[minigrad.Tensor, ...]:
    """y, the gradient that backward starts with at y, and x.grad: for the given vector, or for the mean."""
    x = minigrad.tensor(5.0, requires_grad=True)
    y = x * minigrad.tensor([2.0, 3.0, 5.0])
    y.retain_grad()
    if gradient is None:
        y.mean().backward()
    else:
        y.backward(gradient=minigrad.tensor(gradient.tolist()))
    return y, y.grad, x.grad


def of_the_mean(answer: object) -> str:
    """The gradient= that does what y.mean().backward() does."""
    y, truth, at_x = started(None)
    if same(answer, truth):
        return "right"
    if same(answer, minigrad.ones(3)):
        return "sum"
    if same(answer, y) or same(answer, y.mean()):
        return "values"
    given = numbers(answer)
    if given is None or given.shape != truth.shape:
        return "shape"
    return "only_here" if same(started(given)[2], at_x) else "other"


EXERCISES = {"": of_the_mean}
