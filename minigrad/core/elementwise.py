"""Calls of plain elementwise ops on float32 or float64 tensors, of which scalar graphs consist.

Closures make the checks of the general path in one function and without loops. For scalars that takes a
third of the time. Unusual cases (modes, other dtypes, views, complex numbers) go to `dispatch`, or for an
operator to its method, which handles operands of other kinds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import modes
from .call import casts
from .dispatch import dispatch
from .dtypes import FAST_ARRAYS
from .kernel_errors import translated
from .modes import enter, is_entered, quiet
from .node import sequence_numbers
from .op import Op, picker
from .tensor_state import TensorBase, accumulator, is_plain

ndarray, FLOAT32, new = np.ndarray, np.float32, object.__new__
Tensor: Any = TensorBase  # the class of results: see `set_result_class`


def set_result_class(cls: type) -> None:
    """Set the class of results: `Tensor`, which is defined in a higher layer."""
    global Tensor
    Tensor = TensorBase.result_class = cls


def users_of(op: Op, slot: str) -> tuple[bool, bool]:
    """Return whether the first and whether the second input needs the value saved in a slot."""
    found = next((k for k in op.keeps if k.slot == slot), None)
    if found is None:
        return False, False
    return (True, True) if found.user is None else (found.user == 0, found.user == 1)


def versions_of(op: Op) -> Any:
    """Return a function that puts the versions of self, of the other operand and of the result, which is 0,
    into the order of what a node of the op saves, for `Node._check`.
    """
    return picker(
        tuple(("_raw_self", "_raw_" + op.params[-1], "_raw_result").index(k.slot) for k in op.keeps)
    )


def unary(op: Op) -> Any:
    """Return the call of a plain elementwise op of one tensor."""
    kernel, Node, versions = op.kernel, op.node, versions_of(op)
    of_input, of_result = (any(users_of(op, slot)) for slot in ("_raw_self", "_raw_result"))

    def call(input: Any) -> Any:
        off = modes.active
        if off and (off != 1 or modes.state.grad_enabled):  # except for `no_grad` in only this thread
            return dispatch(op, (input,))
        if not isinstance(input, TensorBase):
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
        except RuntimeError as error:
            if not is_entered(error):
                raise
            out = quiet(kernel, a)
        t = new(Tensor)
        t._data = out
        t._nr = 0
        t._fn = t._acc = t._grad = t._storage = t._view = None
        if off:
            return t
        n0 = input._fn
        if n0 is None:
            acc = input._acc
            if acc is None:
                return t
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
                node._check = versions((storage.version, 0, 0))
        node._cast = node._storage = node._extra = None
        node._seq = next(sequence_numbers)
        t._fn = node
        return t

    return call


def binary(op: Op, method: Any = None) -> Any:
    """Return the call of a plain elementwise op of two tensors, or of a tensor and a number. Unusual cases go
    to `dispatch`, or to the `method` of an operator, which handles operands of other kinds.
    """
    kernel, Node, versions = op.kernel, op.node, versions_of(op)
    second = "_raw_" + op.params[1]
    is_other, takes_number = second == "_raw_other", len(op.inputs) == 1
    self_for_0, self_for_1 = users_of(op, "_raw_self")
    other_for_0, other_for_1 = users_of(op, second)
    result_for_0, result_for_1 = users_of(op, "_raw_result")
    keeps_self, keeps_other = self_for_0 or self_for_1, other_for_0 or other_for_1
    keeps_result = result_for_0 or result_for_1
    general = method or (lambda input, other: dispatch(op, (input, other)))

    def call(input: Any, other: Any) -> Any:
        off, kind = modes.active, other.__class__
        if off and (off != 1 or modes.state.grad_enabled):  # except for `no_grad` in only this thread
            if kind is float or kind is int or (kind is Tensor and not takes_number):
                return dispatch(op, (input, other))
            return general(input, other)
        if method is None and not isinstance(input, TensorBase):
            return general(input, other)
        a, storage = input._data, input._storage
        n1 = after = None
        cast, nr, written = False, 0, 0
        if storage is not None:
            if not is_plain(input):
                return general(input, other)
            written = storage.version
            if a.__class__ is ndarray and not a.ndim:
                a = a[()]
        if kind is float or kind is int:
            b: Any = other
            if a.__class__ is not FLOAT32 and a.dtype not in FAST_ARRAYS:
                return general(input, other)
        elif takes_number or (kind is not Tensor and not isinstance(other, TensorBase)):
            return general(input, other)
        else:
            b, after = other._data, other._storage
            if after is not None:
                if not is_plain(other):
                    return general(input, other)
                written = written or after.version
                if b.__class__ is ndarray and not b.ndim:
                    b = b[()]
            if a.__class__ is not FLOAT32 or b.__class__ is not FLOAT32:
                if a.dtype is not b.dtype or a.dtype not in FAST_ARRAYS:
                    return general(input, other)
                cast = a.shape != b.shape
            n1 = other._fn
            if n1 is not None:
                nr = other._nr
            elif not off:
                acc = other._acc
                if acc is not None:
                    n1 = (acc is not True and acc()) or accumulator(other)
        try:
            out = enter(kernel, a, b)
        except RuntimeError as error:
            if not is_entered(error):
                raise
            out = quiet(kernel, a, b)
        except ValueError as error:
            raise translated(op.name, error, (a, b)) from None
        t = new(Tensor)
        t._data = out
        t._nr = 0
        t._fn = t._acc = t._grad = t._storage = t._view = None
        if off:
            return t
        n0 = input._fn
        if n0 is None:
            acc = input._acc
            if acc is not None:
                n0 = (acc is not True and acc()) or accumulator(input)
            elif n1 is None:
                return t
        node: Any = Node()
        node._next = (n0,) if takes_number else (n0, n1)
        node._nrs = (input._nr, nr)[: len(node._next)] if input._nr or nr else None
        node._check = kept_self = kept_other = None
        if keeps_self:
            if (self_for_0 and n0 is not None) or (self_for_1 and n1 is not None):
                kept_self = input if n0 is None else input._data
            node._raw_self = kept_self
        if keeps_other:
            if (other_for_0 and n0 is not None) or (other_for_1 and n1 is not None):
                kept_other = other if n1 is None else other._data
            if is_other:
                node._raw_other = kept_other
            else:
                setattr(node, second, kept_other)
        if keeps_result:
            needed = (result_for_0 and n0 is not None) or (result_for_1 and n1 is not None)
            node._raw_result = out if needed else None
        if written:
            first = 0 if kept_self is None or storage is None else storage.version
            last = 0 if kept_other is None or after is None else after.version
            if first or last:
                node._check = versions((first, last, 0))
        node._cast = casts((n0, n1), (a, b), out) if cast else None
        node._storage = node._extra = None
        node._seq = next(sequence_numbers)
        t._fn = node
        return t

    return call


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
