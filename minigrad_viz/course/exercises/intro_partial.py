"""Introduction: the two partial derivatives of a product."""

from __future__ import annotations

import minigrad

from ..answers import numbers, same

X, Y = 3.0, 5.0
HINTS = {
    "right": (
        "Right: y held still, z is 5x²; x held still, z is 9y.",
        "맞습니다. y를 고정하면 z는 5x²이고, x를 고정하면 z는 9y입니다.",
    ),
    "swapped": (
        "Both numbers are right, but they have changed places: the derivative with respect to x comes first.",
        "두 수는 맞지만 자리가 바뀌었습니다. x에 대한 미분을 먼저 쓰세요.",
    ),
    "like_a_sum": (
        "Those are the derivatives of x² + y. In a product, the factor that is held still stays as a factor.",
        "그것은 x² + y의 미분입니다. 곱에서는 고정한 인수가 곱해진 채로 남습니다.",
    ),
    "only_first": (
        "∂z/∂x is right. For ∂z/∂y hold x = 3 still: what number stands before y?",
        "∂z/∂x는 맞습니다. ∂z/∂y를 구하려면 x = 3을 고정하세요. y 앞에는 어떤 수가 있나요?",
    ),
    "only_second": (
        "∂z/∂y is right. For ∂z/∂x hold y = 5 still: z is 5x². What is its derivative at x = 3?",
        "∂z/∂y는 맞습니다. ∂z/∂x를 구하려면 y = 5를 고정하세요. z는 5x²입니다. x = 3에서 미분은 얼마인가요?",
    ),
    "not_two": (
        "Two numbers are asked for, in brackets: first for x, then for y.",
        "답은 대괄호 안의 두 수입니다. 먼저 x, 그다음 y에 대한 것을 쓰세요.",
    ),
    "other": (
        "Not these. Put y = 5 into z and take the derivative with respect to x. Then put x = 3 into z, and"
        " take the one with respect to y.",
        "아닙니다. z에 y = 5를 넣고 x에 대해 미분하세요. 그다음 z에 x = 3을 넣고 y에 대해 미분하세요.",
    ),
}


def partials(product: bool) -> list[float]:
    """The gradients of x² · y, or of x² + y."""
    x, y = minigrad.tensor(X, requires_grad=True), minigrad.tensor(Y, requires_grad=True)
    (x**2 * y if product else x**2 + y).backward()
    return [x.grad.item(), y.grad.item()]


def of_a_product(answer: object) -> str:
    """Both partial derivatives, in order."""
    given = numbers(answer)
    if given is None or given.size != 2:
        return "not_two"
    pair, truth = given.reshape(-1).tolist(), partials(product=True)
    if same(pair, truth):
        return "right"
    if same(pair, truth[::-1]):
        return "swapped"
    if same(pair, partials(product=False)):
        return "like_a_sum"
    alike = [same(mine, theirs) for mine, theirs in zip(pair, truth)]
    return "only_first" if alike[0] else "only_second" if alike[1] else "other"


EXERCISES = {"": of_a_product}
