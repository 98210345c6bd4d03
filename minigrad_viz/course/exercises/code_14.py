"""Code 14: a function with a factor that counts as a constant."""

from __future__ import annotations

from typing import Any

from ...protocol import is_tensor
from ..answers import attempt, library_of, same

HINTS = {
    "right": (
        "Right: the value is x³, and the gradient only comes back through the factor that was not cut.",
        "맞습니다. 값은 x³이고, 변화도는 끊지 않은 인수를 통해서만 돌아옵니다.",
    ),
    "no_function": (
        "Write a function of x: def answer(x): and, under it, return and what it computes.",
        "x의 함수를 작성하세요. def answer(x): 아래에 return과 계산할 식을 쓰면 됩니다.",
    ),
    "no_tensor": (
        "The function has to return a tensor that is computed from the x it was given.",
        "함수는 받은 x로 계산한 텐서를 돌려주어야 합니다.",
    ),
    "value": (
        "The value is not x³ yet. detach() does not change values: write x ** 2 * x first, and then cut.",
        "값이 아직 x³이 아닙니다. detach()는 값을 바꾸지 않습니다. x ** 2 * x를 먼저 쓰고 나서 끊으세요.",
    ),
    "uncut": (
        "The value is right, but the gradient is still 3x²: it comes back through both factors.",
        "값은 맞지만 변화도가 아직 3x²입니다. 두 인수를 모두 지나서 돌아오기 때문입니다.",
    ),
    "all_cut": (
        "The value is right, but no gradient gets back to x. Only the factor x² is to be cut off.",
        "값은 맞지만 x로 돌아오는 변화도가 없습니다. 인수 x²만 끊어야 합니다.",
    ),
    "other_factor": (
        "The value is right, but you have cut off the other factor: the gradient 2x · x comes through x².",
        "값은 맞지만 다른 인수를 끊었습니다. 변화도 2x · x는 x²을 지나서 온 것입니다.",
    ),
    "other": (
        "The value is right, but the gradient is not x². Where is the cut?",
        "값은 맞지만 변화도가 x²이 아닙니다. 어디를 끊었나요?",
    ),
}


def constant_factor(answer: object) -> str:
    """A function of x with the value x²·x, whose gradient takes x² for a constant."""
    if not callable(answer) or isinstance(answer, type):
        return "no_function"
    verdicts = [tried(answer, at) for at in (5.0, 2.0, -3.0)]
    return next((verdict for verdict in verdicts if verdict != "right"), "right")


def tried(written: Any, at: float) -> str:
    """What there is to say of the function at this x."""
    torch = library_of(written)

    def gradient(result: Any, x: Any) -> Any:
        return torch.autograd.grad(result, x)[0]

    x = torch.tensor(at, requires_grad=True)
    result = attempt(written, x)
    if result is ...:
        return "unanswered"
    if not is_tensor(result):
        return "no_tensor"
    if not same(result, x**3):
        return "value"
    if result.requires_grad:
        attempt(result.backward)
    if x.grad is None:
        return "all_cut"
    if same(x.grad, gradient(x.detach() ** 2 * x, x)):
        return "right"
    if same(x.grad, gradient(x**2 * x, x)):
        return "uncut"
    return "other_factor" if same(x.grad, gradient(x**2 * x.detach(), x)) else "other"


EXERCISES = {"": constant_factor}
