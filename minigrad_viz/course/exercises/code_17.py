"""Code 17: what autograd takes x.grad for, once it has no graph."""

from __future__ import annotations

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: autograd takes x.grad for the constant 0.6, and the derivative of 0.6 · x is 0.6.",
        "맞습니다. autograd는 x.grad를 상수 0.6으로 보므로, 0.6 · x를 미분하면 0.6입니다.",
    ),
    "tracked": (
        "That is the derivative if x.grad is 3/x, a function of x. Does autograd still know that? Look at "
        "x.grad.grad_fn.",
        "그것은 x.grad가 x의 함수 3/x일 때의 미분입니다. autograd가 그것을 아직 알고 있을까요? "
        "x.grad.grad_fn을 보세요.",
    ),
    "value": (
        "That is the value of u. The question is its derivative by x.",
        "그것은 u의 값입니다. 묻는 것은 u를 x로 미분한 값입니다.",
    ),
    "second": (
        "That is the second derivative of z. Here u = x.grad · x is differentiated, once.",
        "그것은 z의 2차 미분입니다. 여기서는 u = x.grad · x를 한 번 미분합니다.",
    ),
    "nothing": (
        "x.grad has no graph, but u is a product with x itself: one path does lead from u to x.",
        "x.grad에는 그래프가 없지만, u는 x를 직접 곱한 것입니다. u에서 x로 가는 경로가 하나 있습니다.",
    ),
    "other": (
        "Not that. Which of the two factors of u = x.grad · x has a path back to x, and what is the other "
        "one?",
        "아닙니다. u = x.grad · x의 두 인수 가운데 x로 돌아가는 경로가 있는 것은 무엇이고, 나머지 하나는 "
        "무엇인가요?",
    ),
}


def derivatives() -> dict[str, float]:
    """What a wrong idea of x.grad leads to, under the name of its hint, and the truth."""
    x = minigrad.tensor(5.0, dtype=minigrad.float64, requires_grad=True)
    z = minigrad.log(x**3)
    (with_graph,) = minigrad.autograd.grad(z, x, create_graph=True)
    (second,) = minigrad.autograd.grad(with_graph, x, create_graph=True)
    (tracked,) = minigrad.autograd.grad(with_graph * x, x, retain_graph=True)
    z.backward()
    assert x.grad is not None
    u = x.grad * x
    (truth,) = minigrad.autograd.grad(u, x)
    found = {"right": truth, "tracked": tracked, "value": u, "second": second}
    return {name: round(tensor.item(), 6) for name, tensor in found.items()}


def product_with_a_gradient(answer: object) -> str:
    """The derivative of x.grad · x by x after z.backward()."""
    if answer is None:
        return "nothing"
    return next((name for name, value in derivatives().items() if same(answer, value)), "other")


EXERCISES = {"": product_with_a_gradient}
