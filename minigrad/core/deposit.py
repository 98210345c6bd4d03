"""What an AccumulateGrad does: it adds to the `.grad` of its leaf."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from . import modes
from .node import AccumulateGrad, Node
from .storage import is_dense
from .tensor_state import IN_INTERIOR, TensorBase, fresh, operand, share, wrap

SMALL = 256  # NumPy adds fewer numbers than this without releasing the GIL
adding = threading.RLock()  # held while more are added to a leaf's gradient


def deposit(node: AccumulateGrad, gradient: Any, owned: bool) -> None:
    """Add raw `gradient` to the leaf's `.grad`.

    With `owned`, nothing else refers to `gradient`, so it may become `.grad` itself. An existing gradient is
    added to in place, as in PyTorch, so tensors that share its memory see the sum.
    """
    leaf = node.variable
    if leaf._acc is None:
        if leaf._fn is not None:
            raise RuntimeError(IN_INTERIOR)
        return  # its requires_grad was switched off later
    if leaf._grad is None:
        if gradient.__class__ is np.ndarray and not (owned and is_laid_like(gradient, leaf._data)):
            gradient = laid_like(gradient, leaf._data)
        first = fresh(gradient) if modes.active else wrap(gradient)
        if leaf._grad is None:  # else another thread was faster: see Note [Threads]
            leaf._grad = first
            return
    add_in_place(leaf._grad, gradient)


def add_in_place(grad: Any, gradient: Any) -> None:
    """Add raw `gradient` to the tensor `grad`. See Note [Threads]."""
    storage = share(grad)
    if modes.active and modes.state.mutation is not None:
        modes.state.mutation.before_write(grad._data)
    if gradient.size < SMALL:
        np.add(grad._data, gradient, out=grad._data)
    else:
        with adding:
            np.add(grad._data, gradient, out=grad._data)
    storage.version += 1


def deposit_tensor(node: AccumulateGrad, gradient: TensorBase) -> None:
    """Add a gradient that has a graph (`create_graph=True`) to the leaf's `.grad`. The
    sum has a graph too.
    """
    leaf = node.variable
    if not modes.is_grad_enabled():
        deposit_dual(leaf, gradient)
        return
    if leaf._acc is None and leaf._fn is not None:
        raise RuntimeError(IN_INTERIOR)
    while leaf._acc is not None:
        before = leaf._grad
        if before is None:
            memory = laid_like(gradient._data, leaf._data)
            after = gradient._copy_for_grad(memory)  # type: ignore[attr-defined]
            after._data = memory
        else:
            after = before + gradient
        if leaf._grad is before:  # else another thread was faster: see Note [Threads]
            leaf._grad = after
            return


def deposit_dual(leaf: TensorBase, gradient: TensorBase) -> None:
    """Add a gradient that may have a tangent (in forward mode), without a graph. The first one loses its
    tangent.
    """
    with adding:
        if leaf._acc is None:
            return
        if leaf._grad is None:
            leaf._grad = fresh(laid_like(operand(gradient), leaf._data))
        else:
            leaf._grad.add_(gradient)  # type: ignore[attr-defined]


def keep_gradient(node: Node, gradient: Any) -> None:
    """Add the raw gradient that arrived at a node to the `.grad` of outputs with `retain_grad()`."""
    assert node._extra is not None
    for nr, reference in node._extra.retain.items():
        tensor, g = reference(), gradient[nr] if node._outputs > 1 else gradient
        if tensor is not None and g is not None:
            tensor._grad = fresh(np.array(g)[()] if tensor._grad is None else operand(tensor._grad) + g)


def is_laid_like(array: np.ndarray, leaf: Any) -> bool:
    """Return whether a gradient has the memory layout that the gradient of this leaf must have."""
    return array.flags.c_contiguous and (array.ndim < 2 or leaf.flags.c_contiguous)


def laid_like(gradient: Any, leaf: Any) -> Any:
    """Return a copy in the memory layout of the leaf if that has no gaps, otherwise in row-major order."""
    if gradient.__class__ is not np.ndarray:
        return gradient
    if leaf.flags.c_contiguous and leaf.shape == gradient.shape:
        return gradient.copy()  # a fifth of the time
    copy = np.empty_like(leaf, gradient.dtype, order="K" if is_dense(leaf) else "C", subok=False)
    copy[...] = gradient
    return copy
