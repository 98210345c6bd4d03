"""Start here: the gradient of a price."""

from __future__ import annotations

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: five kilos, each dearer by 1, cost 5 more.",
        "맞습니다. 5킬로그램이 각각 1만큼 비싸지면 5를 더 냅니다.",
    ),
    "before": (
        "That was the answer for three kilos. Now you buy five.",
        "그것은 3킬로그램일 때의 답입니다. 이번에는 5킬로그램을 삽니다.",
    ),
    "other_leaf": (
        "That is amount.grad: what one more kilo costs. Asked for is price.grad: what it costs if every "
        "kilo becomes dearer by 1.",
        "그것은 amount.grad, 곧 1킬로그램을 더 살 때 늘어나는 금액입니다. 묻는 것은 price.grad, 곧 "
        "킬로그램마다 1만큼 비싸질 때 늘어나는 금액입니다.",
    ),
    "total": (
        "That is what you pay in all. By how much does it grow, if a kilo becomes dearer by 1?",
        "그것은 내는 금액 전체입니다. 1킬로그램이 1만큼 비싸지면 얼마나 늘어나나요?",
    ),
    "other": (
        "Not that. Reckon the total at the old price and at a price that is higher by 1, and compare.",
        "아닙니다. 원래 가격일 때와 1만큼 비싼 가격일 때의 금액을 계산해서 비교해 보세요.",
    ),
}


def shopping(kilos: float) -> tuple[float, float, float, float]:
    """What one pays in all, and for the goods alone; the gradients of the price and of the amount."""
    price = minigrad.tensor(2.0, requires_grad=True)
    amount = minigrad.tensor(kilos, requires_grad=True)
    goods = price * amount
    total = goods + 4.0
    total.backward()
    return total.item(), goods.item(), price.grad.item(), amount.grad.item()


def dearer(answer: object) -> str:
    """The gradient of the price for five kilos."""
    total, goods, price_grad, amount_grad = shopping(5.0)
    if same(answer, price_grad):
        return "right"
    if same(answer, shopping(3.0)[2]):
        return "before"
    if same(answer, amount_grad):
        return "other_leaf"
    return "total" if same(answer, total) or same(answer, goods) else "other"


EXERCISES = {"": dearer}
