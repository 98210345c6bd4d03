"""The checks of `gradcheck`, which loads them when it is first called."""

from __future__ import annotations

import warnings
from typing import Any

from ...core import dtypes
from ...core.storage import strides_of
from . import backward, forward
from .compare import quickly, slowly
from .problem import (
    Limits,
    Problem,
    as_tuple,
    backward_problems,
    differentiable,
    forward_problems,
    is_tensor,
)
from .vectors import gradient_for

__all__ = ["Limits", "as_tuple", "backward", "differentiable", "forward", "gradient_for"]


def compare_all(problem: Problem, fast: bool, by_backward: bool, by_forward: bool, undefined: bool) -> None:
    """Compare the differences with what backward gives, then with what forward mode gives."""
    compare = quickly if fast else slowly
    for part in backward_problems(problem) if by_backward else ():
        compare(part)
    parts = forward_problems(problem) if by_forward else ()
    for part in parts:
        compare(part)
    for part in parts if undefined else ():
        forward.check_undefined(part)


def check_inputs(inputs: tuple[Any, ...]) -> None:
    """ValueError when nothing requires a gradient, RuntimeError when elements share memory; a warning for
    single precision.
    """
    found = False
    for j, t in enumerate(inputs):
        if not (is_tensor(t) and t.requires_grad):
            continue
        found = True
        if dtypes.of(t._data) not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"Input #{j} requires gradient and is not a double precision floating point or complex. This "
                "check will likely fail if all the inputs are not of double precision floating point or "
                "complex. ",
                stacklevel=3,
            )
        strides = zip(strides_of(t._data), t._data.shape, strict=True)
        if t._data.size and any(s == 0 and n > 1 for s, n in strides):
            raise RuntimeError(
                f"The {j}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


def again(tensors: tuple[Any, ...], learning: list[int]) -> tuple[Any, ...]:
    """`tensors`, those at `learning` needing a gradient again after forward mode detached them."""
    return tuple(t.requires_grad_() if i in learning else t for i, t in enumerate(tensors))
