"""Computational graph: the gradient of (2x + 3)² by hand, and where gradients are kept."""

from __future__ import annotations

import warnings
from functools import partial

import minigrad

from ..answers import same

FIRST, SECOND = 1.0, 2.0
NAMES = ("x", "y", "z", "loss")
HINTS = {
    "right": (
        "Right. Compare your way with the solution that is folded up below.",
        "맞습니다. 아래에 접혀 있는 풀이와 비교해 보세요.",
    ),
    "value": (
        "That is the value of the loss. The question is how fast it changes with x.",
        "그것은 loss의 값입니다. 묻는 것은 x에 따라 loss가 얼마나 빨리 변하는가입니다.",
    ),
    "no_two_x": (
        "That is the gradient at y. One more step leads back to x: y = 2x.",
        "그것은 y에서의 변화도입니다. x까지는 한 단계가 남아 있습니다: y = 2x.",
    ),
    "no_square": (
        "That is the derivative of z = 2x + 3. The square comes on top of it: loss = z².",
        "그것은 z = 2x + 3의 미분입니다. 그 위에 제곱이 있습니다: loss = z².",
    ),
    "added": (
        "It looks as if the factors were added. Along a chain they are multiplied.",
        "인수들을 더한 것 같습니다. 이어진 것은 곱합니다.",
    ),
    "at_x": (
        "You took the derivative of the square, 2z, at the value of x. Take it at the value of z.",
        "제곱의 미분 2z를 x의 값에서 구했습니다. z의 값에서 구하세요.",
    ),
    "elsewhere": (
        "That is the gradient at another point. The derivative of the square, 2z, changes with z.",
        "그것은 다른 점에서의 변화도입니다. 제곱의 미분 2z는 z에 따라 변합니다.",
    ),
    "other": (
        "Not that. Compute y, then z. Of z² the derivative is 2z, of z = y + 3 it is 1, of y = 2x it is 2.",
        "아닙니다. y와 z를 차례로 계산하세요. z²의 미분은 2z, z = y + 3의 미분은 1, y = 2x의 미분은 2입니다.",
    ),
    "none": (
        "Some tensor asked for a gradient. Where does backward() put it?",
        "변화도를 요구한 텐서가 있습니다. backward()는 변화도를 어디에 넣나요?",
    ),
    "intermediate": (
        "A gradient passes y and z, but is it kept there? Only tensors that no operation made keep theirs by"
        " themselves.",
        "변화도가 y와 z를 지나가지만 거기에 저장될까요? 연산이 만들지 않은 텐서만 저장합니다.",
    ),
    "root": (
        "loss is where backward() starts, but it is a result of an operation too, so it keeps no gradient.",
        "loss는 backward()가 시작하는 뿌리이지만, 역시 연산의 결과이므로 변화도를 저장하지 않습니다.",
    ),
    "names": (
        'Write names in quotation marks, out of "x", "y", "z", "loss", as in ["y", "loss"].',
        '"x", "y", "z", "loss" 가운데서 따옴표와 함께 이름을 쓰세요. 예: ["y", "loss"].',
    ),
}


def computed(at: float) -> dict[str, minigrad.Tensor]:
    """The tensors of the exercise, after backward; y and z keep nothing."""
    x = minigrad.tensor(at, requires_grad=True)
    y = x * 2
    z = y + 3
    loss = z**2
    loss.backward()
    return dict(zip(NAMES, (x, y, z, loss)))


def predicted(answer: object, at: float, elsewhere: float) -> str:
    """The gradient of the loss with respect to x, at a point."""
    tensors = computed(at)
    if same(answer, tensors["x"].grad):
        return "right"
    z = tensors["z"].item()
    mistaken = {
        "value": tensors["loss"],
        "no_two_x": 2 * z,
        "no_square": 2.0,
        "added": 2 * z + 1 + 2,
        "at_x": 2 * at * 1 * 2,
        "elsewhere": computed(elsewhere)["x"].grad,
    }
    if same(answer, 2 * z + 2):  # the sum with the factor 1 left out
        return "added"
    return next((name for name, value in mistaken.items() if same(answer, value)), "other")


def kept(answer: object) -> str:
    """The names of the tensors whose .grad is not None."""
    given = {answer} if isinstance(answer, str) else answer
    if not isinstance(given, set | frozenset | list | tuple):
        return "names"
    if not all(isinstance(name, str) and name.strip() in NAMES for name in given):
        return "names"
    mine = {name.strip() for name in given}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # today's dialect warns where the .grad of a result is read
        truth = {name for name, tensor in computed(FIRST).items() if tensor.grad is not None}
    if mine == truth:
        return "right"
    if mine & {"y", "z"}:
        return "intermediate"
    return "root" if mine else "none"


EXERCISES = {
    "": partial(predicted, at=FIRST, elsewhere=SECOND),
    "kept": kept,
    "again": partial(predicted, at=SECOND, elsewhere=FIRST),
}
