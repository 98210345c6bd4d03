"""Code 8: what a name given to x.grad holds after x.grad was emptied."""

from __future__ import annotations

import minigrad

from ..answers import numbers, same

HINTS = {
    "right": (
        "Right: first follows its tensor until None parts it from x.grad; zero_() then empties the new one.",
        "맞습니다. first는 None이 x.grad와 갈라놓을 때까지 같은 텐서이고, zero_()는 그 뒤에 생긴 새 텐서를 "
        "비웁니다.",
    ),
    "copy": (
        "x.grad is right. But first is no copy: it is the tensor in x.grad to which the second call adds.",
        "x.grad는 맞습니다. 하지만 first는 복사본이 아니라, 두 번째 호출이 더할 때 x.grad와 같은 텐서입니다.",
    ),
    "emptied": (
        "x.grad is right. But does zero_() still reach first? x.grad = None came in between.",
        "x.grad는 맞습니다. 그런데 zero_()가 아직도 first에 닿을까요? 그 사이에 x.grad = None이 있었습니다.",
    ),
    "summed": (
        "x.grad is right. But the third call adds nothing to first: after None it made a new tensor.",
        "x.grad는 맞습니다. 하지만 세 번째 호출은 first에 더하지 않습니다. x.grad = None 뒤에 새 텐서를 "
        "만들었습니다.",
    ),
    "lost": (
        "None is put into x.grad only. The name first keeps the tensor that x.grad held before.",
        "None은 x.grad에만 들어갑니다. first는 x.grad에 있던 텐서를 그대로 갖고 있습니다.",
    ),
    "none": (
        "At the end x.grad is not None: the third call put a tensor there, and zero_() wrote into it.",
        "끝에서 x.grad는 None이 아닙니다. 세 번째 호출이 텐서를 넣었고, zero_()가 거기에 썼습니다.",
    ),
    "last": (
        "first is right. Now look at the last line: what does zero_() leave in x.grad?",
        "first는 맞습니다. 마지막 행을 보세요. zero_()를 호출하면 x.grad에 무엇이 남나요?",
    ),
    "pair": (
        "Write a list of two numbers: first what first holds, then what x.grad holds.",
        "수 두 개를 리스트로 쓰세요. 먼저 first의 값, 다음에 x.grad의 값입니다.",
    ),
    "other": (
        "Not that. After each line ask: which tensor is x.grad now, and does the name first still mean it?",
        "아닙니다. 행마다 물어보세요. 지금 x.grad는 어느 텐서이고, first는 아직 그 텐서의 이름인가요?",
    ),
}


def run() -> tuple[list[float], list[float]]:
    """`first` and x.grad at the end; and x.grad as it was after each call."""
    x = minigrad.tensor(5.0, requires_grad=True)
    z = minigrad.log(x**3)
    z.backward(retain_graph=True)
    first = x.grad
    seen = [x.grad.item()]
    z.backward(retain_graph=True)
    seen.append(x.grad.item())
    x.grad = None
    z.backward()
    seen.append(x.grad.item())
    x.grad.zero_()
    return [first.item(), x.grad.item()], seen


def two_names(answer: object) -> str:
    """What first and x.grad hold."""
    truth, (once, twice, _) = run()
    if not isinstance(answer, list | tuple) or len(answer) != 2:
        return "pair"
    first, last = answer
    if first is None:
        return "lost"
    if last is None:
        return "none"
    if any(number is None or number.shape != () for number in map(numbers, answer)):
        return "pair"
    if not same(last, truth[1]):
        return "last" if same(first, truth[0]) else "other"
    if same(first, truth[0]):
        return "right"
    if same(first, once):
        return "copy"
    return "emptied" if same(first, 0.0) else "summed" if same(first, once + twice) else "other"


EXERCISES = {"": two_names}
