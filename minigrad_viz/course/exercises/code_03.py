"""Code 3: which tensors are leaves."""

from __future__ import annotations

import re

import minigrad

HINTS = {
    "right": (
        "Right: only d and e have a grad_fn. c is a result, too, but nothing was recorded for it.",
        "맞습니다. grad_fn이 있는 것은 d와 e뿐입니다. c도 계산한 결과지만 기록된 것이 없습니다.",
    ),
    "form": (
        'Write the names of the leaves as one text of the letters a to e, such as "ace".',
        '잎의 이름을 a부터 e까지의 글자로 이어 써 보세요. 예: "ace"',
    ),
    "asked": (
        "These are the leaves that asked for gradients. A tensor that needs none can be a leaf as well: what "
        "is the grad_fn of b?",
        "그것은 변화도를 요구한 잎입니다. 변화도가 필요 없는 텐서도 잎일 수 있습니다. b의 grad_fn은 "
        "무엇인가요?",
    ),
    "made_by_hand": (
        "Almost: one leaf is missing. It was computed, but from a tensor that needs no gradient. Was that "
        "recorded?",
        "거의 맞았습니다. 잎이 하나 빠졌습니다. 계산한 결과지만, 변화도가 필요 없는 텐서로 계산했습니다. 그 "
        "계산은 기록되었을까요?",
    ),
    "others": (
        "These are the ones that are no leaves. The question is about the rest.",
        "그것은 잎이 아닌 것들입니다. 나머지를 쓰세요.",
    ),
    "no_gradient": (
        "These need no gradient, and they are leaves. One more is: it asked for gradients, and no operation "
        "made it.",
        "그것들은 변화도가 필요 없는 텐서이고 잎이 맞습니다. 잎이 하나 더 있습니다. 변화도를 요구했지만 "
        "연산으로 만들어지지 않은 텐서입니다.",
    ),
    "other": (
        "Not that. Go through the five: which were made by an operation that autograd recorded? It records "
        "where an input requires gradients.",
        "아닙니다. 다섯 개를 하나씩 보세요. autograd가 기록한 연산으로 만들어진 것은 무엇인가요? 입력이 "
        "변화도를 요구할 때 연산이 기록됩니다.",
    ),
}


def program() -> dict[str, minigrad.Tensor]:
    """The tensors of the exercise."""
    a = minigrad.tensor(2.0, requires_grad=True)
    b = minigrad.tensor(3.0)
    c = b * b
    d = a * b
    return {"a": a, "b": b, "c": c, "d": d, "e": d + 1}


def chosen(answer: object) -> set[str] | None:
    """The names in an answer such as "ace", "a, b" or ["a", "b"]; None if it is something else."""
    if isinstance(answer, list | tuple | set | frozenset):
        if not all(isinstance(name, str) for name in answer):
            return None
        answer = " ".join(sorted(answer))
    if not isinstance(answer, str):
        return None
    letters = re.sub(r"\band\b|[\s,;.]", "", answer.strip().lower())
    return set(letters) if re.fullmatch(r"[a-e]+", letters) else None


def leaves(answer: object) -> str:
    """The names of the leaves."""
    names = chosen(answer)
    if names is None:
        return "form"
    tensors = program()
    truth = {name for name, t in tensors.items() if t.is_leaf}
    wanted = {name for name, t in tensors.items() if t.requires_grad}
    known = {
        "right": truth,
        "asked": truth & wanted,
        "made_by_hand": {"a", "b"},
        "others": set(tensors) - truth,
        "no_gradient": set(tensors) - wanted,
    }
    return next((verdict for verdict, found in known.items() if names == found), "other")


EXERCISES = {"": leaves}
