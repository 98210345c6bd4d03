"""What exercises need in order to judge answers: numbers, tensors, and functions that somebody wrote."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad

from ..equality import numbers
from ..faults import pass_on


class Raised(Exception):
    """What somebody wrote raised an error; the message is its class and its text."""


class Unfit(Exception):
    """An answer has not the form that was asked for."""


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


def attempt(written: object, *args: Any) -> Any:
    """What a function that somebody wrote returns; Raised if it raises, Unfit if it is no function."""
    if not callable(written):
        raise Unfit
    try:
        return written(*args)
    except Exception as error:
        pass_on(error)
        raise Raised(f"{type(error).__name__}: {error}") from error


def library_of(written: Any) -> Any:
    """The library that a function, or the `forward` of a Function, was written for: what it calls `torch`, or
    minigrad."""
    function = getattr(written, "forward", written)
    named = getattr(function, "__globals__", {}).get("torch")
    return named if named is not None and named is sys.modules.get("torch") else minigrad
