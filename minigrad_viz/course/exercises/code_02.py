"""Code 2: a difference quotient that looks to both sides."""

from __future__ import annotations

from typing import Any

from ..answers import attempt, library_of, same

HINTS = {
    "right": (
        "Right. On both sides the bend of the curve is nearly the same, so its errors cancel: for z at "
        "h = 0.1 this gives 0.6001, the quotient to one side 0.5941.",
        "맞습니다. 곡선은 양쪽에서 거의 똑같이 휘므로 오차가 상쇄됩니다. z의 경우 h = 0.1에서 이 몫은 "
        "0.6001이고, 한쪽만 보는 몫은 0.5941입니다.",
    ),
    "no_function": (
        "A function is needed here: in place of the first line write `def answer(f, x, h):` and, below it, "
        "what it returns.",
        "여기서는 함수가 필요합니다. 첫째 줄 대신 `def answer(f, x, h):`를 쓰고, 그 아래에 무엇을 "
        "반환하는지 쓰세요.",
    ),
    "nothing": (
        "Your function returns None. Is there a `return` in front of the result?",
        "작성한 함수는 None을 반환합니다. 결과 앞에 `return`이 있나요?",
    ),
    "one_side": (
        "That is a quotient to one side: one of its points is x itself. Take x + h and x − h.",
        "그것은 한쪽만 보는 몫입니다. 두 점 가운데 하나가 x 자신입니다. x + h와 x − h를 쓰세요.",
    ),
    "twice": (
        "That is twice too much. How far is it from x − h to x + h?",
        "두 배가 나왔습니다. x − h에서 x + h까지의 거리는 얼마인가요?",
    ),
    "difference": (
        "That is the difference of the two values of f. It has still to be divided by the distance of the "
        "two points.",
        "그것은 두 함숫값의 차입니다. 이것을 두 점 사이의 거리로 나누어야 합니다.",
    ),
    "brackets": (
        "Brackets are missing. Python multiplies and divides from left to right, and both before it "
        "subtracts. Put brackets around the difference and around 2 * h.",
        "괄호가 빠졌습니다. 파이썬은 곱셈과 나눗셈을 왼쪽부터 차례로, 뺄셈보다 먼저 계산합니다. 두 함숫값의 "
        "차와 2 * h를 각각 괄호로 묶으세요.",
    ),
    "sign": (
        "The number is right, its sign is not. From which value of f is the other subtracted?",
        "수는 맞지만 부호가 다릅니다. 어느 함숫값에서 어느 함숫값을 빼야 하나요?",
    ),
    "exact": (
        "That is the derivative itself, not a difference quotient. Use f(x + h) and f(x − h), and nothing "
        "but f.",
        "그것은 차분의 몫이 아니라 미분 자체입니다. f(x + h)와 f(x − h)만 사용하세요.",
    ),
    "other": (
        "Not that. It should be f(x + h) less f(x − h), divided by the distance of the two points.",
        "아닙니다. f(x + h)에서 f(x − h)를 뺀 것을 두 점 사이의 거리로 나누어야 합니다.",
    ),
}
X, H = 2.0, 0.3


def cube(x: Any) -> Any:
    return x**3


def both_sides(answer: object) -> str:
    """A function of f, x and h."""
    if not callable(answer):
        return "no_function"
    library = library_of(answer)
    got = attempt(answer, cube, library.tensor(X, dtype=library.float64), H)
    if got is None:
        return "nothing"
    high, here, low = cube(X + H), cube(X), cube(X - H)
    central = (high - low) / (2 * H)
    known = {
        "right": [central],
        "one_side": [(high - here) / H, (here - low) / H],
        "twice": [2 * central],
        "difference": [high - low],
        "brackets": [(high - low) / 2 * H, high - low / 2 * H, high - low / (2 * H)],
        "sign": [-central],
        "exact": [3 * X**2],
    }
    for verdict, values in known.items():
        if any(same(got, value) for value in values):
            return verdict
    return "other"


EXERCISES = {"": both_sides}
