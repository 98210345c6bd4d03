"""When two answers are the same: numbers as a person rounds, tensors by the numbers in them."""

from __future__ import annotations

import numpy as np

from .protocol import is_tensor

DIGITS = 3  # significant digits to which numbers have to agree


def same(answer: object, truth: object, digits: int = DIGITS) -> bool:
    """Whether `answer` is `truth`: equal for None, True, False and text; to `digits` digits for numbers.

    Tensors, arrays and nested lists count as the numbers in them, and have to have the same shape. Lists with
    None among their items are compared item by item. Capital letters and blanks around a text do not matter.
    Sets and counts are equal if Python says so. False where the two cannot be compared.
    """
    if truth is None or isinstance(truth, bool):
        return answer is truth
    if isinstance(truth, str):
        return isinstance(answer, str) and answer.strip().lower() == truth.strip().lower()
    if isinstance(truth, set | frozenset | dict):
        return answer == truth
    if answer is None or isinstance(answer, bool):
        return False
    if isinstance(truth, list) and any(item is None for item in truth):
        whole = isinstance(answer, list | tuple) and len(answer) == len(truth)
        return whole and all(map(same, answer, truth))  # type: ignore[call-overload]
    mine, theirs = numbers(answer), numbers(truth)
    if mine is None or theirs is None or mine.shape != theirs.shape:
        return False
    return bool(np.allclose(mine, theirs, rtol=0.5 * 10.0 ** (1 - digits), atol=1e-9, equal_nan=True))


def numbers(answer: object) -> np.ndarray | None:
    """The numbers of a tensor, an array, a number or nested lists of these; None for anything else."""
    if isinstance(answer, list | tuple):
        rows = [numbers(item) for item in answer]
        if any(row is None for row in rows) or len({row.shape for row in rows if row is not None}) > 1:
            return None
        return np.array(rows, dtype=np.float64)
    if is_tensor(answer):
        answer = answer.detach().tolist()  # type: ignore[attr-defined]
    elif not isinstance(answer, int | float | np.ndarray | np.number):
        return None
    try:
        return np.array(answer, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # complex numbers, text in an array, an enormous integer
        return None
