"""Forward mode of custom Functions: `jvp` gives the tangents of the outputs from those of the inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tangents import aside, put, tangent_of
from ...core.tensor_state import TensorBase, wrap
from ..forward_ad import check_sizes
from .context import BackwardCFunction, is_among

NOT_IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
    "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
)
NOT_AS_IS = (
    "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is "
    "modifying an input inplace, then the jvp function must modify the gradient inplace and return it as-is."
)
DIRTY_OUTPUT = (
    "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need "
    "to pass it to mark_dirty()."
)
NO_VIEW = (
    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
)
NOT_DIFFERENTIABLE = (
    "Function's jvp returned a gradient at position {}, but  the corresponding forward output is not a "
    "differentiable Tensor.You should return None at that position instead."
)
OTHER_BASE = (
    "A custom Function is returning a view but the jvp is not returning a view of the same base as the given "
    "grad input."
)
NOT_THE_BASE = (
    "A custom Function is returning a view but the jvp is not returning a view of the given grad input."
)


def push(
    node: BackwardCFunction, args: tuple[Any, ...], raw: Any, results: Any, dirty: Any, apart: Any
) -> None:
    """Give the outputs `raw`, which the caller gets as `results`, their tangents if an input has one."""
    tangents = {id(t): known for t in args if (known := tangent_of(t)) is not None}
    if not tangents:
        return
    versions = {key: t._version for key, t in tangents.items()}
    with aside():
        sent = node.apply_jvp(*(tangent(node, t, tangents.get(id(t))) for t in args))
    sent = sent if isinstance(sent, tuple) else (sent,)
    for i, t in enumerate(sent):
        if t is not None and not isinstance(t, TensorBase):
            raise RuntimeError(f"expected Variable or None (got {type(t).__name__}) for grad output {i}.")
    if len(sent) != len(raw):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(raw)} "
            f"but got {len(sent)})"
        )
    for i, (output, result, new) in enumerate(zip(raw, results, sent)):
        if not isinstance(output, TensorBase):
            continue
        if is_among(output, apart) or output._data.dtype not in dtypes.DIFFERENTIABLE:
            if new is not None:
                raise RuntimeError(NOT_DIFFERENTIABLE.format(i))
            continue
        old = tangents.get(id(output))
        if is_among(output, dirty):
            if not is_among(output, args):
                raise RuntimeError(DIRTY_OUTPUT)
            if old is not None:
                check_written(old, new, versions[id(output)])
                continue
        elif result._view is not None:
            check_view(result, args, new)
        set_tangent(result, new)


def tangent(node: BackwardCFunction, t: Any, known: Any) -> Any:
    """What `jvp` gets for an argument: its tangent, zeros if there is none, None for what has no
    derivative.
    """
    if not isinstance(t, TensorBase):
        return None
    if known is None and node._materialize and t._data.dtype in dtypes.DIFFERENTIABLE:
        return wrap(np.zeros_like(t._data)[()])
    return known


def check_written(old: Any, new: Any, version: int) -> None:
    """RuntimeError unless `jvp` has modified the tangent of an input that `forward` modified."""
    if new is None or new._version == version:
        raise RuntimeError(NOT_IN_PLACE)
    if new is not old:
        raise RuntimeError(NOT_AS_IS)


def check_view(result: Any, args: tuple[Any, ...], new: Any) -> None:
    """RuntimeError unless the tangent of a view of an input is a view of the input's tangent."""
    base = result._view.base
    source = next((t for t in args if isinstance(t, TensorBase) and root(t) is base), None)
    known = tangent_of(source)
    if known is None:
        return
    if new is None or new._view is None:
        raise RuntimeError(NO_VIEW)
    if new._view.base is not root(known):
        raise RuntimeError(NOT_THE_BASE if known._view is None else OTHER_BASE)


def root(t: Any) -> Any:
    """The tensor whose memory `t` shows: its base, or itself."""
    return t if t._view is None else t._view.base


def set_tangent(t: Any, new: Any) -> None:
    """Make `new` the tangent of `t`; RuntimeError unless it is a tensor of its shape that can be one."""
    if new is None or new._data.dtype not in dtypes.DIFFERENTIABLE:
        raise RuntimeError("Expected both tensor and its forward grad to be floating point or complex")
    check_sizes(t, new)
    put(t, new)
