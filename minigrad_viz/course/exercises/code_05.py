"""Code 5: which gradients are kept, when one is asked for too late."""

from __future__ import annotations

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: x is a leaf, y asked in time, w asked when the gradients were already gone.",
        "맞습니다. x는 잎이고, y는 제때 요청했고, w는 변화도가 이미 사라진 뒤에 요청했습니다.",
    ),
    "three": (
        "A list of three is needed: numbers, or None where nothing is kept. For example [1, None, 3].",
        "세 항목의 리스트가 필요합니다. 저장된 것이 없는 곳에는 None을 씁니다. 예: [1, None, 3]",
    ),
    "late": (
        "5 is the gradient that came by w. But when was w.retain_grad() called?",
        "5는 w로 흘러온 변화도가 맞습니다. 그런데 w.retain_grad()는 언제 호출했나요?",
    ),
    "leaf_only": (
        "That would be so without any retain_grad(). One of the two calls came in time.",
        "retain_grad()를 부르지 않았다면 그렇습니다. 두 번의 호출 가운데 하나는 제때 했습니다.",
    ),
    "local": (
        "These are the factors of single steps. A gradient here is the derivative of z: multiply all the "
        "factors on the way from z.",
        "그것은 단계 하나하나의 미분입니다. 여기서 변화도는 z의 미분이므로, z에서 오는 길에 있는 것을 모두 "
        "곱해야 합니다.",
    ),
    "kept": (
        "First think about which of x, y and w keep a gradient at all. For the others write None.",
        "먼저 x, y, w 가운데 어느 것이 변화도를 저장하는지 생각해 보세요. 나머지는 None입니다.",
    ),
    "numbers": (
        "None stands where it belongs. Now the numbers: multiply the factors on the way from z to the "
        "tensor.",
        "None의 자리는 맞습니다. 이제 수를 보세요. z에서 그 텐서까지 가는 길에 있는 인수를 모두 곱합니다.",
    ),
}
Grads = list[float | None]


def grads(in_time: bool, late: bool) -> Grads:
    """x.grad, y.grad and w.grad; y keeps its gradient if `in_time`, w if asked before and not late."""
    x = minigrad.tensor(2.0, requires_grad=True)
    y = x * 3
    w = y * 4
    z = w * 5
    if in_time:
        y.retain_grad()
    if not late:
        w.retain_grad()
    z.backward()
    if late:
        w.retain_grad()
    return [None if t.grad is None else t.grad.item() for t in (x, y, w)]


def equal(given: list[object], values: Grads) -> bool:
    return all(same(one, value) for one, value in zip(given, values))


def kept(answer: object) -> str:
    """What x.grad, y.grad and w.grad hold."""
    if not isinstance(answer, list | tuple) or len(answer) != 3:
        return "three"
    given = list(answer)
    truth = grads(in_time=True, late=True)
    if equal(given, truth):
        return "right"
    if equal(given, grads(in_time=True, late=False)):
        return "late"
    if equal(given, grads(in_time=False, late=True)):
        return "leaf_only"
    if [one is None for one in given] != [value is None for value in truth]:
        return "kept"
    return "local" if same(given[0], 3.0) else "numbers"


EXERCISES = {"": kept}
