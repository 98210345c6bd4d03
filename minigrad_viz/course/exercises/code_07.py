"""Code 7: what a third backward adds."""

from __future__ import annotations

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: every call adds ∂z/∂x = 0.6 to x.grad, so three calls leave 1.8.",
        "맞습니다. 호출할 때마다 ∂z/∂x = 0.6이 x.grad에 더해지므로, 세 번 호출하면 1.8이 됩니다.",
    ),
    "replaced": (
        "That is one call's gradient. backward() does not replace what x.grad holds: it adds to it.",
        "그것은 한 번 호출했을 때의 변화도입니다. backward()는 x.grad에 있던 값을 바꾸지 않고 더합니다.",
    ),
    "two_calls": (
        "That is x.grad after two calls. Now there are three.",
        "그것은 두 번 호출한 뒤의 x.grad입니다. 이번에는 세 번 호출합니다.",
    ),
    "other": (
        "Not that. How much does a single call put into x.grad, and how often is it called?",
        "아닙니다. 한 번의 호출은 x.grad에 얼마를 더하고, 호출은 몇 번 하나요?",
    ),
}


def gradients_after(calls: int) -> list[float]:
    """x.grad after each of so many calls of backward on one graph."""
    x = minigrad.tensor(5.0, requires_grad=True)
    z = minigrad.log(x**3)
    seen = []
    for _ in range(calls):
        z.backward(retain_graph=True)
        seen.append(x.grad.item())
    return seen


def third_backward(answer: object) -> str:
    """x.grad after three calls."""
    once, twice, truth = gradients_after(3)
    if same(answer, truth):
        return "right"
    if same(answer, once):
        return "replaced"
    return "two_calls" if same(answer, twice) else "other"


EXERCISES = {"": third_backward}
