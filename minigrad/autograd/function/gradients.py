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


def call_backward(node: Any, grads: list[Any]) -> Any:
    """What the user's backward gives for the gradients of all outputs, of which some may be None."""
    cls = node._forward_cls
    if node._materialize:
        for g in grads:
            if g is None:
                grads = [zeros(node, i) if g is None else g for i, g in enumerate(grads)]
                break
    method = cls.backward if cls.vjp is cls.base.vjp else user_backward(cls)
    if modes.active and modes.state.observers:
        return run_watched(modes.state.observers, node, method, grads)
    return method(node, *grads)


def run_watched(watchers: tuple[Any, ...], node: Any, method: Any, grads: Any) -> Any:
    """Call the user's backward, and tell observers when it starts and ends."""
    for watcher in watchers:
        watcher.custom_starts(node)
    try:
        return method(node, *grads)
    finally:
        for watcher in watchers:
            watcher.custom_ended()


def zeros(node: Any, i: int) -> Any:
    """What stands for the missing gradient of output `i`: zeros, None for what is no tensor."""
    kind = node._made[i]
    if kind is None:
        return None
    return wrap(np.zeros(*kind)[()])


def checked(node: Any, results: Any, raw: bool) -> list[Any]:
    """One gradient per edge, `raw` or a tensor, from what the user's backward gave; RuntimeError if it is not
    what it must be.
    """
    if results.__class__ is not tuple:
        results = results if isinstance(results, tuple) else (results,)
    kinds = node._sent
    if len(results) != len(kinds):
        results = cut(node, results)
    sent: list[Any] = []
    fits = not node._in_place_on_view
    for gradient, kind in zip(results, kinds):
        if gradient is None:
            if kind is not None:
                sent.append(None)
            continue
        if kind is None or not isinstance(gradient, TensorBase):
            raise wrong_kind(node, results, gradient, kind)
        data = gradient._data
        if data.dtype is not kind[1] or data.shape != kind[0] or gradient._bits:
            fits = False
        sent.append(data if raw else gradient)
    if fits:
        return sent
    given = [pair for pair in zip(results, kinds) if pair[1] is not None]
    sent = [fitted(node, i, *pair) for i, pair in enumerate(given)]
    return [g if g is None else numbers(g) for g in sent] if raw else sent


def cut(node: Any, results: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the user's backward gave without None at the end that belong to no input. RuntimeError if there
    are still more or fewer than inputs.
    """
    expected = len(node._sent)
    if len(results) > expected and all(r is None for r in results[expected:]):
        return results[:expected]
    raise RuntimeError(
        f"function {type(node).__name__} returned an incorrect number of gradients (expected "
        f"{expected}, got {len(results)})"
    )


def wrong_kind(node: Any, results: tuple[Any, ...], gradient: Any, kind: Any) -> RuntimeError:
    """The error for a gradient that is neither None nor a tensor, or that belongs to no tensor."""
    if kind is None:
        pairs = enumerate(zip(results, node._sent))
        i = next(i for i, (g, other) in pairs if g is not None and other is None)
        return RuntimeError(
            f"function {type(node).__name__} returned a gradient different than None at position "
            f"{i + 1}, but the corresponding forward input was not a Variable"
        )
    return RuntimeError(f"expected Variable or None (got {type(gradient).__name__})")


def fitted(node: Any, i: int, gradient: Any, kind: tuple[Any, Any]) -> Any:
    """The gradient for edge `i` in the shape and dtype of the input; RuntimeError if it does not fit.

    The first one of a Function in place on a view is written into the gradient of the base.
    """
    if gradient is None or node._next[i] is None:
        return gradient
    shape, dtype = kind
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
