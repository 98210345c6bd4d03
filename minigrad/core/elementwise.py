"""Calls of plain elementwise ops on float32 or float64 tensors, of which scalar graphs consist.

Two closures make the checks of the general path in one function and without loops. For scalars that takes a
third of the time. Unusual cases (modes, other dtypes, views, complex numbers) go to `dispatch`, or for an
operator to its method, which handles operands of other kinds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import modes
from .call import casts, check_broadcast
from .dispatch import dispatch
from .dtypes import FAST_ARRAYS
from .modes import enter, quiet
from .node import sequence_numbers
from .op import Op
from .storage import InferenceStorage, SameCounter
from .tensor_state import TensorBase, accumulator, attach

ndarray, FLOAT32, new = np.ndarray, np.float32, object.__new__
Tensor: Any = TensorBase  # the class of results: see `set_result_class`


def set_result_class(cls: type) -> None:
    """Set the class of results: `Tensor`, which is defined in a higher layer."""
    global Tensor
    Tensor = TensorBase.result_class = cls


def is_plain(t: TensorBase) -> bool:
    """Return whether a tensor that shares memory or was modified is otherwise ordinary: a parameter that an
    optimizer has changed, or a view whose history is up to date (see `views.regenerate`).
    """
    view, storage = t._view, t._storage
    if view is not None and (
        view.version != storage.version  # type: ignore[union-attr]
        or (t._fn is None and view.base.requires_grad)
    ):
        return False
    kind = storage.__class__
    if kind is InferenceStorage or (kind is SameCounter and t._fn is not None):
        return False
    return not (t._bits or t._apart)


def users_of(op: Op, slot: str) -> tuple[bool, bool] | None:
    """Return whether the first and whether the second input needs the value saved in a slot; None without a
    slot.
    """
    found = next((k for k in op.keeps if k.slot == slot), None)
    if found is None:
        return None
    return (True, True) if found.user is None else (found.user == 0, found.user == 1)


def unary(op: Op) -> Any:
    """Return the call of a plain elementwise op of one tensor."""
    kernel, Node = op.kernel, op.node
    of_input, of_result = (users_of(op, slot) is not None for slot in ("_raw_self", "_raw_result"))
    order = [k.slot for k in op.keeps]

    def call(input: Any) -> Any:
        off = modes.active
        if off and (off != 1 or modes.state.grad_enabled):  # except for `no_grad` in only this thread
            return dispatch(op, (input,))
        if input.__class__ is not Tensor and not isinstance(input, TensorBase):
            return dispatch(op, (input,))
        a, storage = input._data, input._storage
        if storage is not None:
            if not is_plain(input):
                return dispatch(op, (input,))
            if a.__class__ is ndarray and not a.ndim:
                a = a[()]
        if a.__class__ is not FLOAT32 and a.dtype not in FAST_ARRAYS:
            return dispatch(op, (input,))
        try:
            out = enter(kernel, a)
        except RuntimeError:
            out = quiet(kernel, a)
        if off:
            return attach(out, None)
        n0 = input._fn
        if n0 is None:
            acc = input._acc
            if acc is None:
                return attach(out, None)
            n0 = (acc is not True and acc()) or accumulator(input)
        node: Any = Node()
        node._next = (n0,)
        node._nrs = (input._nr,) if input._nr else None
        node._check = None
        if of_result:
            node._raw_result = out
        if of_input:
            node._raw_self = input._data
            if storage is not None and storage.version:
                node._check = versions(node, order, storage, None)
        node._cast = node._storage = node._extra = None
        node._seq = next(sequence_numbers)
        t = new(Tensor)
        t._data = out
        t._fn = node
        t._nr = 0
        t._acc = t._grad = t._storage = t._view = None
        return t

    return call


def binary(op: Op, method: Any = None) -> Any:
    """Return the call of a plain elementwise op of two tensors, or of a tensor and a number. Unusual cases go
    to `dispatch`, or to the `method` of an operator, which handles operands of other kinds.
    """
    kernel, Node, order = op.kernel, op.node, [k.slot for k in op.keeps]
    second = "_raw_" + op.params[1]
    users_a, users_b, users_out = (users_of(op, slot) for slot in ("_raw_self", second, "_raw_result"))
    takes_number, is_other = len(op.inputs) == 1, op.params[1] == "other"
    general = method or (lambda input, other: dispatch(op, (input, other)))

    def call(input: Any, other: Any) -> Any:
        off = modes.active
        if off and (off != 1 or modes.state.grad_enabled):  # except for `no_grad` in only this thread
            plain = other.__class__ is float or other.__class__ is int
            if plain or (other.__class__ is Tensor and not takes_number):
                return dispatch(op, (input, other))
            return general(input, other)
        if input.__class__ is not Tensor and not isinstance(input, TensorBase):
            return general(input, other)
        a, storage = input._data, input._storage
        n1 = after = None
        cast, nr = False, 0
        if storage is not None:
            if not is_plain(input):
                return general(input, other)
            if a.__class__ is ndarray and not a.ndim:
                a = a[()]
        if other.__class__ is float or other.__class__ is int:
            b: Any = other
            if a.__class__ is not FLOAT32 and a.dtype not in FAST_ARRAYS:
                return general(input, other)
        elif takes_number or (other.__class__ is not Tensor and not isinstance(other, TensorBase)):
            return general(input, other)
        else:
            b, after = other._data, other._storage
            if after is not None:
                if not is_plain(other):
                    return general(input, other)
                if b.__class__ is ndarray and not b.ndim:
                    b = b[()]
            if a.__class__ is not FLOAT32 or b.__class__ is not FLOAT32:
                if a.dtype is not b.dtype or a.dtype not in FAST_ARRAYS:
                    return general(input, other)
                if a.shape != b.shape:
                    check_broadcast(a.shape, b.shape)
                    cast = True
            n1 = other._fn
            if n1 is not None:
                nr = other._nr
            elif not off:
                acc = other._acc
                if acc is not None:
                    n1 = (acc is not True and acc()) or accumulator(other)
        try:
            out = enter(kernel, a, b)
        except RuntimeError:
            out = quiet(kernel, a, b)
        if off:
            return attach(out, None)
        n0 = input._fn
        if n0 is None:
            acc = input._acc
            if acc is not None:
                n0 = (acc is not True and acc()) or accumulator(input)
            elif n1 is None:
                return attach(out, None)
        node: Any = Node()
        node._next = (n0,) if takes_number else (n0, n1)
        node._nrs = None if input._nr == 0 == nr else (input._nr,) if takes_number else (input._nr, nr)
        node._check = None
        if users_a is not None:
            needed = (users_a[0] and n0 is not None) or (users_a[1] and n1 is not None)
            node._raw_self = None if not needed else input if n0 is None else input._data
        if users_b is not None:
            needed = (users_b[0] and n0 is not None) or (users_b[1] and n1 is not None)
            kept = None if not needed else other if n1 is None else other._data
            if is_other:
                node._raw_other = kept
            else:
                setattr(node, second, kept)
        if users_out is not None:
            needed = (users_out[0] and n0 is not None) or (users_out[1] and n1 is not None)
            node._raw_result = out if needed else None
        if (storage is not None and storage.version) or (after is not None and after.version):
            node._check = versions(node, order, storage, after)
        node._cast = casts((n0, n1), (a, b), out) if cast else None
        node._storage = node._extra = None
        node._seq = next(sequence_numbers)
        t = new(Tensor)
        t._data = out
        t._fn = node
        t._nr = 0
        t._acc = t._grad = t._storage = t._view = None
        return t

    return call


def versions(node: Any, order: list[str], first: Any, second: Any) -> tuple[int, ...] | None:
    """Return, for `Node._check`, the versions at which the operands with these storages were saved."""
    found: list[int] = []
    for slot in order:
        storage = None if slot == "_raw_result" else first if slot == "_raw_self" else second
        found.append(0 if storage is None or getattr(node, slot) is None else storage.version)
    return tuple(found) if any(found) else None


def operator_of(call: Any) -> Any:
    """Decorate a method of an operator, such as `__mul__`, so that it runs the op of `call` directly in plain
    cases. This saves one function call, a sixth of a scalar multiplication.
    """

    def decorate(method: Any) -> Any:
        function = binary(call.op, method)
        function.__name__, function.__qualname__ = method.__name__, method.__qualname__
        function.__doc__, function.__wrapped__ = method.__doc__, method
        return function

    return decorate
