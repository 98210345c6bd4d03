"""Whether two rounds of a loop did the same."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from .program import Instruction, Ref


def without_names(steps: Sequence[Instruction]) -> list[Instruction]:
    """Steps that compute."""
    return [step for step in steps if step.kind != "names"]


def difference(
    last: Sequence[Instruction], before: Sequence[Instruction], given: Container[int] | None
) -> str:
    """Why two rounds do not do the same, as a key of the catalogue; "" if they do. `given` are the tensors
    that no step made; None where only the operations must be the same."""
    if len(last) != len(before):
        return "training_no_branch"
    made: dict[int, int] = {}  # numbers in the last round by those in the other
    for new, old in zip(last, before, strict=True):
        key = between(new, old)
        if not key and not new.fresh and given is not None:
            key = differing((new.args, dict(new.options)), (old.args, dict(old.options)), made, given)
        if key:
            return key
        pair(new.results, old.results, made)
    return ""


def between(new: Instruction, old: Instruction) -> str:
    """Why two steps do not do the same, whatever their arguments."""
    if new.kind != old.kind or new.run != old.run or new.grad_mode != old.grad_mode:
        return "training_no_branch"
    if new.made is not None and old.made is not None:
        return "" if np.array_equal(new.made.data, old.made.data) else "training_no_data"
    if new.kind == "ask" and new.answer != old.answer:
        return "training_no_branch"
    return "training_no_settings" if new.kind == "optimizer" and new.answer != old.answer else ""


def pair(new: Any, old: Any, made: dict[int, int]) -> None:
    """Results of the same step have corresponding numbers."""
    if type(new) is Ref and type(old) is Ref:
        made[old.number] = new.number
    elif isinstance(new, list | tuple) and isinstance(old, list | tuple):
        for a, b in zip(new, old):
            pair(a, b, made)


def differing(new: Any, old: Any, made: Mapping[int, int], given: Container[int]) -> str:
    """Why arguments differ."""
    if type(new) is not type(old):
        return "training_no_branch"
    if type(new) is Ref:
        if new.number == made.get(old.number, old.number):
            return ""
        return "training_no_data" if new.number in given else "training_no_carried"
    if isinstance(new, dict):
        new, old = tuple(new.items()), tuple(old.items())
    if isinstance(new, list | tuple):
        if len(new) != len(old):
            return "training_no_branch"
        return next(filter(None, (differing(a, b, made, given) for a, b in zip(new, old))), "")
    if isinstance(new, np.ndarray):
        return "" if np.array_equal(new, old) else "training_no_data"
    return "" if new is old or new == old else "training_no_settings"
