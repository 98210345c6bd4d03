"""Code 15: one way that ends at a new leaf, and one that goes past it."""

from __future__ import annotations

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: only the way through y.sum() reaches x, and it brings 2 + 3 + 5 = 10.",
        "맞습니다. y.sum()을 지나는 경로만 x에 닿고, 2 + 3 + 5 = 10을 가져옵니다.",
    ),
    "joined": (
        "That adds up both ways. Does the gradient that arrives at w go on to y?",
        "그것은 두 경로를 모두 더한 값입니다. w에 도착한 변화도가 y로 더 흘러갈까요?",
    ),
    "through_w": (
        "That is what would come through w if there were no cut. Which way to x is open?",
        "그것은 끊지 않았다면 w를 지나서 올 값입니다. x로 가는 열린 경로는 어느 것인가요?",
    ),
    "none": (
        "z is not computed from w alone: y.sum() is added, and y still has its graph.",
        "z는 w만으로 계산한 것이 아닙니다. y.sum()을 더했고, y에는 그래프가 그대로 있습니다.",
    ),
    "of_w": (
        "That is w.grad, or the gradient that arrives at y. How much of it arrives at x, a single number?",
        "그것은 w.grad이거나 y에 도착하는 변화도입니다. 수 하나인 x에는 얼마가 도착하나요?",
    ),
    "other": (
        "Not that. Look for the ways from z back to x that meet no detach(). What comes through them?",
        "아닙니다. z에서 x로 돌아갈 때 detach()를 만나지 않는 경로를 찾아보세요. 그 경로로 얼마가 오나요?",
    ),
}


def gradients(cut: bool, past: bool = True) -> list[minigrad.Tensor]:
    """x.grad, and the gradients of y and of w, with the cut or without, with the way past it or without."""
    x = minigrad.tensor(5.0, requires_grad=True)
    y = x * minigrad.tensor([2.0, 3.0, 5.0])
    y.retain_grad()
    w = y.detach().requires_grad_() if cut else y
    z = w @ minigrad.tensor([4.0, 7.0, 9.0])
    if past:
        z = z + y.sum()
    z.backward()
    return [x.grad, y.grad, w.grad]


def past_the_cut(answer: object) -> str:
    """x.grad."""
    truth, of_y, of_w = gradients(cut=True)
    if same(answer, truth):
        return "right"
    if same(answer, gradients(cut=False)[0]):
        return "joined"
    if same(answer, gradients(cut=False, past=False)[0]):
        return "through_w"
    if same(answer, of_w) or same(answer, of_y):
        return "of_w"
    return "none" if answer is None or same(answer, 0.0) else "other"


EXERCISES = {"": past_the_cut}
