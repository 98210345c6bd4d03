"""Code 10: a leaf that is base and exponent at once."""

from __future__ import annotations

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: 1 comes through the base, ln 5 = 1.6094 through the exponent, and x.grad is their sum.",
        "맞습니다. 밑을 지나 1이, 지수를 지나 ln 5 = 1.6094가 오고, x.grad는 그 둘의 합입니다.",
    ),
    "base": (
        "That is what comes through the base. x is the exponent as well.",
        "그것은 밑을 지나서 온 변화도입니다. x는 지수이기도 합니다.",
    ),
    "exponent": (
        "That is what comes through the exponent. x is the base as well.",
        "그것은 지수를 지나서 온 변화도입니다. x는 밑이기도 합니다.",
    ),
    "exponent_three": (
        "Nearly: both gradients are added. But the exponent is 5 now, no longer 3.",
        "거의 맞습니다. 두 변화도는 더해집니다. 그런데 지수는 이제 3이 아니라 5입니다.",
    ),
    "multiplied_z": (
        "That is z itself, ln(5⁵) = 5 · ln 5. How fast does it grow when x grows?",
        "그것은 z의 값, ln(5⁵) = 5 · ln 5입니다. x가 커질 때 z는 얼마나 빨리 커지나요?",
    ),
    "without_log": (
        "That is the gradient of xˣ. The logarithm comes after it: multiply by ∂z/∂y = 1/y.",
        "그것은 xˣ의 변화도입니다. 그 뒤에 로그가 있으므로 ∂z/∂y = 1/y를 곱해야 합니다.",
    ),
    "other": (
        "Not that. Reckon what the node sends to its base, q/x with q = 5, and to its exponent, ln x. "
        "Both inputs are the same leaf.",
        "아닙니다. 노드가 밑으로 보내는 값 q/x(q = 5)와 지수로 보내는 값 ln x를 계산해 보세요. "
        "두 입력은 같은 잎입니다.",
    ),
}


def gradients(base: float, exponent: float) -> tuple[float, float]:
    """What the node sends to two leaves, z being the logarithm."""
    x = minigrad.tensor(base, requires_grad=True)
    q = minigrad.tensor(exponent, requires_grad=True)
    minigrad.log(x**q).backward()
    return x.grad.item(), q.grad.item()


def both_at_once(answer: object) -> str:
    """x.grad of z = ln(xˣ) at 5."""
    x = minigrad.tensor(5.0, requires_grad=True)
    power = x**x
    z = minigrad.log(power)
    z.backward()
    by_base, by_exponent = gradients(5.0, 5.0)
    wrong = {
        "base": by_base,
        "exponent": by_exponent,
        "exponent_three": sum(gradients(5.0, 3.0)),
        "multiplied_z": z,
        "without_log": x.grad * power,
    }
    if same(answer, x.grad):
        return "right"
    return next((name for name, value in wrong.items() if same(answer, value)), "other")


EXERCISES = {"": both_at_once}
