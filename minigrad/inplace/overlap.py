"""Whether memory that is to be written to overlaps itself or what is read, in PyTorch's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, Op
from ..core.storage import address, is_dense, steps
from ..core.tensor_state import TensorBase

FILLS = ("fill", "fill_tensor", "zero")  # ops that write one number everywhere


def check_memory(op: Op, t: TensorBase, args: tuple[Any, ...]) -> None:
    """RuntimeError with PyTorch's text where `t` overlaps itself or an argument partly."""
    near = [
        v
        for v in args
        if isinstance(v, TensorBase)
        and v._data.__class__ is np.ndarray  # a scalar has memory of its own
        and np.may_share_memory(t._data, v._data)
    ]
    if not (near and op is F.copy.op and is_same(t._data, args[0]._data)):
        check_single(op, t)
    if op.name in FILLS:
        return
    for value in near:
        if op.name == "copy" or not (t._bits or value._bits):  # where there are bits, what is read is a copy
            check_overlap(t, value)


def check_single(op: Op, t: TensorBase) -> None:
    """RuntimeError with PyTorch's text where elements to be written lie in one place, as after `expand`.
    Filling with one value is always possible.
    """
    data = t._data
    one_number = op.name in ("fill", "zero") or not data.size
    if not one_number and any(s == 0 < n - 1 for s, n in zip(data.strides, data.shape)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def check_overlap(t: TensorBase, other: TensorBase) -> None:
    """RuntimeError with PyTorch's text where an operand lies partly in the memory that is written to."""
    a, b = t._data, other._data
    if other is t or not isinstance(b, np.ndarray) or not (a.size and b.size):
        return
    if not (is_dense(a) and is_dense(b)):
        return
    if np.may_share_memory(a, b) and not is_same(a, b):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def is_same(a: np.ndarray, b: Any) -> bool:
    """Return whether two arrays show the same elements of the same memory."""
    return (
        isinstance(b, np.ndarray) and a.shape == b.shape and steps(a) == steps(b) and address(a) == address(b)
    )
