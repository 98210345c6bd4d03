"""Code 4: the three gradients on the way back, at x = 2."""

from __future__ import annotations

import minigrad

from ..answers import numbers, same

HINTS = {
    "right": (
        "Right: 1 at z, 1 · 1/8 = 0.125 at y, 0.125 · 12 = 1.5 at x. Only the last one is stored, in x.grad.",
        "맞습니다. z에서 1, y에서 1 · 1/8 = 0.125, x에서 0.125 · 12 = 1.5입니다. 저장되는 것은 x.grad에 "
        "들어가는 마지막 것뿐입니다.",
    ),
    "three": (
        "A list of three numbers is needed, such as [1, 2, 3].",
        "세 수의 리스트가 필요합니다. 예: [1, 2, 3]",
    ),
    "old": (
        "These are the gradients at x = 5. Now x is 2.",
        "그것은 x = 5일 때의 변화도입니다. 이번에는 x가 2입니다.",
    ),
    "order": (
        "The numbers are right. Backward computes them from the end to the beginning: which comes first?",
        "수는 맞습니다. 역전파는 끝에서 처음으로 가며 계산합니다. 무엇이 가장 먼저일까요?",
    ),
    "root": (
        "The first number is ∂z/∂z. How much does z grow when z grows by 1?",
        "첫째 수는 ∂z/∂z입니다. z가 1만큼 커지면 z는 얼마나 커지나요?",
    ),
    "inner": (
        "The second number is ∂z/∂y = 1/y. And y is not 2, but x³.",
        "둘째 수는 ∂z/∂y = 1/y입니다. 여기서 y는 2가 아니라 x³입니다.",
    ),
    "second": (
        "The first number is right. The second is ∂z/∂y, the derivative of ln y, at y = x³.",
        "첫째 수는 맞습니다. 둘째 수는 ∂z/∂y, 곧 y = x³에서 ln y의 미분입니다.",
    ),
    "local": (
        "The third number is ∂y/∂x, the factor of the last step alone. What comes to x is ∂z/∂x: multiply "
        "it by what came to y.",
        "셋째 수는 ∂y/∂x, 곧 마지막 단계만의 미분입니다. x로 흘러가는 것은 ∂z/∂x입니다. y로 흘러온 값을 "
        "곱하세요.",
    ),
    "third": (
        "The first two are right. The third is ∂z/∂y · ∂y/∂x, and ∂y/∂x is 3x².",
        "앞의 두 수는 맞습니다. 셋째 수는 ∂z/∂y · ∂y/∂x이고, ∂y/∂x는 3x²입니다.",
    ),
}


def on_the_way(start: float) -> list[float]:
    """The gradients at z, y and x, in the order in which backward computes them."""
    x = minigrad.tensor(start, requires_grad=True)
    y = x**3
    z = minigrad.log(y)
    seen: list[float] = []
    for tensor in (x, y, z):
        tensor.register_hook(lambda gradient: seen.append(gradient.item()))
    z.backward()
    return seen


def gradients(answer: object) -> str:
    """∂z/∂z, ∂z/∂y and ∂z/∂x."""
    given = numbers(answer)
    if given is None or given.shape != (3,):
        return "three"
    truth = on_the_way(2.0)
    for verdict, values in (("right", truth), ("old", on_the_way(5.0)), ("order", truth[::-1])):
        if same(given, values):
            return verdict
    first, second, third = given
    if not same(first, truth[0]):
        return "root"
    if not same(second, truth[1]):
        return "inner" if same(second, 1 / 2.0) else "second"
    return "local" if same(third, truth[2] / truth[1]) else "third"


EXERCISES = {"": gradients}
