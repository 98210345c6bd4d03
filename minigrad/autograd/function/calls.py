"""One call of a custom Function: the node, `forward`, and what becomes of its outputs."""

from __future__ import annotations

from typing import Any

from ... import anomaly, modes
from ...graph import sequence_numbers
from ...inplace import Unobserved
from ...op.tangents import Aside
from ...tensor_base import TensorBase, edge
from .context import BackwardCFunction
from .outputs import NO_TUPLE, Outputs
from .tangents import push


def call(cls: Any, args: tuple[Any, ...], own_setup: bool) -> Any:
    """Run `cls.forward` on `args` and leave a node in the graph; `own_setup`: `ctx` goes to
    `setup_context`.
    """
    node = make_node(cls, args)
    recorded = bool(node._next)
    with Unobserved(False), Aside():
        output = cls.forward(*args) if own_setup else cls.forward(node, *args)
        if own_setup:
            cls.setup_context(node, args, output)
    raw = output if isinstance(output, tuple) else (output,)
    saved = to_save(node, recorded, own_setup)
    outputs = Outputs(node, args, raw, recorded, saved if own_setup else ())
    if modes.is_forward():
        push(node, args, outputs)
    if recorded:
        node._keep(node.to_save or (), outputs.results)
    forget_requests(node)
    result = tuple(outputs.results) if isinstance(output, tuple) else outputs.results[0]
    if modes.active:
        for observer in modes.observers():
            observer.forward(cls, list(args), result)
    return result


def make_node(cls: Any, args: tuple[Any, ...]) -> BackwardCFunction:
    """The node (and ctx) of one call; without edges if no gradient is asked for."""
    check_flags(cls)
    node = object.__new__(cls._backward_cls)
    tensors = [t for t in args if isinstance(t, TensorBase)]
    node.needs_input_grad = tuple(isinstance(t, TensorBase) and t.requires_grad for t in args)
    recorded = any(node.needs_input_grad) and modes.is_grad_enabled()
    node._next = targets = tuple(edge(t) for t in tensors) if recorded else ()
    nrs = tuple(t._nr if n is not None else 0 for t, n in zip(tensors, targets))
    node._nrs = nrs if any(nrs) else None
    node._seq = next(sequence_numbers)  # after the edges: a view's node may be made only now, and is older
    node._check = node._cast = node._storage = node._extra = None
    node._kept = ()
    node._made = node._learning = ()
    node._sent = tuple((t._data.shape, t._data.dtype) if isinstance(t, TensorBase) else None for t in args)
    node._materialize = node._materialize_other = True
    node._in_place_on_view = False
    forget_requests(node)
    if modes.active and modes.anomaly.enabled:
        anomaly.remember(node)
    return node


def check_flags(cls: Any) -> None:
    """RuntimeError unless the Function's options are bools."""
    for name in ("clear_saved_tensors_on_access", "boxed_grads_call"):
        value = getattr(cls, name)
        if value is not True and value is not False:
            raise RuntimeError(f"{name} must be a bool, got {type(value).__name__}")


def forget_requests(node: BackwardCFunction) -> None:
    """What `forward` asked of `ctx` has been done."""
    node.to_save = node.saved_for_forward = node.dirty_tensors = node.non_differentiable = None


def to_save(node: BackwardCFunction, recorded: bool, own_setup: bool) -> list[Any]:
    """The tensors that are saved for backward or forward mode; TypeError if one for backward is no tensor."""
    found = list(tensors_in(node, "saved_for_forward")) if own_setup else []
    for i, t in enumerate(requested(node, "to_save")):
        if isinstance(t, TensorBase):
            found.append(t)
        elif t is not None and recorded:
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}"
            )
    return found


def requested(node: BackwardCFunction, name: str) -> tuple[Any, ...]:
    """What `ctx` was asked for as its attribute `name`; RuntimeError if somebody set it to what is no
    tuple.
    """
    value = getattr(node, name)
    if value is not None and not isinstance(value, tuple):
        raise RuntimeError(NO_TUPLE.format(name))
    return value or ()


def tensors_in(node: BackwardCFunction, name: str) -> list[Any]:
    """The tensors among what was requested."""
    return [t for t in requested(node, name) if isinstance(t, TensorBase)]
