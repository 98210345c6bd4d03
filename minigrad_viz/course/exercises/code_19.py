"""Code 19: a hook that lets only positive gradients pass."""

from __future__ import annotations

from typing import Any

from ..answers import attempt, library_of, same

HINTS = {
    "right": (
        "Right: a new tensor is returned, with 0 in place of the negative components.",
        "맞습니다. 음수인 성분이 0으로 바뀐 새 텐서를 반환합니다.",
    ),
    "no_function": (
        "A hook is a function: def hook(grad): …, and then answer = hook, without calling it.",
        "hook은 함수입니다. def hook(grad): … 를 쓰고, 호출하지 말고 answer = hook으로 쓰세요.",
    ),
    "unchanged": (
        "The gradient came through unchanged. Does your hook return something? None leaves it as it is.",
        "변화도가 그대로 지나갔습니다. hook이 무엇을 반환하나요? None을 반환하면 그대로 둡니다.",
    ),
    "in_place": (
        "Your hook writes into the gradient that it was given. Return a new tensor instead: others may "
        "still need the old one.",
        "hook이 받은 변화도를 직접 고쳐 씁니다. 그 대신 새 텐서를 반환하세요. 다른 곳에서 그 변화도를 아직 "
        "쓸 수 있습니다.",
    ),
    "absolute": (
        "The negative components became positive. They should become 0.",
        "음수인 성분이 양수가 되었습니다. 0이 되어야 합니다.",
    ),
    "opposite": (
        "The other way round: the negative components came through, the positive ones became 0.",
        "반대입니다. 음수인 성분이 지나가고 양수인 성분이 0이 되었습니다.",
    ),
    "positive": (
        "The positive components 0.5 and 2 should stay as they are.",
        "양수인 성분 0.5와 2는 그대로여야 합니다.",
    ),
    "other": (
        "Not yet: from 0.5, −3, 2, −0.25 your hook should make 0.5, 0, 2, 0. Try it on such a tensor.",
        "아직 아닙니다. hook은 0.5, −3, 2, −0.25에서 0.5, 0, 2, 0을 만들어야 합니다. 이런 텐서로 "
        "시험해 보세요.",
    ),
}

GRADIENT = [0.5, -3.0, 2.0, -0.25]


def passed(torch: Any, hook: Any) -> tuple[list[float], bool]:
    """What comes through `hook` in a backward pass, and whether the hook wrote into what it was given."""
    wrote = []

    def watched(grad: Any) -> Any:
        before = grad.tolist()
        returned = hook(grad)
        wrote.append(grad.tolist() != before)
        return returned

    x = torch.ones(4, requires_grad=True)
    y = x + 1
    y.register_hook(watched)
    y.backward(gradient=torch.tensor(GRADIENT))
    return x.grad.tolist(), any(wrote)


def positive_only(answer: object) -> str:
    """A hook that makes every negative component 0."""
    if not callable(answer):
        return "no_function"
    torch = library_of(answer)
    came, wrote = attempt(passed, torch, answer)
    if wrote:
        return "in_place"
    given = torch.tensor(GRADIENT)
    told = {
        "right": torch.relu(given),
        "unchanged": given,
        "absolute": given.abs(),
        "opposite": -torch.relu(-given),
    }
    if found := next((name for name, truth in told.items() if same(came, truth)), None):
        return found
    return "other" if same([came[0], came[2]], [GRADIENT[0], GRADIENT[2]]) else "positive"


EXERCISES = {"": positive_only}
