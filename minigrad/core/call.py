"""How an op is called on tensors, according to its plan (see `op.Op`).

`compute` runs any op on any arguments, and `dispatch` notifies the observers. What is plain does not come
here: it is computed by the closures in `ordinary`, or for elementwise ops of one or two tensors in
`elementwise`.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from . import dtypes, modes
from . import nested_passes as anomaly
from .apply import complex_node
from .half_tables import look_up, table_helps
from .kernel_errors import is_foreign
from .kernel_errors import translate_error as translated
from .modes import quiet
from .node import Node, sequence_numbers
from .op import INPUT, RESULT, Op
from .operands import check_any_tensor, prepare
from .saved_values import pack_inputs, pack_result
from .storage import is_reshaped
from .tensor_state import (
    TensorBase,
    Tensors,
    accumulator,
    check_saved,
    edge,
    fresh,
    is_plain,
    keep_together,
    share,
)
from .view_path import share_view

# Classes of arguments that are used and saved as they are.
PLAIN = frozenset((int, float, bool, str, tuple, type(None)))


def casts(targets: Any, raws: Any, out: Any) -> Any:
    """Return what `uncast` must undo per input of an elementwise op, then the shape and dtype of the output.
    Return None if there is nothing to undo.

    Where dtypes were mixed, every gradient is converted to its input's dtype. NumPy promotes the saved values
    in a vjp by its own rules, in which a 0-dim float64 counts as much as an array.
    """
    shape, dtype = out.shape, out.dtype
    for r in raws:
        if r.dtype is not dtype or r.shape != shape:
            break
    else:
        return None
    mixed = False
    for r in raws:  # a loop takes half of the time of a generator
        mixed = mixed or (r.dtype is not dtype and r.dtype != dtype)
    kinds: list[Any] = []
    for n, r in zip(targets, raws):
        kinds.append(None if n is None or not (mixed or r.shape != shape) else (r.shape, r.dtype))
    return (*kinds, (shape, dtype)) if any(kinds) else None


def compute(op: Op, values: Any) -> Any:
    """Run an op on `values`, one for each parameter, without notifying observers."""
    values, active, is_view = [*values], modes.active, op.view
    try:
        if is_view:
            if not isinstance(values[0], TensorBase):
                check_any_tensor(op, values)
            share(values[0])
        raws = prepare(op, values)
        if is_view:
            raws[0] = values[0]._data  # the memory itself, as its bits may not read it
        if op.bit:
            out = raws[0]
        else:
            out = quiet(look_up, op, *raws) if table_helps(op, raws) else quiet(op.kernel, *raws)
    except Exception as error:
        check_edges(values)
        if is_foreign(error):
            raise translated(op.name, error, values) from None
        raise
    if op.several:
        node = record(op, values, out) if out and (not active or modes.is_recording()) else None
        if node is not None and active:
            pack_inputs(node, values)
        return results(op, node, values, out)
    if out.__class__ is ndarray and not (out.ndim or is_view):
        out = out[()]
    node = record(op, values, out) if not active or modes.is_recording() else None
    if node is not None and active:
        pack_inputs(node, values)
    result = share_view(op, values, out) if is_view else fresh(out)
    if node is not None:
        result._fn, node._storage = node, result._storage
        if active:
            pack_result(node, result)
    return result


def check_edges(values: list[Any]) -> None:
    """Raise RuntimeError for a view that must not follow its base (see Note [Creations] in `view_path`):
    PyTorch does it first.
    """
    if modes.is_recording():
        for v in values:
            if isinstance(v, TensorBase):
                edge(v)


def results(op: Op, node: Any, values: Any, outs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the results of an op that has several, all made by `node`; None if nothing is recorded."""
    made = tuple([share_view(op, values, out) if op.view else fresh(out) for out in outs])
    if node is None:
        return made
    for nr, t in enumerate(made):
        if is_learnable(op, nr, t):
            t._fn, t._nr = node, nr
            node._outputs = nr + 1  # no gradients of those behind the last one
    keep_results(node, made)
    if op.view:
        storage = made[0]._storage
        node._storage = dict.fromkeys(range(len(made)), storage) if len(made) > 1 else storage
    return made


def is_learnable(op: Op, nr: int, t: TensorBase) -> bool:
    """Return whether a gradient can flow back through result `nr` of an op, which is `t`."""
    return t._data.dtype in dtypes.DIFFERENTIABLE and not (op.constants and op.results[nr] in op.constants)


def keep_results(node: Any, made: tuple[Any, ...]) -> None:
    """Let a node save, as tensors, those of its results through which no gradient flows back. Pass everything
    that it saved to the current saved-tensor hooks.
    """
    for name, _, slot, _, what, nr, _, _ in node.op.saved:
        if what is not RESULT:
            continue
        if made[nr]._fn is None:
            setattr(node, slot, made[nr])
        if modes.active:
            pack_result(node, made[nr], name)


def record(op: Op, values: Any, out: Any, always: bool = False) -> Node | None:
    """Return the node of an op that ran, or None if no input needs a gradient (unless `always`)."""
    dtype = (out[0] if op.several else out).dtype
    targets: list[Any] = []
    needed, numbered, odd, differs = always, False, False, False
    inputs = values[0] if op.listed else op.pick(values)
    for t in inputs:
        if not isinstance(t, TensorBase):
            targets.append(None)
            continue
        target = t._fn
        if t._storage is not None and not is_plain(t):
            odd, target = True, edge(t)
        elif target is None and t._acc is not None:
            target = accumulator(t)
        if target is not None:
            needed = True
            if t._nr:
                numbered = True
        if t._data.dtype is not dtype:
            differs = True
        targets.append(target)
    if odd and not always:
        needed = is_learned(inputs, targets)
    if not needed or (differs and dtype not in dtypes.DIFFERENTIABLE):
        return None
    kinds = [t._data.dtype.kind for t in inputs if isinstance(t, TensorBase)] if differs else ()
    node: Any = complex_node(op)() if dtype.kind == "c" or "c" in kinds else op.node()
    connect(op, node, targets, numbered, values, out)
    if modes.active and modes.anomaly.enabled:
        anomaly.remember(node)
    if odd and any(isinstance(t, TensorBase) and is_reshaped(t._storage) for t in inputs):
        node._extra_made.unpacks = True  # no assumptions about the gradients that it sends
    if differs and not op.broadcasts and (op.listed or op.casts):
        node._cast = tuple([(t._data.shape, t._data.dtype) for t in inputs])
    return node


def connect(op: Op, node: Any, targets: list[Any], numbered: bool, values: Any, out: Any) -> Any:
    """Give a new node its edges to `targets` and what it saves of the op's arguments and result."""
    node._next = tuple(targets)
    node._nrs = node._check = node._cast = node._storage = node._extra = None
    if numbered or op.broadcasts:
        inputs = values[0] if op.listed else op.pick(values)
        if numbered:
            node._nrs = tuple([0 if n is None else t._nr for t, n in zip(inputs, targets)])
        if op.broadcasts:
            node._cast = casts(targets, [t._data if isinstance(t, TensorBase) else out for t in inputs], out)
    node._seq = next(sequence_numbers)
    node._made = tuple([(o.shape, o.dtype) for o in out]) if op.several else ((out.shape, out.dtype),)
    keep(op, node, values, out)
    return node


def keep(op: Op, node: Any, values: Any, out: Any) -> None:
    """Save in a node what its vjps take of the op's arguments and of its result `out`. `saved` reads it
    again. See Note [Saved values] in `node`.
    """
    targets = node._next
    versions: dict[str, int] = {}
    for slot, user, what, position, k, derive in op.plan:
        if user is not None and targets[user] is None:
            setattr(node, slot, None)
            continue
        if what is RESULT:
            setattr(node, slot, out[position] if op.several else out)
            continue
        value = values[position]
        if derive is not None:
            value = [derive(t._data) for t in value] if op.listed else derive(value._data)
        elif value.__class__ not in PLAIN:
            if isinstance(value, TensorBase):
                raw = what is INPUT and targets[k] is not None
                storage, fn = value._storage, value._fn
                if storage is not None or (fn is not None and fn._storage is not None):
                    check_saved(value)
                    version = value._version if storage is None else storage.version
                    if version:
                        versions[slot] = version
                    raw = raw and not (value._bits or value._apart)
                if raw:
                    value = value._data
            elif value.__class__ is Tensors and not value.are_untouched:
                value = keep_together(value)
        setattr(node, slot, value)
    if versions:
        node._check = tuple([versions.get(s.slot, 0) for s in op.saved])


def is_learned(inputs: Any, targets: list[Any]) -> bool:
    """Return whether one of the op's inputs needs a gradient and so has an edge in `targets`.

    A view that was made outside the graph has no edge, even if its base needs a gradient: the op is recorded,
    and the path ends there. Nothing is recorded if all inputs are inference tensors.
    """
    for n in targets:
        if n is not None:
            return not all(isinstance(t, TensorBase) and t._inference for t in inputs)
    return any(isinstance(t, TensorBase) and t._view is not None and t.requires_grad for t in inputs)
