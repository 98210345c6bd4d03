"""Calling the hooks of a backward pass.

Note [Hook order]
    For a node: hooks of its output tensors in order of registration, then gradients kept by `retain_grad()`,
    then the node's pre-hooks, the node, its post-hooks. A leaf's hooks are the tensor hooks of its
    AccumulateGrad, so they see the sum of all paths once. `register_post_accumulate_grad_hook` runs before
    the post-hooks. Suppose a node is one of the inputs of `grad(inputs=…)`. If the node itself does not run,
    its tensor hooks are called before the capture. If it runs, because another input lies behind it, the
    capture comes before all hooks, as in PyTorch.
"""

from __future__ import annotations

from typing import Any

from . import modes
from .deposit import deposit, deposit_tensor
from .dtypes import of
from .modes import quiet
from .nested_passes import here
from .node import AccumulateGrad, Node
from .tensor_state import TensorBase, operand, wrap


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
        given = replaced(hook, result, leaf) is not leaf or given
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
        grads = (replaced(hook, result, *grads),)
    elif kind != "multi" and result is not None:
        grads = all_replaced(hook, result, grads)
    for watcher in watchers:
        watcher.hook_ended(grads, result is not None)
    return grads


def all_replaced(hook: Any, new: Any, old: tuple[Any, ...]) -> tuple[Any, ...]:
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
    return tuple(None if n is None else replaced(hook, n, o) for n, o in zip(new, old))


def replaced(hook: Any, new: Any, old: Any) -> Any:
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
