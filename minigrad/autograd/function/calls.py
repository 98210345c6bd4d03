"""One call of a custom Function: the node, `forward`, and what becomes of its outputs.

Most calls ask for nothing: new tensors come out, in the normal modes or under `no_grad`. They are finished by
`finish_plain`, all others by `finish`; a call takes 2 µs or 7.
"""

from __future__ import annotations

from typing import Any

from ...core import anomaly, dtypes, modes
from ...core.node import sequence_numbers
from ...core.tangents import Aside
from ...core.tensor_state import TensorBase, edge
from ...inplace.views import Unobserved
from .context import BackwardCFunction
from .outputs import NO_TUPLE, Outputs
from .saved import Kept
from .tangents import push

new = object.__new__


def call(cls: Any, args: tuple[Any, ...], own_setup: bool) -> Any:
    """Run `cls.forward` on `args` and leave a node in the graph; `own_setup`: `ctx` goes to
    `setup_context`.
    """
    node = make_node(cls, args)
    active = modes.active
    if active and (active != 1 or modes.state.grad_enabled):  # but for `no_grad` in this thread alone
        with Unobserved(False), Aside():
            output = run(cls, node, args, own_setup)
        return finish(cls, node, args, output, own_setup)
    before = modes.set_grad_mode(False)  # objects for it take as long as all the rest of a call
    try:
        modes.state.forward_grad = False
        output = run(cls, node, args, own_setup) if own_setup else cls.forward(node, *args)
    finally:
        modes.state.forward_grad = True
        modes.set_grad_mode(before)
    outputs = output if output.__class__ is tuple else (output,)
    if modes.active == active and asks_nothing(node) and all_new(node, args, outputs):
        finish_plain(node, outputs)
        return output
    return finish(cls, node, args, output, own_setup)


def run(cls: Any, node: BackwardCFunction, args: tuple[Any, ...], own_setup: bool) -> Any:
    """What the user's `forward` gives, and `setup_context` after it."""
    if not own_setup:
        return cls.forward(node, *args)
    output = cls.forward(*args)
    cls.setup_context(node, args, output)
    return output


def make_node(cls: Any, args: tuple[Any, ...]) -> BackwardCFunction:
    """The node (and ctx) of one call; without edges if no gradient is asked for."""
    if not (cls.clear_saved_tensors_on_access.__class__ is bool is cls.boxed_grads_call.__class__):
        raise wrong_flag(cls)
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
    node._materialize = node._materialize_other = True
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


def wrong_flag(cls: Any) -> RuntimeError:
    """The error for an option of a Function that is no bool."""
    name = "clear_saved_tensors_on_access"
    if isinstance(getattr(cls, name), bool):
        name = "boxed_grads_call"
    return RuntimeError(f"{name} must be a bool, got {type(getattr(cls, name)).__name__}")


def asks_nothing(node: BackwardCFunction) -> bool:
    """Whether nothing was asked of `ctx` but to save tensors that are no views."""
    if not (node.dirty_tensors is node.non_differentiable is node.saved_for_forward is None):
        return False
    if node.to_save is not None:
        if node.to_save.__class__ is not tuple:
            return False
        for t in node.to_save:
            if t is not None and (not isinstance(t, TensorBase) or t._view is not None or t._inference):
                return False
    return True


def all_new(node: BackwardCFunction, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> bool:
    """Whether the outputs are tensors, no views and no inputs, that all get a gradient, or all need none."""
    for output in outputs:
        if not isinstance(output, TensorBase) or output._view is not None:
            return False
        for t in args:
            if t is output:
                return False
        if node._next:
            if output._data.dtype not in dtypes.DIFFERENTIABLE:
                return False
        elif output._fn is not None or output._acc is not None:
            return False
    return True


def finish_plain(node: BackwardCFunction, outputs: tuple[Any, ...]) -> None:
    """What `finish` does where `asks_nothing` and `all_new` hold."""
    node._outputs = len(outputs)
    if node._next:
        made: list[Any] = []
        for t in outputs:
            t._fn, t._nr, t._acc = node, len(made), None
            if t._storage is not None:
                node._set_storage(t._nr, t._storage)
            made.append((t._data.shape, t._data.dtype))
        node._made, node._learning = tuple(made), range(node._outputs)
        if node.to_save:
            node._kept = tuple([None if t is None else Kept(t, t._fn is node) for t in node.to_save])
    node.to_save = None


def finish(cls: Any, node: BackwardCFunction, args: tuple[Any, ...], output: Any, own_setup: bool) -> Any:
    """Do what was asked of `ctx`, and give the outputs their place in the graph: what `apply` returns."""
    recorded = bool(node._next)
    raw = output if isinstance(output, tuple) else (output,)
    saved = to_save(node, recorded, own_setup)
    outputs = Outputs(node, args, raw, recorded, saved if own_setup else ())
    if modes.is_forward():
        push(node, args, outputs)
    if recorded:
        node._keep(node.to_save or (), outputs.results)
    node.to_save = node.saved_for_forward = node.dirty_tensors = node.non_differentiable = None
    result = tuple(outputs.results) if isinstance(output, tuple) else outputs.results[0]
    if modes.active:
        for observer in modes.observers():
            observer.forward(cls, list(args), result)
    return result


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
