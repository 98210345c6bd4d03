"""Training on digits: the gradient of one score with respect to the image."""

from __future__ import annotations

from typing import Any

from ...protocol import is_tensor
from ..answers import Raised, attempt, library_of, same

HINTS = {
    "right": (
        "Right: each number tells how much the score grows when its pixel gets a little more ink.",
        "맞습니다. 각 수는 그 픽셀에 잉크가 조금 늘어날 때 점수가 얼마나 커지는지를 나타냅니다.",
    ),
    "no_function": (
        "A function is asked for. Write answer = sensitivity, without brackets.",
        "함수를 써야 합니다. 괄호 없이 answer = sensitivity라고 쓰세요.",
    ),
    "unfinished": (
        "Your function returns no gradient yet. backward() itself returns None: the gradient is in "
        "image.grad afterwards.",
        "함수가 아직 변화도를 돌려주지 않습니다. backward()가 반환하는 것은 None이고, 변화도는 그 뒤에 "
        "image.grad에 있습니다.",
    ),
    "tuple": (
        "It returns a tuple: autograd.grad gives one gradient for each input. Take out the only one.",
        "튜플을 반환합니다. autograd.grad는 입력마다 변화도를 하나씩 줍니다. 하나뿐인 변화도를 꺼내세요.",
    ),
    "not_asked": (
        "No way leads back from the score to the image. Does the image ask for its gradient, and is it what "
        "the model was given?",
        "점수에서 이미지로 돌아가는 길이 없습니다. 이미지가 변화도를 요구하나요? 모델에 준 것이 바로 그 "
        "이미지인가요?",
    ),
    "no_root": (
        "Backward was started at ten scores at once. Start at one: the score of the digit.",
        "점수 열 개에서 한꺼번에 역전파를 시작했습니다. 그 숫자의 점수 하나를 골라 거기서 시작하세요.",
    ),
    "added": (
        "Right on the first call, but a second call with the same image adds to what image.grad holds. "
        "Work on a copy of the image: image.clone().",
        "첫 호출은 맞지만, 같은 이미지로 다시 호출하면 image.grad에 있던 값에 더해집니다. 이미지의 "
        "복사본 image.clone()을 쓰세요.",
    ),
    "all_scores": (
        "That is the gradient of the sum of all ten scores. Only the score of the digit is asked for.",
        "그것은 점수 열 개를 모두 더한 값의 변화도입니다. 그 숫자의 점수만 필요합니다.",
    ),
    "loss": (
        "That is the gradient of the loss. Leave out the cross entropy: start at the score itself.",
        "그것은 손실의 변화도입니다. 교차 엔트로피를 빼고 점수에서 바로 시작하세요.",
    ),
    "shape": (
        "The result has another shape than the image. The gradient with respect to what is it?",
        "결과의 모양이 이미지와 다릅니다. 무엇에 대한 변화도인가요?",
    ),
    "other": (
        "Not that. Let a copy of the image ask for its gradient, compute the scores, and start backward at "
        "scores[0, digit].",
        "아닙니다. 이미지의 복사본이 변화도를 요구하게 하고, 점수를 계산한 다음, scores[0, digit]에서 "
        "역전파를 시작하세요.",
    ),
}
DIGIT = 3


def small_model(torch: Any) -> Any:
    """A network whose scores are weighted sums of the squared pixels; no random numbers are drawn for it."""

    class Squares(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.sin(torch.arange(640.0)).reshape(64, 10))

        def forward(self, images: Any) -> Any:
            return images.flatten(1) ** 2 @ self.weight

    return Squares()


def gradients(torch: Any, model: Any, pixels: Any) -> dict[str, Any]:
    """The gradient asked for, and those that are taken for it."""
    image = pixels.clone().requires_grad_()
    scores = model(image)
    roots = {
        "right": scores[0, DIGIT],
        "all_scores": scores.sum(),
        "loss": torch.nn.functional.cross_entropy(scores, torch.tensor([DIGIT])),
    }
    return {name: torch.autograd.grad(root, image, retain_graph=True)[0] for name, root in roots.items()}


def sensitivity(answer: object) -> str:
    """A function of a model, an image and a digit."""
    if not callable(answer):
        return "no_function"
    torch = library_of(answer)
    model = small_model(torch)
    pixels = (torch.arange(64.0).reshape(1, 1, 8, 8) + 1) / 64
    given = pixels.clone()
    try:
        first = attempt(answer, model, given, DIGIT)
        second = attempt(answer, model, given, DIGIT) if is_tensor(first) else first
    except Raised as raised:
        return error_named(str(raised))
    if first is None or first is ...:
        return "unfinished"
    if isinstance(first, tuple | list):
        return "tuple"
    if not is_tensor(first):
        return "other"
    known = gradients(torch, model, pixels)
    if tuple(first.shape) != tuple(pixels.shape):
        return "shape"
    told = next((name for name, value in known.items() if same(first, value)), "other")
    return told if told != "right" or same(second, known["right"]) else "added"


def error_named(text: str) -> str:
    """The hint for an error that autograd raised; Raised again for any other."""
    hints = {
        "does not require grad": "not_asked",
        "does not have a grad_fn": "not_asked",
        "not have been used in the graph": "not_asked",
        "can be implicitly created only for scalar": "no_root",
    }
    for part, name in hints.items():
        if part in text:
            return name
    raise Raised(text)


EXERCISES = {"": sensitivity}
