"""backward(gradient=): other weights."""

from __future__ import annotations

import minigrad

from ..answers import numbers, same

HINTS = {
    "right": (
        "Right: each gradient is multiplied with the weight of its element: 1 · (−12) and 10 · (−8).",
        "맞습니다. 변화도마다 그 원소의 가중치가 곱해집니다. 1 · (−12)와 10 · (−8)입니다.",
    ),
    "unweighted": (
        "That is b.grad for the weights (1, 1). The second element counts ten times now.",
        "그것은 가중치가 (1, 1)일 때의 b.grad입니다. 이제 두 번째 원소의 비중이 열 배입니다.",
    ),
    "of_a": (
        "That is a.grad. The question is b.grad.",
        "그것은 a.grad입니다. 물어본 것은 b.grad입니다.",
    ),
    "sign": (
        "The size is right, the sign is not: b² is subtracted in Q.",
        "크기는 맞지만 부호가 다릅니다. Q에서 b²은 빼는 항입니다.",
    ),
    "swapped": (
        "The weights are the other way round: 10 belongs to the second element.",
        "가중치가 뒤바뀌었습니다. 10은 두 번째 원소의 가중치입니다.",
    ),
    "all_ten": (
        "Only the second element counts ten times. The first one counts once.",
        "열 배인 것은 두 번째 원소뿐입니다. 첫 번째 원소의 비중은 1입니다.",
    ),
    "shape": (
        "b.grad has the shape of b: write two numbers, as in [1.0, 2.0].",
        "b.grad의 shape는 b와 같습니다. [1.0, 2.0]처럼 수 두 개를 쓰세요.",
    ),
    "other": (
        "Not that. ∂Qᵢ/∂bᵢ is −2bᵢ. Multiply it with the weight of its element.",
        "아닙니다. ∂Qᵢ/∂bᵢ는 −2bᵢ입니다. 여기에 그 원소의 가중치를 곱하세요.",
    ),
}


def gradients(first: float, second: float) -> tuple[minigrad.Tensor, minigrad.Tensor]:
    """a.grad and b.grad for these two weights."""
    a = minigrad.tensor([2.0, 3.0], requires_grad=True)
    b = minigrad.tensor([6.0, 4.0], requires_grad=True)
    Q = 3 * a**3 - b**2
    Q.backward(gradient=minigrad.tensor([first, second]))
    return a.grad, b.grad


def weighted(answer: object) -> str:
    """b.grad for the weights 1 and 10."""
    of_a, truth = gradients(1.0, 10.0)
    if same(answer, truth):
        return "right"
    given = numbers(answer)
    if given is None or given.shape != truth.shape:
        return "shape"
    if same(answer, gradients(1.0, 1.0)[1]):
        return "unweighted"
    if same(answer, of_a):
        return "of_a"
    if same(answer, -truth):
        return "sign"
    if same(answer, gradients(10.0, 1.0)[1]):
        return "swapped"
    return "all_ten" if same(answer, gradients(10.0, 10.0)[1]) else "other"


EXERCISES = {"": weighted}
