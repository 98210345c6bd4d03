"""Introduction: the chain rule on another chain."""

from __future__ import annotations

import minigrad

from ..answers import same

START = 2.0
HINTS = {
    "right": (
        "Right: dz/dy = 3y² = 75 and dy/dx = 2x = 4, and along a chain they are multiplied.",
        "맞습니다. dz/dy = 3y² = 75이고 dy/dx = 2x = 4이며, 이어진 것은 곱합니다.",
    ),
    "outer": (
        "That is dz/dy, the last link of the chain. How fast does y change with x?",
        "그것은 사슬의 마지막 고리인 dz/dy입니다. y는 x에 따라 얼마나 빨리 변하나요?",
    ),
    "inner": (
        "That is dy/dx, the first link of the chain. How fast does z change with y?",
        "그것은 사슬의 첫 고리인 dy/dx입니다. z는 y에 따라 얼마나 빨리 변하나요?",
    ),
    "added": (
        "You added dz/dy and dy/dx. Along a chain, derivatives are multiplied.",
        "dz/dy와 dy/dx를 더했습니다. 이어진 미분은 곱합니다.",
    ),
    "at_x": (
        "You took 3y² at 2, which is the value of x. Take it at the value of y.",
        "3y²을 x의 값인 2에서 구했습니다. y의 값에서 구하세요.",
    ),
    "value": (
        "That is the value of z. The question is how fast z changes with x.",
        "그것은 z의 값입니다. 묻는 것은 x에 따라 z가 얼마나 빨리 변하는가입니다.",
    ),
    "other": (
        "Not that. Find y first. Then dz/dy = 3y² at that y, dy/dx = 2x at x = 2, and combine the two.",
        "아닙니다. 먼저 y를 구하세요. 그다음 dz/dy = 3y²과 dy/dx = 2x를 구해 연쇄법칙으로 합치세요.",
    ),
}


def cubed(at: float) -> tuple[float, float]:
    """y³ and its derivative."""
    y = minigrad.tensor(at, requires_grad=True)
    z = y**3
    z.backward()
    return z.item(), y.grad.item()


def squared(at: float) -> tuple[float, float]:
    """x² + 1 and its derivative."""
    x = minigrad.tensor(at, requires_grad=True)
    y = x**2 + 1
    y.backward()
    return y.item(), x.grad.item()


def whole(at: float) -> float:
    """The derivative of (x² + 1)³."""
    x = minigrad.tensor(at, requires_grad=True)
    ((x**2 + 1) ** 3).backward()
    return float(x.grad.item())


def chain(answer: object) -> str:
    """dz/dx."""
    if same(answer, whole(START)):
        return "right"
    y, inner = squared(START)
    z, outer = cubed(y)
    mistaken = {
        "outer": outer,
        "inner": inner,
        "added": outer + inner,
        "at_x": cubed(START)[1] * inner,
        "value": z,
    }
    return next((name for name, value in mistaken.items() if same(answer, value)), "other")


EXERCISES = {"": chain}
