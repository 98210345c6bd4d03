"""What the backward of a custom Function is given, and what it may give."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import F, check_broadcast, modes
from ...core.apply import summed
from ...core.tensor_state import TensorBase, numbers, wrap

OTHER_FIELD = (
    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
    "got false.  (Could this error message be improved?  If so, please report an enhancement request to "
    "PyTorch.)"
)
BOTH_NAMES = (
    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
    "one of them."
)


def user_backward(cls: Any) -> Any:
    """The user's `backward`, which may also be called `vjp`."""
    base = cls.base
    if cls.vjp is base.vjp:
        return cls.backward
    if cls.backward is not base.backward:
        raise RuntimeError(BOTH_NAMES)
    return cls.vjp


def call_backward(node: Any, gradient: Any) -> Any:
    """What the user's backward gives for `gradient`, as the engine gives it: a list for several outputs, of
    which some may be None. Observers see when it starts and ends.
    """
    if gradient.__class__ is np.ndarray:
        grads = [wrap(gradient)]  # as nearly always
    else:
        grads = gradient if isinstance(gradient, list) else [gradient] if node._outputs == 1 else []
        grads = [
            zeros(node, i) if g is None else g if isinstance(g, TensorBase) else wrap(g)
            for i, g in enumerate(grads or [None] * node._outputs)
        ]
    method, watchers = user_backward(node._forward_cls), modes.observers()
    for watcher in watchers:
        watcher.custom_starts(node)
    try:
        return method(node, *grads)
    finally:
        for watcher in watchers:
            watcher.custom_ended()


def zeros(node: Any, i: int) -> Any:
    """What stands for the missing gradient of output `i`: zeros if they are materialized; None for what is no
    tensor.
    """
    kind = node._made[i] if node._materialize else None
    return None if kind is None else wrap(np.zeros(*kind)[()])


def checked(node: Any, results: Any, raw: bool) -> tuple[Any, ...]:
    """One gradient per edge, `raw` or a tensor, from what the user's backward gave; RuntimeError if it is not
    what it must be. None at the end may be too many.
    """
    results = results if isinstance(results, tuple) else (results,)
    count, expected = len(results), len(node._sent)
    if count != expected and (count < expected or any(r is not None for r in results[expected:])):
        raise RuntimeError(
            f"function {type(node).__name__} returned an incorrect number of gradients (expected {expected}, "
            f"got {count})"
        )
    sent, fits = [], True
    for i, (gradient, kind) in enumerate(zip(results, node._sent)):
        if kind is None and gradient is not None:
            raise RuntimeError(
                f"function {type(node).__name__} returned a gradient different than None at position "
                f"{i + 1}, but the corresponding forward input was not a Variable"
            )
        if isinstance(gradient, TensorBase):
            fits = fits and gradient._data.dtype is kind[1] and gradient._data.shape == kind[0]
        elif gradient is not None:
            raise RuntimeError(f"expected Variable or None (got {type(gradient).__name__})")
        if kind is not None:
            sent.append(gradient)
    if not fits:
        kinds = [kind for kind in node._sent if kind is not None]
        sent = [g if g is None else fitted(node, i, g, *kinds[i]) for i, g in enumerate(sent)]
    return tuple([g if g is None else numbers(g) for g in sent]) if raw else tuple(sent)


def fitted(node: Any, i: int, gradient: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The gradient for edge `i` in the shape and dtype of the input; RuntimeError if it does not fit.

    The first one of a Function in place on a view is written into the gradient of the base.
    """
    if node._next[i] is None:
        return gradient
    if node._in_place_on_view and i == 0:
        return written_over(shape, gradient)
    name = "torch::autograd::CopySlices" if node._in_place_on_view else type(node).__name__
    gradient = summed(name, i, gradient, shape)
    given = gradient._data.dtype
    if given.kind != "f" and (given.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(OTHER_FIELD)
    return gradient if gradient._data.dtype == dtype else F.to(gradient, dtype)


def written_over(shape: tuple[int, ...], gradient: Any) -> Any:
    """A gradient that can be written into memory of this shape; RuntimeError with PyTorch's text if not."""
    size = gradient._data.shape
    check_broadcast(shape, size)
    whole = np.broadcast_shapes(shape, size)
    if whole != shape:
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(whole)}")
    return gradient
