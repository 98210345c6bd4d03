"""Accumulation into `.grad`, and the hooks that a backward pass calls.

Note [Hook order]
    For a node: hooks of its output tensors in order of registration, then gradients kept by `retain_grad()`,
    then the node's pre-hooks, the node, its post-hooks. A leaf's hooks are the tensor hooks of its
    AccumulateGrad, so they see the sum of all paths once. `register_post_accumulate_grad_hook` runs before
    the post-hooks. Suppose a node is one of the inputs of `grad(inputs=…)`. If the node itself does not run,
    its tensor hooks are called before the capture. If it runs, because another input lies behind it, the
    capture comes before all hooks, as in PyTorch.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from . import modes
from .dtypes import of
from .modes import quiet
from .nested_passes import here
from .node import AccumulateGrad, Node
from .storage import is_dense
from .tensor_state import IN_INTERIOR, TensorBase, fresh, operand, share, wrap

# ─── What an AccumulateGrad does: it adds to the `.grad` of its leaf


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


# ─── Calling the hooks of a backward pass


def as_tensor(create_graph: bool, gradient: Any) -> Any:
    """Return a gradient as a hook sees it."""
    return gradient if gradient is None or create_graph else wrap(gradient)


def as_gradient(create_graph: bool, value: Any) -> Any:
    """Return what a hook returned, in the form the engine needs."""
    return value if value is None or create_graph else operand(value)


def before_node(create_graph: bool, node: Node, gradient: Any, runs: bool) -> Any:
    """Call tensor hooks, keep retained gradients and, if the node `runs`, call its pre-hooks."""
    extra = node._extra
    assert extra is not None
    arrived = gradient if isinstance(gradient, list) else [gradient] * node._outputs  # a list, one, or None
    grads = [as_tensor(create_graph, g) for g in arrived]
    watchers = modes.observers()
    for nr, hooks in extra.tensor_hooks.items():
        for hook in tuple(hooks.values()):
            (grads[nr],) = call(watchers, node, "tensor", hook, nr, (grads[nr],), grads[nr])
    for nr, reference in extra.retain.items():
        tensor = reference()
        if tensor is not None and grads[nr] is not None:
            retain(tensor, grads[nr])
    if extra.pre and runs:
        for hook in tuple(extra.pre.values()):
            grads = list(call(watchers, node, "pre", hook, 0, tuple(grads), tuple(grads)))
    out = [as_gradient(create_graph, g) for g in grads]
    return out if node._outputs > 1 else out[0]


def after_node(create_graph: bool, node: Node, gradients: tuple[Any, ...], gradient: Any) -> tuple[Any, ...]:
    """Call the post-hooks of a node that has some."""
    assert node._extra is not None and node._extra.post is not None
    grads = tuple(as_tensor(create_graph, g) for g in gradients)
    arrived = gradient if isinstance(gradient, list) else [gradient] * node._outputs
    outs = tuple(as_tensor(create_graph, g) for g in arrived)
    for hook in tuple(node._extra.post.values()):
        grads = call(modes.observers(), node, "post", hook, 0, grads, grads, outs)
    return tuple(as_gradient(create_graph, g) for g in grads)


def after_deposit(node: Any) -> None:
    """Call the hooks of a leaf that run after its `.grad` has changed."""
    leaf = node.variable
    given = False
    for hook in tuple((leaf._post_accumulate or {}).values()):
        watchers = modes.observers()
        for watcher in watchers:
            watcher.hook_starts(node, "post_accumulate", hook, 0, (leaf._grad,))
        result = hook(leaf)
        given = check_replacement(hook, result, leaf) is not leaf or given
        for watcher in watchers:
            watcher.hook_ended((leaf._grad,), result is not None)
    if given:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def call_leaf(node: AccumulateGrad, gradient: Any) -> None:
    """Deposit the gradient with which a user calls an AccumulateGrad."""
    if gradient is not None:
        if modes.is_grad_enabled():
            deposit_tensor(node, gradient)
        else:
            quiet(deposit, node, operand(gradient), False)
    after_deposit(node)


def call(
    watchers: Any, node: Node, kind: str, hook: Any, index: int, grads: tuple[Any, ...], *args: Any
) -> tuple[Any, ...]:
    """Call a hook on `args`, and notify observers. Return the gradients `grads`, or what the hook returned
    instead.
    """
    for watcher in watchers:
        watcher.hook_starts(node, kind, hook, index, grads)
    before, here.hooked = here.hooked, node if watchers else None
    try:
        result = hook(*args)
    finally:
        here.hooked = before
    if kind == "tensor":
        grads = (check_replacement(hook, result, *grads),)
    elif kind != "multi" and result is not None:
        grads = replace_gradients(hook, result, grads)
    for watcher in watchers:
        watcher.hook_ended(grads, result is not None)
    return grads


def replace_gradients(hook: Any, new: Any, old: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a hook of a node returned instead of the gradients `old`. A None in it
    removes a gradient.
    """
    if not isinstance(new, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(new).__name__}'")
    if len(new) != len(old):
        raise RuntimeError(
            f"hook '{name_of(hook)}' has returned an incorrect number of values (got {len(new)}, but "
            f"expected {len(old)})"
        )
    return tuple(None if n is None else check_replacement(hook, n, o) for n, o in zip(new, old))


def check_replacement(hook: Any, new: Any, old: Any) -> Any:
    """Return what a hook returned instead of `old`, checked as in PyTorch; None keeps `old`."""
    if new is None:
        return old
    if old is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(new, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    if new._data.dtype != old._data.dtype:
        raise RuntimeError(
            f"hook '{name_of(hook)}' has changed the type of value (was {of(old._data).type_name} got "
            f"{of(new._data).type_name})"
        )
    if new._data.shape != old._data.shape:
        raise RuntimeError(f"hook '{name_of(hook)}' has changed the size of value")
    return new


def name_of(hook: Any) -> str:
    """Return the name of a hook in errors."""
    return getattr(hook, "__name__", "<unknown>")


def retain(tensor: TensorBase, gradient: Any) -> None:
    """Store a gradient in the `.grad` of a tensor that is not a leaf."""
    if tensor._grad is None:
        tensor._grad = gradient.clone()
    else:
        tensor._grad = tensor._grad + gradient
