"""inputs=: what two calls with different inputs leave."""

from __future__ import annotations

from typing import Any

import minigrad

from ..answers import numbers, same

HINTS = {
    "right": (
        "Right: a was named in both calls, so its gradient was added twice, and that of b once.",
        "맞습니다. a는 두 호출에 모두 있으므로 변화도가 두 번 더해지고, b의 변화도는 한 번 더해집니다.",
    ),
    "replaced": (
        "b.grad is right. But a was named in both calls, and backward() adds to what a.grad holds.",
        "b.grad는 맞습니다. 그런데 a는 두 호출에 모두 있고, backward()는 a.grad에 있던 값에 더합니다.",
    ),
    "both_twice": (
        "a.grad is right. But only one of the two calls named b.",
        "a.grad는 맞습니다. 그런데 두 호출 가운데 하나에만 b가 있습니다.",
    ),
    "no_b": (
        "a.grad is right. b.grad was None after the first call; then the second call named b too.",
        "a.grad는 맞습니다. b.grad는 첫 번째 호출 뒤에는 None이지만, 두 번째 호출에는 b도 있습니다.",
    ),
    "first_call": (
        "That is how it stands after the first call. Now comes the second.",
        "그것은 첫 번째 호출 뒤의 값입니다. 이제 두 번째 호출이 남았습니다.",
    ),
    "swapped": (
        "The numbers are right, but those of a.grad come first.",
        "수는 맞지만 a.grad의 값이 먼저 와야 합니다.",
    ),
    "no_pair": (
        "Two lists of two numbers each are asked for: [[…, …], […, …]], first a.grad, then b.grad.",
        "수가 두 개씩 든 리스트 두 개를 써야 합니다. [[…, …], […, …]]에서 앞은 a.grad, 뒤는 b.grad입니다.",
    ),
    "other": (
        "Not that. One call adds [36, 81] to a.grad or [-12, -8] to b.grad. Which call names whom?",
        "아닙니다. 한 번의 호출은 a.grad에 [36, 81]을, b.grad에 [-12, -8]을 더합니다. 어느 호출에 무엇이 "
        "있나요?",
    ),
}


def gradients(named: list[str]) -> list[Any]:
    """a.grad and b.grad after one call for each of `named`, with the inputs of these names."""
    a = minigrad.tensor([2.0, 3.0], requires_grad=True)
    b = minigrad.tensor([6.0, 4.0], requires_grad=True)
    result = 3 * a**3 - b**2
    for names in named:
        inputs = [{"a": a, "b": b}[name] for name in names]
        result.backward(gradient=minigrad.ones(2), inputs=inputs, retain_graph=True)
    return [a.grad, b.grad]


def two_calls(answer: object) -> str:
    """a.grad and b.grad after a call with inputs=[a] and one with inputs=[a, b]."""
    if not isinstance(answer, list | tuple) or len(answer) != 2:
        return "right" if same(answer, gradients(["a", "ab"])) else "no_pair"
    told = {
        "right": gradients(["a", "ab"]),
        "replaced": gradients(["ab"]),
        "both_twice": gradients(["ab", "ab"]),
        "no_b": gradients(["a", "a"]),
        "first_call": gradients(["a"]),
        "swapped": gradients(["a", "ab"])[::-1],
    }
    for name, truth in told.items():
        if all(like(mine, theirs) for mine, theirs in zip(answer, truth)):
            return name
    return "other" if all(map(fits, answer)) else "no_pair"


def like(answer: object, truth: object) -> bool:
    """As `same`; and zeros stand for None, because they too say that nothing came."""
    return same(answer, truth) or (truth is None and same(answer, [0.0, 0.0]))


def fits(answer: object) -> bool:
    """Whether `answer` could be a gradient of a or of b."""
    found = numbers(answer)
    return answer is None or (found is not None and found.shape == (2,))


EXERCISES = {"": two_calls}
