"""Calls of a `Function`: its node, its results, its tangents.

An output that is an input as it was given is returned as a view of it, so that it can have a history of its
own; an input that was written to (`mark_dirty`) gets the node as its new history; any other tensor gets the
node as its history even if it had another.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core import F, dtypes, modes
from ...core import nested_passes as anomaly
from ...core.tangents import put_tangent, tangent_of, without_tangents
from ...core.tensor_state import TensorBase, alias, edge, share, wrap
from ...core.view_path import share_view
from ...inplace.views import rebase, refuse_view, set_node
from ..forward_ad import check_tangent_sizes as check_sizes
from .context import BackwardCFunction, is_among

# ─── Forward mode of custom Functions: `jvp` gives the tangents of the outputs from those of the inputs


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
    with without_tangents():
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
    put_tangent(t, new)


# ─── One call of a custom Function: the node, `forward`, and the place of its outputs in the graph


SAVED_AS_IS = (
    "An input that has been returned as-is as output is being saved for backward. This is not supported if "
    "you override setup_context. You should return and save a view of the input instead, e.g. with "
    "x.view_as(x) or setup ctx inside the forward function itself."
)
# These end where PyTorch ends them.
NO_TUPLE = "autograd internal error: {} attribute is expected to be a tuple but is "
NO_TENSOR = {
    "dirty_tensors": "mark_dirty can only accept variables, but argument ",
    "non_differentiable": "mark_non_differentiable only accepts variable arguments, but got ",
}
LEAF = "a leaf Variable that requires grad has been used in an in-place operation."
NOT_AN_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
    "should be passed to ctx.mark_dirty()."
)
DIRTY_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
    "return more than one Tensor. This is not supported by the current autograd engine. You should either "
    "make sure the input is not a view (using .clone() for example) or make your Function only return one "
    "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single Tensor "
    "and a second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ "
    "if you need help to do this change."
)
NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
    "are modified inplace must all be outputs of the Function."
)


def call(cls: Any, args: tuple[Any, ...], own_setup: bool) -> Any:
    """Run `cls.forward` on `args` and leave a node in the graph; `own_setup`: `ctx` goes to
    `setup_context`.
    """
    node = make_node(cls, args)
    here = modes.state.__dict__
    forward_grad, observers = here.get("forward_grad", True), here.get("observers", ())
    with modes.Within(grad_enabled=False):
        here["forward_grad"], here["observers"] = (
            False,
            (),
        )  # not counted: ops in `forward` take the short way
        try:
            output = cls.forward(*args) if own_setup else cls.forward(node, *args)
            if own_setup:
                cls.setup_context(node, args, output)
        finally:
            here["forward_grad"], here["observers"] = forward_grad, observers
    if isinstance(output, tuple):
        result: Any = tuple(finish(node, args, output, own_setup))
    else:
        result = finish(node, args, (output,), own_setup)[0]
    if modes.active:
        modes.notify("forward", cls, list(args), result)
    return result


def make_node(cls: Any, args: tuple[Any, ...]) -> BackwardCFunction:
    """The node (and ctx) of one call; without edges if no gradient is asked for."""
    node: BackwardCFunction = object.__new__(cls._backward_cls)
    in_grad_mode = modes.is_grad_enabled()
    needed, targets, nrs = [], [], []
    sent: list[Any] = []
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


def finish(node: BackwardCFunction, args: tuple[Any, ...], raw: tuple[Any, ...], own_setup: bool) -> Any:
    """Do what was asked of `ctx`, and give the outputs `raw` of `forward` their place in the graph. Return
    them as the caller gets them.
    """
    recorded, learning = bool(node._next), 0
    made: list[Any] = []  # shapes and dtypes
    saved = to_save(node, own_setup)
    apart, dirty = marked_tensors(node, "non_differentiable"), marked_tensors(node, "dirty_tensors")
    for t in set(dirty):
        share(t).version += 1
    node._outputs = len(raw)
    results = list(raw)
    for i, t in enumerate(raw):
        if not isinstance(t, TensorBase):
            made.append(None)
            continue
        data = t._data
        made.append((data.shape, data.dtype))
        is_input, is_dirty = is_among(t, args), bool(dirty) and is_among(t, dirty)
        if not (recorded and data.dtype in dtypes.DIFFERENTIABLE) or (apart and is_among(t, apart)):
            if is_input or t.requires_grad:
                results[i] = apart_from_graph(t, is_input, is_dirty, saved)
        else:
            learning += 1
            if is_dirty:
                modified_inputs(node, i, t, is_input)
            else:
                results[i] = as_view(t, saved) if is_input else t
                set_history(results[i], node, i)
        if results[i]._view is not None and not (is_input and is_dirty):
            note_creation(results[i], "custom")
    if learning > 1:
        for t in results:
            note_creation(t, "several")
    if dirty and not all(is_among(t, raw) for t in dirty):
        raise RuntimeError(NOT_RETURNED)
    if recorded:
        node._made = tuple(made)
    if modes.active and modes.is_forward():
        push(node, args, raw, results, dirty, apart)
    if recorded:
        node._keep(node.to_save or (), results)
    node.to_save = node.saved_for_forward = node.dirty_tensors = node.non_differentiable = None
    return results


def marked_tensors(node: BackwardCFunction, name: str) -> tuple[Any, ...]:
    """Return what was saved or marked as `name`. RuntimeError if it was set to something other than a tuple,
    or something other than a tensor was marked.
    """
    value = getattr(node, name)
    if value is None:
        return ()
    if not isinstance(value, tuple):
        raise RuntimeError(NO_TUPLE.format(name))
    if name in NO_TENSOR and not all(isinstance(t, TensorBase) for t in value):
        raise RuntimeError(NO_TENSOR[name])
    return value


def to_save(node: BackwardCFunction, own_setup: bool) -> tuple[Any, ...]:
    """Return what a `setup_context` saved for forward mode or backward. TypeError if what a node must save
    for backward is not a tensor.
    """
    for_forward = marked_tensors(node, "saved_for_forward") if own_setup else ()
    for_backward = marked_tensors(node, "to_save")
    if node._next:
        for i, t in enumerate(for_backward):
            if not (t is None or isinstance(t, TensorBase)):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(t).__name__}"
                )
    return (*for_forward, *for_backward) if own_setup else ()


def as_view(t: Any, saved: tuple[Any, ...]) -> Any:
    """Return an input that `forward` returned as it was given: a view of it."""
    if is_among(t, saved):
        raise RuntimeError(SAVED_AS_IS)
    share(t)
    return share_view(F.view.op, [t], t._data)


def apart_from_graph(t: Any, is_input: bool, is_dirty: bool, saved: tuple[Any, ...]) -> Any:
    """Return an output that needs no gradient."""
    if not t.requires_grad:
        return t if is_dirty else as_view(t, saved)
    if is_input:
        return alias(t, (share(t), t._data)[1])
    return t if t._view is not None else t.detach_()


def modified_inputs(node: BackwardCFunction, i: int, t: Any, is_input: bool) -> None:
    """Give an input that was written to its new history."""
    if t._fn is None and t.requires_grad:
        raise RuntimeError(LEAF)
    if not is_input:
        warnings.warn(NOT_AN_INPUT, UserWarning, stacklevel=5)
    if t._view is not None and node._outputs > 1:
        raise RuntimeError(DIRTY_VIEW)
    t._grad = None
    if t._view is not None:
        refuse_view(t)
        rebase(t, node)
        node._in_place_on_view = True
        node._set_storage(i, t._storage)
        return
    set_node(t, node, i)
    t._storage.writer = type(node).__name__


def set_history(t: Any, node: BackwardCFunction, nr: int) -> None:
    """`t` is output `nr` of `node`, whatever made it before."""
    t._fn, t._nr, t._acc = node, nr, None
    if t._view is not None:
        t._view.version = t._storage.version
    if t._storage is not None:
        node._set_storage(nr, t._storage)


def note_creation(t: Any, creation: str) -> None:
    """Note on a view how it was made: by a custom Function (`"custom"`), or as one of several of its outputs
    (`"several"`). It must not be written to.
    """
    if isinstance(t, TensorBase) and t._view is not None:
        t._view.creation = creation
        if isinstance(t._fn, BackwardCFunction):
            t._fn._creation = creation
