"""Arithmetic on snapshots: their numbers as NumPy data, their sums, and whether two agree as far
as their dtype is exact."""

from __future__ import annotations

import base64
import binascii
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.observing import quiet

from .isolation import pass_on
from .protocol import Value, memory_dtype

PRECISION = {"float64": 1e-9, "complex128": 1e-9, "float16": 4e-3, "bfloat16": 3e-2}  # relative; else 1e-5


def keep_numbers(value: Value, data: Any) -> Value:
    """The snapshot of a leaf that keeps all numbers of `data`; the same where it has no summary."""
    kind = memory_dtype(value.dtype)
    if value.summary is None or kind is None:
        return value
    numbers = base64.b64encode(data.astype(kind).tobytes()).decode()
    return value._replace(summary=value.summary._replace(numbers=numbers))


def whole_array(value: Value | None) -> Any:
    """All numbers of a snapshot, also those that `items` does not hold; None where they are not known."""
    kind = None if value is None else memory_dtype(value.dtype)
    if value is None or kind is None:
        return None
    if value.items is not None:
        return np.array(value.items, kind.newbyteorder("=")).reshape(value.shape)[()]
    try:
        memory = base64.b64decode(value.summary.numbers if value.summary else "", validate=True)
    except binascii.Error as damaged:
        pass_on(damaged)
        return None
    if not memory or len(memory) != value.size * kind.itemsize:
        return None
    return np.frombuffer(memory, kind).reshape(value.shape).astype(kind.newbyteorder("="))


def array_of(value: Value | None) -> Any:
    """A snapshot as NumPy data; None where its numbers are not known."""
    return None if value is None or value.items is None else whole_array(value)


def without_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without NumPy's warnings. An interrupt could leave `np.errstate` entered for ever."""
    return functools.wraps(function)(functools.partial(quiet, function))


def coarsest_dtype(*values: Value) -> str:
    """The dtype with the fewest digits."""
    return max((v.dtype for v in values), key=lambda dtype: PRECISION.get(dtype, 1e-5))


@without_warnings
def close(computed: Any, recorded: Any, dtype: str, scale: Any = None) -> bool:
    """Whether two results agree within the rounding of a dtype; `scale` is the size of the terms of a sum."""
    computed, recorded = np.asarray(computed), np.asarray(recorded)
    if computed.ndim and computed.shape != recorded.shape:
        return False
    precision = PRECISION.get(dtype, 1e-5)
    slack = 0 if scale is None else precision * np.where(np.isfinite(scale), scale, 0)
    same = np.abs(computed - recorded) <= precision * np.abs(recorded) + slack
    return bool(np.all(same | (computed == recorded) | (np.isnan(computed) & np.isnan(recorded))))


def agree(a: Value, b: Value) -> bool:
    """Whether two snapshots have the same numbers except for rounding; as far as their ranges tell, where
    there are too many."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    mine, theirs = array_of(a), array_of(b)
    if mine is None or theirs is None:
        ends = (a.low, b.low), (a.high, b.high)
        return all(x is None or y is None or close(x, y, a.dtype) for x, y in ends)
    return close(mine, theirs, a.dtype)


@without_warnings
def sum_snapshots(shares: Sequence[Value]) -> Value | None:
    """The sum of snapshots as the engine forms it, in their dtype; None where it cannot be computed."""
    arrays = [array_of(value) for value in shares]
    if any(a is None for a in arrays) or len({(value.shape, value.dtype) for value in shares}) != 1:
        return None
    total = np.asarray(sum(arrays[1:], arrays[0]))
    return Value(total.shape, shares[0].dtype, tuple(total.reshape(-1).tolist()))


@without_warnings
def add_up(shares: Sequence[Value], total: Value) -> bool:
    """Whether snapshots add up to their sum; those whose numbers are not known do not."""
    arrays, whole = [array_of(v) for v in shares], array_of(total)
    if not arrays or whole is None or any(a is None or np.shape(a) != total.shape for a in arrays):
        return False
    return bool(close(sum(arrays[1:], arrays[0]), whole, total.dtype, sum(np.abs(a) for a in arrays)))
