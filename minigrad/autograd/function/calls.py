"""One call of a custom Function: the node, `forward`, and what becomes of its outputs."""

from __future__ import annotations

from typing import Any

from ...core import anomaly, modes
from ...core.node import sequence_numbers
from ...core.tensor_state import TensorBase, edge
from .context import BackwardCFunction
from .outputs import finish

new = object.__new__


def call(cls: Any, args: tuple[Any, ...], own_setup: bool) -> Any:
    """Run `cls.forward` on `args` and leave a node in the graph; `own_setup`: `ctx` goes to
    `setup_context`.
    """
    node = make_node(cls, args)
    before, here = modes.switch("grad_enabled", False), modes.state.__dict__
    forward_grad, observers = here.get("forward_grad", True), here.get("observers", ())
    here["forward_grad"], here["observers"] = False, ()  # not counted: ops in `forward` take the short way
    try:
        output = run(cls, node, args) if own_setup else cls.forward(node, *args)
    finally:
        here["forward_grad"], here["observers"] = forward_grad, observers
        modes.switch("grad_enabled", before)
    if isinstance(output, tuple):
        result: Any = tuple(finish(node, args, output, own_setup))
    else:
        result = finish(node, args, (output,), own_setup)[0]
    if modes.active:
        modes.notify("forward", cls, list(args), result)
    return result


def run(cls: Any, node: BackwardCFunction, args: tuple[Any, ...]) -> Any:
    """What the user's `forward` gives, and `setup_context` after it."""
    output = cls.forward(*args)
    cls.setup_context(node, args, output)
    return output


def make_node(cls: Any, args: tuple[Any, ...]) -> BackwardCFunction:
    """The node (and ctx) of one call; without edges if no gradient is asked for."""
    node: BackwardCFunction = new(cls._backward_cls)
    in_grad_mode = not modes.active or modes.state.grad_enabled
    needed: list[bool] = []
    sent: list[Any] = []
    targets: list[Any] = []
    numbered = False
    for t in args:  # one loop: a generator for each of the tuples takes 0.4 µs
        if not isinstance(t, TensorBase):
            needed.append(False)
            sent.append(None)
            continue
        data, target = t._data, None
        sent.append((data.shape, data.dtype))
        needs = t._fn is not None or t._acc is not None or (t._view is not None and t.requires_grad)
        needed.append(needs)
        if needs and in_grad_mode:
            target = edge(t)
            numbered = numbered or t._nr != 0
        targets.append(target)
    node.needs_input_grad, node._sent = tuple(needed), tuple(sent)
    node._next = tuple(targets) if in_grad_mode and True in needed else ()
    node._nrs = output_numbers(args, node._next) if numbered else None
    node._seq = next(sequence_numbers)  # after the edges: a view's node may be made only now, and is older
    node._check = node._cast = node._storage = node._extra = None
    node._kept = node._made = node._learning = ()
    node._materialize = True
    node._in_place_on_view = False
    node.to_save = node.saved_for_forward = node.dirty_tensors = node.non_differentiable = None
    if modes.active and modes.anomaly.enabled:
        anomaly.remember(node)
    return node


def output_numbers(args: tuple[Any, ...], targets: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The output numbers of the edges to `targets`; None when all are 0."""
    tensors = (t for t in args if isinstance(t, TensorBase))
    nrs = tuple(0 if n is None else t._nr for t, n in zip(tensors, targets))
    return nrs if any(nrs) else None
