"""One call of a custom Function: the node, `forward`, and what becomes of its outputs."""

from __future__ import annotations

from typing import Any

from ...core import anomaly, modes
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
        output = cls.forward(*args) if own_setup else cls.forward(node, *args)
        if own_setup:
            cls.setup_context(node, args, output)
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


def make_node(cls: Any, args: tuple[Any, ...]) -> BackwardCFunction:
    """The node (and ctx) of one call; without edges if no gradient is asked for."""
    node: BackwardCFunction = new(cls._backward_cls)
    in_grad_mode = modes.is_grad_enabled()
    needed: list[bool] = []
    sent: list[Any] = []
    targets: list[Any] = []
    nrs: list[int] = []
    for t in args:  # one loop: a generator for each of the tuples takes 0.4 µs
        needs = False
        if isinstance(t, TensorBase):
            needs = t.requires_grad
            target = edge(t) if needs and in_grad_mode else None
            targets.append(target)
            nrs.append(0 if target is None else t._nr)
            sent.append((t._data.shape, t._data.dtype))
        else:
            sent.append(None)
        needed.append(needs)
    node.needs_input_grad, node._sent = tuple(needed), tuple(sent)
    # after the edges: a view's node may be made only now, and is older
    node._begin(tuple(targets) if in_grad_mode and True in needed else (), tuple(nrs))
    node._kept = node._made = ()
    node._materialize = True
    node._in_place_on_view = False
    node.to_save = node.saved_for_forward = node.dirty_tensors = node.non_differentiable = None
    if modes.active and modes.anomaly.enabled:
        anomaly.remember(node)
    return node
