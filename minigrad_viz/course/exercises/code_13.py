"""Code 13: the gradient through a broadcast sum."""

from __future__ import annotations

from collections.abc import Callable

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: each ∂yᵢ/∂x is 1, so the three gradients 4, 7 and 9 are added: 20.",
        "맞습니다. ∂yᵢ/∂x가 모두 1이므로 세 변화도 4, 7, 9를 더하면 20입니다.",
    ),
    "product": (
        "That is the gradient for the product. What is ∂yᵢ/∂x when y = x + (2, 3, 5)?",
        "그것은 곱셈일 때의 변화도입니다. y = x + (2, 3, 5)일 때 ∂yᵢ/∂x는 얼마인가요?",
    ),
    "unsummed": (
        "Three gradients, one for each element of y. But x is one number. What becomes of them?",
        "그것은 y의 원소마다 하나씩인 변화도 세 개입니다. 그런데 x는 수 하나입니다. 셋은 어떻게 될까요?",
    ),
    "unweighted": (
        "Each element of y grows as fast as x, that is right. How much does z grow with each of them?",
        "y의 원소가 x만큼 커진다는 것은 맞습니다. 그러면 z는 y의 원소마다 얼마나 커지나요?",
    ),
    "other": (
        "Not that. Add up three products: ∂z/∂yᵢ is as before, and only ∂yᵢ/∂x is new.",
        "아닙니다. 곱 세 개를 더해 보세요. ∂z/∂yᵢ는 그대로이고 ∂yᵢ/∂x만 바뀌었습니다.",
    ),
}


def gradients(join: Callable[[minigrad.Tensor, minigrad.Tensor], minigrad.Tensor]) -> list[minigrad.Tensor]:
    """x.grad and y.grad, where `join` makes y of x and the three numbers."""
    x = minigrad.tensor(5.0, requires_grad=True)
    y = join(x, minigrad.tensor([2.0, 3.0, 5.0]))
    y.retain_grad()
    z = y @ minigrad.tensor([4.0, 7.0, 9.0])
    z.backward()
    return [x.grad, y.grad]


def broadcast_sum(answer: object) -> str:
    """x.grad where y = x + (2, 3, 5)."""
    truth, of_y = gradients(lambda x, three: x + three)
    product, _ = gradients(lambda x, three: x * three)
    if same(answer, truth):
        return "right"
    if same(answer, product):
        return "product"
    if same(answer, of_y):
        return "unsummed"
    return "unweighted" if any(same(answer, n) for n in (1.0, 3.0, [1.0, 1.0, 1.0])) else "other"


EXERCISES = {"": broadcast_sum}
