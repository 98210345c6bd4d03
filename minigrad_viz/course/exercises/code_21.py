"""Code 21: a quotient whose backward is to be repaired."""

from __future__ import annotations

from ..answers import library_of, same
from ..functions import Tried, function_of, through, tried

HINTS = {
    "right": (
        "Right: −a/b² by b, and gradcheck agrees at every point that was tried.",
        "맞습니다. b에 대한 도함수는 −a/b²이고, 시험한 모든 점에서 gradcheck을 통과합니다.",
    ),
    "no_function": (
        "That is not a Function. Write answer = MyDiv, the name of the class.",
        "그것은 Function이 아닙니다. 클래스의 이름을 써서 answer = MyDiv라고 하세요.",
    ),
    "forward": (
        "forward gives another number than a / b. It was right: repair backward only.",
        "forward의 결과가 a / b와 다릅니다. forward는 맞았으니 backward만 고치세요.",
    ),
    "unchanged": (
        "The mistake is still there. In the matrices of b: analytical −1.5, numerical −0.75. "
        "What is the derivative of a/b by b?",
        "틀린 곳이 그대로 있습니다. b의 행렬에서 analytical은 −1.5, numerical은 −0.75입니다. "
        "a/b를 b로 미분하면 무엇인가요?",
    ),
    "sign": (
        "Nearly: the sign is wrong. Does a/b grow or shrink when b grows?",
        "거의 맞지만 부호가 반대입니다. b가 커지면 a/b는 커지나요, 작아지나요?",
    ),
    "one_point": (
        "It agrees at a = 3, b = 2, but not at a = 1, b = 4. Write the formula, not the number.",
        "a = 3, b = 2에서는 맞지만 a = 1, b = 4에서는 맞지 않습니다. 수가 아니라 식을 쓰세요.",
    ),
    "not_multiplied": (
        "Right only if grad_output is 1. Multiply both derivatives by grad_output.",
        "grad_output이 1일 때만 맞습니다. 두 도함수에 모두 grad_output을 곱하세요.",
    ),
    "first": (
        "Now the gradient of a is wrong. It was right before: grad_output / b.",
        "이제 a의 변화도가 틀렸습니다. 원래의 grad_output / b가 맞습니다.",
    ),
    "other": (
        "The gradient of b is still wrong. Write a/b as a · b⁻¹: what is its derivative by b?",
        "b의 변화도가 아직 틀렸습니다. a/b를 a · b⁻¹로 쓰고 b로 미분하면 무엇인가요?",
    ),
}
PLACES = [(3.0, 2.0), (1.0, 4.0), (-2.0, -0.5)]


def repaired(answer: object) -> str:
    """A Function that divides."""
    written = function_of(answer)
    if written is None:
        return "no_function"
    library = library_of(written)
    mine = [tried(written, place, 10.0) for place in PLACES]
    truth, plain = (
        [through(library, lambda a, b: a / b, place, sent) for place in PLACES] for sent in (10.0, 1.0)
    )
    if not all(same(m.result, t.result) for m, t in zip(mine, truth, strict=True)):
        return "forward"
    if alike(mine, truth):
        return "right"
    if alike(mine, plain):
        return "not_multiplied"
    if alike(mine[:1], truth[:1]):
        return "one_point"
    (by_a, by_b), (true_a, true_b) = mine[0].gradients, truth[0].gradients
    if not same(by_a, true_a):
        return "first"
    given_b = mine[0].result.detach() * -10.0
    if same(by_b, given_b):
        return "unchanged"
    return "sign" if by_b is not None and same(-by_b, true_b) else "other"


def alike(mine: list[Tried], theirs: list[Tried]) -> bool:
    return all(same(m.gradients, t.gradients) for m, t in zip(mine, theirs, strict=True))


EXERCISES = {"": repaired}
