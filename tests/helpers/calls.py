"""Calls as text, right and wrong ones: each ends in the same way in both libraries."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import own_texts
from twins import dialect, is_tensor, noted

import minigrad


def each(text: str) -> list[str]:
    """Return the calls of a table, which stand on lines and between ` | `."""
    return [call.strip() for call in re.split(r" \| |\n", text.strip()) if call.strip()]


def ended(L: Any, call: str, names: dict[str, Any], shown: Callable[[Any], Any]) -> Any:
    """Return how a call ends: its result as `shown` has it, or the class of its error and what it says."""
    scope = {"L": L, "F": L.nn.functional, "nn": L.nn, "np": np, "nan": np.nan, "inf": np.inf, **names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return shown(eval(call, scope))
        except Exception as error:
            return type(error).__name__, first_sentence(error)


def first_sentence(error: Exception) -> str:
    """Return what an error says first, with neither library named: not which forms of a call would fit."""
    text = str(error).split("\n")[0].partition(", but expected")[0].partition(" Hint")[0]
    return re.sub(r"\b(torch|minigrad)\b", "LIBRARY", text).replace(", )", ")").strip()


def comparable(result: Any) -> Any:
    """Return a result without its library: numbers, dtypes, shapes and nodes of tensors, the rest as text."""
    if is_tensor(result):
        return noted(result)
    if isinstance(result, (tuple, list)) and any(map(is_tensor, result)):
        return type(result).__name__, [comparable(part) for part in result]
    return re.sub(r" at 0x\w+", "", str(result).replace("minigrad", "torch"))


def assert_same_ends(
    torch: Any,
    calls: str,
    names: Callable[[Any], dict[str, Any]] = lambda L: {},
    shown: Callable[[Any], Any] = comparable,
) -> None:
    """Hold each call of a table against PyTorch. `names(L)` are made anew for each."""
    different = []
    with dialect("2"):
        for call in each(calls):
            ours, theirs = (ended(L, call, names(L), shown) for L in (minigrad, torch))
            if not own_texts.alike(ours, theirs):
                different.append(f"{call}\n  ours    {ours}\n  PyTorch {theirs}")
    assert not different, "\n".join(["", *different])
