"""autograd.grad, twice: a function that gives the second derivative of any function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..answers import Raised, attempt, library_of, same

HINTS = {
    "right": (
        "Right: it gives the second derivative of x³, of ln x³ and of x·eˣ, and leaves x.grad alone.",
        "맞습니다. x³, ln x³, x·eˣ의 2차 미분을 구하고, x.grad는 그대로 둡니다.",
    ),
    "no_function": (
        "A function is asked for: def second(f, x): …, and then answer = second, without calling it.",
        "함수를 써야 합니다. def second(f, x): … 를 쓰고, 호출하지 말고 answer = second로 쓰세요.",
    ),
    "no_graph": (
        "The first derivative has no graph, so it cannot be differentiated. What makes autograd.grad record "
        "one?",
        "1차 미분에 그래프가 없어서 다시 미분할 수 없습니다. 무엇을 주면 autograd.grad가 그래프를 "
        "기록하나요?",
    ),
    "nothing": (
        "Your function returns None. Has it a return at its end?",
        "함수가 None을 반환합니다. 끝에 return이 있나요?",
    ),
    "tuple": (
        "It returns a tuple: autograd.grad gives one gradient for each input. Take out the only one.",
        "튜플을 반환합니다. autograd.grad는 입력마다 변화도를 하나씩 줍니다. 하나뿐인 변화도를 꺼내세요.",
    ),
    "first": (
        "That is the first derivative. Differentiate it once more.",
        "그것은 1차 미분입니다. 한 번 더 미분하세요.",
    ),
    "stored": (
        "Something is in x.grad now: backward() stores, and it adds to what is there. autograd.grad returns "
        "instead.",
        "이제 x.grad에 값이 있습니다. backward()는 저장하고, 있던 값에 더합니다. autograd.grad는 저장하지 "
        "않고 반환합니다.",
    ),
    "other": (
        "Not that. For f(x) = x³ at x = 5 it should give 30. Try it: answer(lambda x: x ** 3, x).",
        "아닙니다. f(x) = x³, x = 5이면 30이 나와야 합니다. answer(lambda x: x ** 3, x)로 시험해 보세요.",
    ),
}


def functions(torch: Any) -> list[Callable[[Any], Any]]:
    return [lambda x: x**3, lambda x: torch.log(x**3), lambda x: x * torch.exp(x)]


def two_derivatives(torch: Any, f: Callable[[Any], Any], at: float) -> tuple[Any, Any]:
    x = torch.tensor(at, requires_grad=True)
    (first,) = torch.autograd.grad(f(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    return first, second


def second_derivative(answer: object) -> str:
    """A function of f and x that returns the second derivative of f at x."""
    if not callable(answer):
        return "no_function"
    torch = library_of(answer)
    return next((told for f in functions(torch) if (told := on(torch, answer, f, 5.0)) != "right"), "right")


def on(torch: Any, answer: Callable[..., Any], f: Callable[[Any], Any], at: float) -> str:
    x = torch.tensor(at, requires_grad=True)
    try:
        given = attempt(answer, f, x)
    except Raised as raised:
        if "does not require grad" in str(raised):
            return "no_graph"
        raise
    first, second = two_derivatives(torch, f, at)
    if given is None:
        return "nothing"
    if isinstance(given, tuple | list):
        return "tuple"
    if x.grad is not None:
        return "stored"
    if same(given, second):
        return "right"
    return "first" if same(given, first) else "other"


EXERCISES = {"": second_derivative}
