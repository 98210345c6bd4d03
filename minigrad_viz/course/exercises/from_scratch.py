"""From scratch: one more operation for the engine of the notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad

from ..answers import attempt, same

HINTS = {
    "right": (
        "Right: its value, its node and its gradient are those of minigrad's tanh.",
        "맞습니다. 값과 노드와 변화도가 minigrad의 tanh와 같습니다.",
    ),
    "not_a_function": (
        "The answer is to be a function that takes a Value: give its name, without calling it.",
        "답은 Value를 받는 함수여야 합니다. 호출하지 말고 함수의 이름을 쓰세요.",
    ),
    "not_a_value": (
        "It does not return a Value. record(…) makes one: return what it returns.",
        "Value를 반환하지 않습니다. record(…)가 Value를 만드니, 그것이 반환하는 것을 반환하세요.",
    ),
    "value": (
        "Its number is not that of tanh. Is it computed with math.tanh from a.data?",
        "값이 tanh의 값과 다릅니다. a.data를 math.tanh로 계산했나요?",
    ),
    "no_node": (
        "The number is right, but the result has no node, so there is no way back. record(…) makes one if it "
        "is given the inputs, as (a,).",
        "값은 맞지만 결과에 노드가 없어서 되돌아가는 경로가 없습니다. record(…)에 입력을 (a,)로 넘기면 "
        "노드를 만듭니다.",
    ),
    "not_multiplied": (
        "Its rule gives the derivative of tanh alone. What becomes of the gradient g that arrives?",
        "규칙이 tanh만의 미분을 반환합니다. 들어온 변화도 g는 어떻게 되었나요?",
    ),
    "of_the_input": (
        "Its rule uses 1 − a², with the input. What does t stand for in 1 − t²?",
        "규칙이 입력으로 1 − a²을 계산합니다. 1 − t²에서 t는 무엇인가요?",
    ),
    "other": (
        "The number is right, but the gradient is not. Multiply g by 1 − t², where t is the result.",
        "값은 맞지만 변화도가 다릅니다. 결과를 t라고 할 때 g에 1 − t²을 곱하세요.",
    ),
}
AT, TIMES = 0.5, 3.0  # where tanh is tried, and what its result is multiplied by


def truth() -> tuple[float, float, float]:
    """tanh there, its derivative, and the gradient when the result is multiplied."""
    x = minigrad.tensor(AT, dtype=minigrad.float64, requires_grad=True)
    t = minigrad.tanh(x)
    (alone,) = minigrad.autograd.grad(t, x, retain_graph=True)
    (whole,) = minigrad.autograd.grad(t * TIMES, x)
    return t.item(), alone.item(), whole.item()


def new_operation(answer: object) -> str:
    """A function from Value to Value, both of the notebook's engine."""
    value = getattr(answer, "__globals__", {}).get("Value")
    if not isinstance(value, type) or not callable(answer):
        return "not_a_function"
    result, gradient = attempt(ran, answer, value)
    number, alone, whole = truth()
    if not isinstance(result, value):
        return "not_a_value"
    if not same(result.data, number):  # type: ignore[attr-defined]
        return "value"
    if gradient is None:
        return "no_node"
    if same(gradient, whole):
        return "right"
    if same(gradient, alone):
        return "not_multiplied"
    return "of_the_input" if same(gradient, TIMES * (1 - AT**2)) else "other"


def ran(written: Callable[..., Any], value: Any) -> tuple[Any, Any]:
    """What a function makes of a Value, and the gradient that comes back to it, if one does."""
    x = value(AT, requires_grad=True)
    result = written(x)
    if not isinstance(result, value) or getattr(result, "grad_fn", None) is None:
        return result, None
    (result * TIMES).backward()
    return result, None if x.grad is None else x.grad.data


EXERCISES = {"": new_operation}
