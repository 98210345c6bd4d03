"""Introduction: gradient descent on a square, without the reset, and in a single step."""

from __future__ import annotations

import minigrad

from ..answers import numbers, same

START, SIZE = 4.0, 0.1
HINTS = {
    "right": (
        "Right: x moves by the step size times whatever x.grad holds at that moment.",
        "맞습니다. x는 그 순간 x.grad에 들어 있는 값에 보폭을 곱한 만큼 움직입니다.",
    ),
    "with_reset": (
        "That is where x gets with the reset. What is in x.grad before the second backward(), what after it?",
        "그것은 초기화했을 때의 x입니다. 두 번째 backward() 전과 후에 x.grad에는 무엇이 있나요?",
    ),
    "one_step": (
        "That is x after one step. There is a second one.",
        "그것은 한 걸음 뒤의 x입니다. 아직 한 걸음이 남아 있습니다.",
    ),
    "same_gradient": (
        "That takes the first gradient twice. The second call computes 2x at the new x, and adds it.",
        "그것은 첫 번째 변화도를 두 번 쓴 것입니다. 두 번째 호출은 새로운 x에서 2x를 계산해서 더합니다.",
    ),
    "gradient": (
        "That is what x.grad holds in the second step. Now move x by 0.1 times that.",
        "그것은 두 번째 걸음의 x.grad입니다. 이제 그 값의 0.1배만큼 x를 움직이세요.",
    ),
    "other": (
        "Not that. After one step x is 3.2, and x.grad still holds 8. What does the second call add to it?",
        "아닙니다. 첫걸음 뒤에 x는 3.2이고 x.grad에는 아직 8이 있습니다. 두 번째 호출은 얼마를 더하나요?",
    ),
    "too_small": (
        "Too small: x is still above 0 after that step. The gradient is 8. Which part of 8 is 4?",
        "너무 작습니다. 그 걸음 뒤에도 x는 0보다 큽니다. 변화도는 8입니다. 4는 8의 얼마인가요?",
    ),
    "too_large": (
        "Too large: x jumps over 0 to the other side. The gradient is 8. Which part of 8 is 4?",
        "너무 큽니다. x가 0을 지나 반대쪽으로 넘어갑니다. 변화도는 8입니다. 4는 8의 얼마인가요?",
    ),
    "uphill": (
        "A step size is a number above 0: the minus sign in the formula already turns the step downhill.",
        "보폭은 0보다 큰 수입니다. 내려가는 방향은 식의 빼기 기호가 이미 정해 줍니다.",
    ),
    "no_size": (
        "A step size is one number. The gradient at 4 is 8, and x has to move by 4.",
        "보폭은 수 하나입니다. x = 4에서 변화도는 8이고, x는 4만큼 움직여야 합니다.",
    ),
}


def descent(steps: int, size: float, reset: bool) -> tuple[list[float], list[float]]:
    """Where x is after each step on x², and what its gradient held then."""
    x = minigrad.tensor(START, requires_grad=True)
    places, gradients = [], []
    for _ in range(steps):
        (x**2).backward()
        with minigrad.no_grad():
            x -= size * x.grad
        places.append(x.item())
        gradients.append(x.grad.item())
        if reset:
            x.grad = None
    return places, gradients


def forgotten(answer: object) -> str:
    """x after two steps, with no reset between them."""
    (first, truth), gradients = descent(2, SIZE, reset=False)
    if same(answer, truth):
        return "right"
    mistaken = {
        "with_reset": descent(2, SIZE, reset=True)[0][1],
        "one_step": first,
        "same_gradient": START - 2 * SIZE * gradients[0],
        "gradient": gradients[1],
    }
    return next((name for name, value in mistaken.items() if same(answer, value)), "other")


def size_of_step(answer: object) -> str:
    """The step size that leads to the minimum at once, for a number that is tried."""
    given = numbers(answer)
    if given is None or given.size != 1 or isinstance(answer, bool) or given.item() != given.item():
        return "no_size"
    size = given.item()
    if size <= 0:
        return "uphill"
    (reached,), _ = descent(1, size, reset=True)
    if abs(reached) < 1e-3:
        return "right"
    return "too_small" if reached > 0 else "too_large"


EXERCISES = {"": forgotten, "size": size_of_step}
