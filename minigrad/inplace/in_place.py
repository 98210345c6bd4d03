"""In-place ops. They are derived from their out-of-place op: no derivative is written twice.

Note [Views and in-place]
    A view remembers its base. An op in place on a view changes the base, so the base's history becomes a
    `CopySlices` node around the op: of the gradient that comes in, the part under the view goes through the
    op's vjp, the rest passes. The view's own grad_fn is then out of date. The next read of it sees that the
    storage's version has increased, and derives the view from the base again by its geometry (`regenerate`),
    as PyTorch does. A result of `detach()` shares memory and version with its source but is not such a view:
    writing to it changes no history, and a node that saved the old values detects the write by the version.
"""

from __future__ import annotations

import operator
from math import inf
from typing import Any

import numpy as np

from ..core import F, Op, composite, dtypes, forward, modes
from ..core.call import check_edges, connect, record
from ..core.guards import argument_error, check_written_shape
from ..core.kernel_errors import is_foreign, translate_error
from ..core.modes import quiet
from ..core.operands import prepare
from ..core.saved_values import pack_inputs, pack_result
from ..core.storage import Geometry, Storage, address, is_dense, steps, strides_of
from ..core.tangents import tangent_of, without_tangents
from ..core.tensor_state import (
    IN_PLACE_ON_LEAF,
    TensorBase,
    edge,
    flatten_arguments,
    numbers,
    read_as,
    share,
    wrap,
)
from .views import ONE_PLACE, CopySlices, rebase, refuse_view, set_history

# ─── Writing into tensors about which there is nothing to ask: ops in place, as in an optimizer's step,
# and `x[key] = value`, as in a loop that fills a table. Every function returns False, and has done nothing,
# where that is not so: see `in_place`


# Kernels that can write into an array: a step `w -= rate * g` of 784×256 numbers then takes half of the time.
WRITING: dict[Any, Any] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
}
GREAT = 1e38
COUNTED = (Storage, type(None))
EXACT = frozenset((operator.add, operator.sub, operator.mul))  # kernels by which integers stay integers


def in_place_plainly(op: Op, t: TensorBase, args: tuple[Any, ...]) -> bool:
    """`in_place` where nobody records and there is nothing to check: arrays of one shape and dtype that do
    not overlap, and numbers. It takes a third of the time.
    """
    off, a = modes.active, t._data
    watchers: tuple[Any, ...] = ()
    if off and (off != 1 or modes.state.grad_enabled):
        watchers = modes.state.observers
        if off != 2 or not watchers or modes.state.grad_enabled:  # but for `no_grad` with somebody looking on
            return False
    if not (op.elementwise and op.numbers):
        return False
    if t._storage.__class__ not in COUNTED or t._bits or not (off or is_outside(t)):
        return False
    if a.dtype not in op.passes and not (a.dtype.kind == "i" and op.kernel in EXACT):
        return False
    storage = share(t)
    a = t._data
    if not a.flags.c_contiguous:
        return False
    raws = [a]
    for v in args:
        if v.__class__ is int:
            if a.dtype.kind == "i" and not 0 <= v < 128:
                return False  # it may not fit
        elif v.__class__ is not float or a.dtype.kind == "i":
            b = v._data if isinstance(v, TensorBase) else None
            if b is None or (b.shape != a.shape and b.shape) or b.dtype != a.dtype:
                return False
            owns = b is a or b.__class__ is not np.ndarray or (a.base is None and b.base is None)
            if not owns and np.may_share_memory(a, b):
                return False
            if v._bits or not (off or is_outside(v)):
                return False
            v = b
        raws.append(v)
    writing = WRITING.get(op.kernel)
    if writing is not None:
        quiet(writing, *raws, a)
    else:
        out = quiet(op.kernel, *raws)
        if out.shape != a.shape or out.dtype != a.dtype:
            return False
        a[...] = out
    storage.version += 1
    for watcher in watchers:
        watcher.mutated(op, [t, *args], storage.version - 1, (t._fn, t._nr))
    return True


def is_outside(t: TensorBase) -> bool:
    """Whether a tensor needs no gradient, and is not a view of one that does."""
    return t._acc is None and t._fn is None and (t._view is None or not t._view.base.requires_grad)


def put_plainly(self: Any, key: Any, value: Any) -> bool:
    """`self[key] = value` for a key of whole numbers, or a mask where nobody records: a number, or a tensor
    of the same dtype. It takes a third of the time, without which assigning in a loop would be twice as slow
    as in PyTorch.
    """
    off, a, b, source = modes.active, self._data, value, None
    if off and (off != 1 or modes.state.grad_enabled):
        return False
    if self._storage.__class__ not in COUNTED or self._bits or not a.ndim or not a.flags.c_contiguous:
        return False
    if isinstance(value, TensorBase):
        b = value._data
        if b.dtype is not a.dtype or a.dtype.kind not in "fi" or value._bits:
            return False
        source = None if off else edge(value)
    elif (value.__class__ is not int and value.__class__ is not float) or a.dtype not in dtypes.FAST_ARRAYS:
        return False
    elif GREAT < abs(value) < inf:
        return False  # it may not fit
    if source is None and not (off or (is_outside(self) and (b is value or is_outside(value)))):
        return False
    if isinstance(key, TensorBase):
        if source is not None or key._data.dtype != np.bool_ or key._data.shape != a.shape or np.ndim(b):
            return False
        a[key._data] = b
        share(self).version += 1
        return True
    keys = key if key.__class__ is tuple else (key,)
    for k in keys:
        if k.__class__ is not int:
            return False
    try:
        part = a[(*keys, ...)]
        if source is not None:
            return write_part(self, keys, part, value, source)
        part[...] = b
    except (IndexError, ValueError):
        return False  # the general way says what is wrong
    share(self).version += 1
    return True


def write_part(self: Any, keys: tuple[int, ...], part: Any, value: Any, source: Any) -> bool:
    """Write a tensor, whose gradient goes to `source`, into a part of its shape, as `in_place` does by a view
    of the part.
    """
    a, b = self._data, value._data
    if not keys or self._view is not None or self._acc is not None or part.shape != b.shape or value._apart:
        return False
    if b.__class__ is np.ndarray and np.may_share_memory(a, b):
        return False
    part[...] = b
    storage = share(self)
    storage.version += 1
    op, strides = F.copy.op, strides_of(a)
    node = connect(op, op.node(), [edge(self), source], bool(value._nr), [wrap(part), value], b)
    offset = sum([k % n * step for k, n, step in zip(keys, a.shape, strides)])
    set_history(self, CopySlices(self, Geometry(b.shape, strides[len(keys) :], offset), node))
    return True


# ─── In-place ops and views. In-place ops are derived from their out-of-place op: no derivative is
# written twice


FILLS = ("fill", "fill_tensor", "zero")  # ops that write one number everywhere


def check_allowed(t: TensorBase, values: list[Any]) -> bool:
    """Return whether an op on `values` that writes into `t` may be recorded: one of them needs a gradient.

    RuntimeError with PyTorch's text if it must not write there: see `refuse_leaf`.
    """
    if not modes.is_recording():
        return False
    if not any(isinstance(v, TensorBase) and v.requires_grad for v in values):
        return False
    if not all(isinstance(v, TensorBase) and v._inference for v in values):
        refuse_leaf(t)
    return not t._inference


def refuse_leaf(t: TensorBase) -> None:
    """RuntimeError with PyTorch's text if `t` is a leaf that needs a gradient, a view of one, or a view that
    is not the way to its base's history.
    """
    if t._view is not None:
        refuse_view(t)
    if t.requires_grad and t.is_leaf:
        raise RuntimeError(IN_PLACE_ON_LEAF)


@composite  # for derivatives that PyTorch writes with ops in place
def in_place(op: Op, t: TensorBase, *args: Any, shown: bool = True) -> Any:
    """Run `op` on `t` and write the result into `t`. With `shown=False` nobody can see `t`, a part of another
    tensor, afterwards.
    """
    if not isinstance(t, TensorBase):
        raise argument_error(f"{op.name}_", "input", 1, "Tensor", t)
    if in_place_plainly(op, t, args):
        return t
    values = [t, *args]
    recorded = check_allowed(t, values)
    storage = share(t)
    try:
        check_memory(op, t, args)
        out = quiet(op.kernel, *prepare(op, values))
        check_fits(t, out)
    except Exception as error:
        check_edges(values)
        if isinstance(error, NotImplementedError):
            check_result_type(op, t, values)
        if is_foreign(error):
            raise translate_error(op.name + "_", error, values) from None
        raise
    if modes.active and modes.state.transforms:
        for batch in {b for v in args if isinstance(v, TensorBase) for b in v._batched}:
            batch.before_write(op, t)
    modes.repeat_for_each()
    old = forward.originals(op, values) if modes.active and modes.is_forward() else None
    node = record_before(op, values, out) if recorded else None
    if modes.active and modes.state.mutation is not None:
        modes.state.mutation.before_write(t._data)
    before, history = storage.version, (t._fn, t._nr)
    write(t, out)
    storage.version += 1
    if node is not None:
        settle(op, t, node, shown)
    if old is not None:
        forward.push_in_place(op, t, old, node)
    if modes.active:
        modes.notify("mutated", op, flatten_arguments(values), before, history)
    return t


def record_before(op: Op, values: list[Any], out: Any) -> Any:
    """The node of an op that is about to write `out` into the first of `values`, or None: of what will be
    written over it keeps a copy.
    """
    node: Any = record(op, values, out)
    if node is not None and getattr(node, "_raw_self", None) is not None:
        with modes.hidden_from_observers(True):  # nobody wrote it
            node._raw_self = F.clone(values[0])
        versions = node._check or (0,) * len(op.saved)
        node._check = tuple(0 if s.name == "self" else v for s, v in zip(op.saved, versions, strict=True))
    if node is not None and modes.active:
        pack_inputs(node, [getattr(node, "_raw_self", None), *values[1:]])
    return node


def settle(op: Op, t: TensorBase, node: Any, shown: bool) -> None:
    """Make `node` the history of `t`, now that its op has written there."""
    storage = share(t)
    if getattr(node, "_raw_result", None) is not None:
        node._raw_result = numbers(t)
        node._check = tuple(storage.version if s.name == "result" else 0 for s in op.saved)
        node._set_storage(0, storage)
    rebase(t, node, shown)
    if modes.active:
        pack_result(node, t)


def write(t: TensorBase, out: Any) -> None:
    """Put the numbers `out` into the memory of `t`, of a complex result the real part if `t` is real."""
    if t._bits:
        out = read_as(t._bits, out)
    if t._data.dtype.kind != "c" and out.dtype.kind == "c":
        out = out.real
    np.copyto(t._data, out, casting="unsafe")


def check_fits(t: TensorBase, out: Any) -> None:
    """RuntimeError with PyTorch's text unless `out` can be written into `t`."""
    check_written_shape(t._data.shape, out.shape)
    check_cast(dtypes.of(out), t)


def check_cast(a: dtypes.dtype, t: TensorBase) -> None:
    """RuntimeError with PyTorch's text unless a result of dtype `a` can be written into `t`."""
    b = dtypes.of(t._data)
    if a.category > b.category:
        raise RuntimeError(
            f"result type {a.title} can't be cast to the desired output type {b.title}"
        ) from None


def check_result_type(op: Op, t: TensorBase, values: list[Any]) -> None:
    """The same for the dtype that the operands have together: PyTorch says so before its kernel says that it
    has none for this dtype.
    """
    operands = [values[i] for i in op.promoted if values[i] is not None]
    raws = [v._data if isinstance(v, TensorBase) else v for v in operands]
    if raws:
        check_cast(dtypes.OF_NUMPY[dtypes.result_type(*raws)], t)


def in_place_method(function: Any) -> Any:
    """Return the in-place method of an op, given its function or one that chooses an op by its operands: the
    result is written into the tensor.
    """
    choose = getattr(function, "choose", None)
    name = function.__name__ + "_"

    def method(input: Any, *args: Any, **kwargs: Any) -> Any:
        if choose is not None:
            op, values = choose(input, *args, **kwargs)
        else:
            op = function.op
            values = op.bind((input, *args), kwargs)
        return in_place(op, *values)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = (
        f"Write the result of `{name[:-1]}` into the tensor and return it.\n\n    {function.__doc__}"
    )
    method.__wrapped__ = function  # type: ignore[attr-defined]
    return method


def in_place_view(op: Op, t: TensorBase, *args: Any) -> Any:
    """Run the view op `op` on `t` and let `t` be the result: `t_()`, `unsqueeze_()`, … No number changes, but
    it counts as a change. The base of a view and its other views stay as they are.
    """
    check_allowed(t, [t])
    tangent = tangent_of(t)
    storage = share(t)
    values = [t, *args]
    out = quiet(op.kernel, t._data, *args)
    node = record(op, values, out) if modes.is_recording() else None
    before, history = storage.version, (t._fn, t._nr)
    t._data = out if t._view is not None or out.ndim else np.asarray(out)
    storage.version += 1
    if node is not None:
        t._fn, t._nr, t._acc = node, 0, None  # kept gradients and hooks stay with what the tensor was before
        node._set_storage(0, storage)
        storage.writer = type(node).__name__
        if t._view is not None:
            t._view.version = storage.version
    if tangent is not None:
        with without_tangents():
            in_place_view(op, tangent, *args)
    if modes.active and modes.state.tape is not None:
        modes.state.tape.record(op, values, t)
    modes.notify("mutated", op, values, before, history)
    return t


def check_memory(op: Op, t: TensorBase, args: tuple[Any, ...]) -> None:
    """RuntimeError with PyTorch's text where `t` overlaps itself or an argument partly."""
    near = [
        v
        for v in args
        if isinstance(v, TensorBase)
        and v._data.__class__ is np.ndarray  # a scalar has memory of its own
        and np.may_share_memory(t._data, v._data)
    ]
    if not (near and op is F.copy.op and is_same(t._data, args[0]._data)):
        check_single(op, t)
    if op.name in FILLS:
        return
    for value in near:
        if op.name == "copy" or not (t._bits or value._bits):  # where there are bits, what is read is a copy
            check_overlap(t, value)


def check_single(op: Op, t: TensorBase) -> None:
    """RuntimeError with PyTorch's text where elements to be written lie in one place, as after `expand`.
    Filling with one value is always possible.
    """
    data = t._data
    one_number = op.name in ("fill", "zero") or not data.size
    if not one_number and any(s == 0 < n - 1 for s, n in zip(data.strides, data.shape)):
        raise RuntimeError(ONE_PLACE)


def check_overlap(t: TensorBase, other: TensorBase) -> None:
    """RuntimeError with PyTorch's text where an operand lies partly in the memory that is written to."""
    a, b = t._data, other._data
    if other is t or not isinstance(b, np.ndarray) or not (a.size and b.size):
        return
    if not (is_dense(a) and is_dense(b)):
        return
    if np.may_share_memory(a, b) and not is_same(a, b):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def is_same(a: np.ndarray, b: Any) -> bool:
    """Return whether two arrays show the same elements of the same memory."""
    return (
        isinstance(b, np.ndarray) and a.shape == b.shape and steps(a) == steps(b) and address(a) == address(b)
    )
