"""What exercises need in order to judge answers: numbers, tensors, and functions that somebody wrote."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad

from ..protocol import is_tensor


class Raised(Exception):
    """What somebody wrote raised an error; the message is its class and its text."""


class Unfit(Exception):
    """An answer has not the form that was asked for."""


def same(answer: object, truth: object, digits: int = 3) -> bool:
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


def numbers_of(answer: object, size: int) -> np.ndarray:
    """So many numbers, in whatever shape they were given; Unfit for anything else."""
    found = numbers(answer)
    if found is None or found.size != size:
        raise Unfit
    return found.reshape(-1)


def function(answer: object) -> Callable[..., Any]:
    """An answer that is a function; Unfit for anything else, a class too."""
    if not callable(answer) or isinstance(answer, type):
        raise Unfit
    return answer


def attempt(written: Callable[..., Any], *args: Any) -> Any:
    """What a function that somebody wrote returns; Raised if it raises."""
    try:
        return written(*args)
    except Exception as error:
        raise Raised(f"{type(error).__name__}: {error}") from error


def library_of(written: Any) -> Any:
    """The library that a function, or the `forward` of a Function, was written for: what it calls `torch`, or
    minigrad."""
    function = getattr(written, "forward", written)
    named = getattr(function, "__globals__", {}).get("torch")
    return named if named is not None and named is sys.modules.get("torch") else minigrad
