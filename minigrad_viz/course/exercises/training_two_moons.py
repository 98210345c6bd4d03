"""Training 1: an optimizer that somebody wrote, beside the library's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..answers import attempt, library_of, numbers, same

RATE = 0.1
WEIGHTS, SLOPES = ([1.0, -2.0], [0.5]), ([3.0, 4.0], [-5.0])  # of two parameters, and their gradients
HINTS = {
    "right": (
        "Right. This is gradient descent: a step against the gradient, and a fresh start for the next one.",
        "맞습니다. 변화도의 반대 방향으로 한 걸음 가고 초기화합니다. 이것이 경사 하강법입니다.",
    ),
    "uphill": (
        "The step has the right length, but it goes uphill. The gradient says where the loss grows.",
        "걸음의 길이는 맞지만 오르막으로 갑니다. 변화도는 loss가 커지는 방향을 가리킵니다.",
    ),
    "unmoved": (
        "The parameters have not moved. p = p - … makes a new tensor called p; p -= … changes p itself.",
        "매개변수가 그대로입니다. p = p - …는 p라는 새 텐서를 만들고, p -= …는 p 자체를 바꿉니다.",
    ),
    "first_only": (
        "Only one parameter has moved. Every parameter in the list needs its step.",
        "매개변수 하나만 움직였습니다. 목록에 있는 모든 매개변수가 움직여야 합니다.",
    ),
    "rate": (
        "The direction is right, but the step is too long: rate has to multiply the gradient.",
        "방향은 맞지만 걸음이 너무 깁니다. 변화도에 rate를 곱해야 합니다.",
    ),
    "kept": (
        "The step is right. But .grad still holds the old gradient, and the next backward() will add to it.",
        "걸음은 맞습니다. 그런데 .grad에 이전 변화도가 남아 있어서, 다음 backward()가 거기에 더하게 됩니다.",
    ),
    "no_function": (
        "Write a function of two arguments, parameters and rate, and give its name, without brackets.",
        "매개변수들과 rate, 두 인자를 받는 함수를 쓰고, 그 이름을 괄호 없이 적으세요.",
    ),
    "other": (
        "Not yet. One parameter of 1 with the gradient 3 should be 0.7 after a step with the rate 0.1.",
        "아직 아닙니다. 값이 1이고 변화도가 3인 매개변수는 rate가 0.1일 때 한 걸음 뒤에 0.7이어야 합니다.",
    ),
}


def stepped(library: Any, step: Callable[[list[Any], float], object]) -> list[Any]:
    """Two parameters with gradients, after a step with them."""
    parameters = [library.nn.Parameter(library.tensor(weights)) for weights in WEIGHTS]
    for parameter, slopes in zip(parameters, SLOPES):
        parameter.grad = library.tensor(slopes)
    attempt(step, list(parameters), RATE)
    return parameters


def descend(answer: object) -> str:
    """A function that moves parameters against their gradients and resets these."""
    if not callable(answer) or isinstance(answer, type):
        return "no_function"
    library = library_of(answer)
    parameters = stepped(library, answer)
    mine = [numbers(parameter) for parameter in parameters]
    truth = [numbers(p) for p in stepped(library, lambda ps, rate: library.optim.SGD(ps, lr=rate).step())]
    if same_all(mine, truth):
        reset = all(parameter.grad is None or not parameter.grad.any() for parameter in parameters)
        return "right" if reset else "kept"
    start, slopes = [np.array(weights) for weights in WEIGHTS], [np.array(slopes) for slopes in SLOPES]
    mistaken: dict[str, Sequence[object]] = {
        "unmoved": start,
        "uphill": [weights + RATE * slope for weights, slope in zip(start, slopes)],
        "first_only": [truth[0], start[1]],
        "rate": [weights - slope for weights, slope in zip(start, slopes)],
    }
    return next((name for name, values in mistaken.items() if same_all(mine, values)), "other")


def same_all(some: Sequence[object], others: Sequence[object]) -> bool:
    """Whether the parameters of two steps hold the same numbers."""
    return all(same(one, other) for one, other in zip(some, others))


EXERCISES = {"": descend}
