"""Code 20: the numerical side of a gradcheck."""

from __future__ import annotations

from collections.abc import Callable

from ..answers import attempt, same

HINTS = {
    "right": (
        "Right: that is the numerical side of gradcheck.",
        "맞습니다. 이것이 gradcheck이 수치로 계산하는 쪽입니다.",
    ),
    "no_function": (
        "That is not a function. Write answer = numerical, without brackets.",
        "그것은 함수가 아닙니다. 괄호 없이 answer = numerical이라고 쓰세요.",
    ),
    "unfinished": (
        "The function returns no number yet. Replace the dots after return.",
        "함수가 아직 수를 돌려주지 않습니다. return 뒤의 점 세 개를 바꾸세요.",
    ),
    "one_sided": (
        "That is the quotient of Code 2: it moves x to one side only. Here x moves to both sides.",
        "그것은 Code 2의 몫입니다. x를 한쪽으로만 움직입니다. 여기서는 x를 양쪽으로 움직입니다.",
    ),
    "half_distance": (
        "Twice too much: from x − eps to x + eps it is 2 · eps, not eps.",
        "두 배로 큽니다. x − eps에서 x + eps까지의 거리는 eps가 아니라 2 · eps입니다.",
    ),
    "sign": (
        "The sign is wrong. Which comes first in the difference, f(x + eps) or f(x - eps)?",
        "부호가 반대입니다. 뺄셈에서 f(x + eps)와 f(x - eps) 중 어느 것이 먼저인가요?",
    ),
    "brackets": (
        "Divided by 2 and then multiplied by eps: brackets are missing around 2 * eps.",
        "2로 나눈 다음 eps를 곱했습니다. 2 * eps를 괄호로 묶어야 합니다.",
    ),
    "difference": (
        "That is the difference alone. Divide it by the distance 2 * eps.",
        "그것은 차이일 뿐입니다. 거리 2 * eps로 나누세요.",
    ),
    "other": (
        "Not that. Call f twice, at x + eps and at x - eps, and divide the difference by (2 * eps).",
        "아닙니다. f를 x + eps와 x - eps에서 한 번씩 호출하고, 그 차이를 (2 * eps)로 나누세요.",
    ),
}
Quotient = Callable[[Callable[[float], float], float, float], object]


def cube(x: float) -> float:
    return x**3


def fourth(x: float) -> float:
    return x**4 - 2 * x


def central(f: Callable[[float], float], x: float, eps: float) -> float:
    return (f(x + eps) - f(x - eps)) / (2 * eps)


WRONG: dict[str, tuple[Quotient, ...]] = {
    "one_sided": (
        lambda f, x, eps: (f(x + eps) - f(x)) / eps,
        lambda f, x, eps: (f(x) - f(x - eps)) / eps,
        lambda f, x, eps: (f(x + 2 * eps) - f(x)) / (2 * eps),
    ),
    "half_distance": (lambda f, x, eps: (f(x + eps) - f(x - eps)) / eps,),
    "sign": (lambda f, x, eps: (f(x - eps) - f(x + eps)) / (2 * eps),),
    "brackets": (lambda f, x, eps: (f(x + eps) - f(x - eps)) / 2 * eps,),
    "difference": (lambda f, x, eps: f(x + eps) - f(x - eps),),
}
PLACES = [(cube, 5.0, 0.1), (fourth, -2.0, 0.25)]


def quotient(answer: object) -> str:
    """A function of f, x and eps."""
    if not callable(answer):
        return "no_function"
    given = [attempt(answer, *place) for place in PLACES]
    if any(value is None or value is ... for value in given):
        return "unfinished"

    def like(known: Quotient) -> bool:
        return all(same(mine, known(*place), 6) for mine, place in zip(given, PLACES, strict=True))

    if like(central):
        return "right"
    return next((name for name, known in WRONG.items() if any(map(like, known))), "other")


EXERCISES = {"": quotient}
