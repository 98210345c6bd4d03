"""Fast calls of ops in the plain case: elementwise ops, and all others on ordinary tensors.

Closures make the checks of the general path in one function and without loops. For scalars that takes a
third of the time. Unusual cases (modes, other dtypes, views, complex numbers) go to `dispatch`, or for an
operator to its method, which handles operands of other kinds.

`ordinary` does in one go what `call.compute` does in steps, which takes half of the time. It looks at each
argument once. Whatever is not plain goes to `compute`, which has all checks, conversions and errors.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from . import modes
from .call import PLAIN, casts, compute, connect, results
from .dtypes import FAST_ARRAYS
from .forward import push
from .kernel_errors import translate_error
from .modes import enter, is_entered, quiet
from .node import sequence_numbers
from .op import RAW, Op, picker
from .tensor_state import TensorBase, Tensors, accumulator, flatten_arguments, is_plain, share, wrap
from .view_path import share_view

# ─── Calling an op in any mode: compute it, give its result a tangent (forward mode), notify the
# observers


def dispatch(op: Op, args: Any) -> Any:
    """Run an op on arguments of any kind, one for each parameter, in any mode, and notify observers."""
    if not modes.active:
        return compute(op, args)
    values, watchers = list(args), modes.state.observers
    if watchers and modes.active == (1 if modes.state.grad_enabled else 2):
        here = modes.state.__dict__  # switched without a call: see Note [Interrupts] in `modes`
        here["observers"] = ()
        here["away"].modes -= 1
        modes.active -= 1
        try:
            result = op.call(*args)  # all else is normal, or `no_grad`: as fast as an op that nobody observes
        finally:
            here["observers"] = watchers
            here["away"].modes += 1
            modes.active += 1
    else:
        result = compute(op, values)
        if modes.state.dual_level:
            push(op, values, result)
    if modes.state.tape is not None:
        modes.state.tape.record(op, args, result)
    if watchers:
        if op.listed:
            values = [*values[0], *values[1:]]
        elif not op.elementwise:
            values = flatten_arguments(values)
        for watcher in watchers:
            watcher.forward(op, values, result)
    return result


# ─── Calls of plain elementwise ops on float32 or float64 tensors, of which scalar graphs consist


ndarray, FLOAT32, new = np.ndarray, np.float32, object.__new__
Tensor: Any = TensorBase  # the class of results: see `set_result_class`


def set_result_class(cls: type) -> None:
    """Set the class of results: `Tensor`, which is defined in a higher layer."""
    global Tensor
    Tensor = TensorBase.result_class = cls


def users_of(op: Op, slot: str) -> tuple[bool, bool]:
    """Return whether the first and whether the second input needs the value saved in a slot."""
    found = next((s for s in op.saved if s.slot == slot), None)
    if found is None:
        return False, False
    return (True, True) if found.user is None else (found.user == 0, found.user == 1)


def versions_of(op: Op) -> Any:
    """Return a function that puts the versions of self, of the other operand and of the result, which is 0,
    into the order of what a node of the op saves, for `Node._check`.
    """
    return picker(tuple(("self", op.params[-1], "result").index(name) for name in op.names))


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
            raise translate_error(op.name, error, (a, b)) from None
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


# ─── Calls of ops in the plain case: normal modes or `no_grad`, inputs that are ordinary tensors of
# floats of one dtype, other arguments without promotion


LISTS = frozenset((list, tuple))
NOTHING = frozenset((type(None),))
NUMBERS = NOTHING | {int, float}


def ordinary(op: Op) -> Any:
    """Return the function that runs an op on tensors."""
    required = op.params[: len(op.params) - len(op.defaults)]
    if not op.places or op.bit or "dtype" in required:
        return lambda *args, **kwargs: dispatch(op, op.bind(args, kwargs))
    kernel, Node, passes = op.kernel, op.node, op.passes
    count, least, defaults = len(op.params), len(op.params) - len(op.defaults), op.defaults
    is_view, listed, several, elementwise = op.view, op.listed, op.several, op.elementwise
    # Per argument whether it is an input (None if it is promoted all the same), and the classes that need no
    # look if it is not a tensor.
    of_input, of_other = NUMBERS if elementwise and op.numbers else NOTHING, PLAIN | {Tensors}
    looks: Any = [
        (True, of_input) if i in op.places else (None if i in op.promoted else False, of_other)
        for i in range(count)
    ]
    if listed:
        looks = repeat((True, NOTHING))

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != count:
            if kwargs or not least <= len(args) <= count:
                return dispatch(op, op.bind(args, kwargs))
            args += defaults[len(args) - least :]
        off = modes.active
        if off and (off != 1 or modes.state.grad_enabled):  # except for `no_grad` in only this thread
            return dispatch(op, args)
        if listed and args[0].__class__ not in LISTS:
            return compute(op, args)
        raws: list[Any] = []
        targets: list[Any] = []
        kind: Any = None
        needed = numbered = False
        for t, (is_input, classes) in zip(args[0] if listed else args, looks):
            if not isinstance(t, TensorBase):
                if t.__class__ not in classes:
                    return compute(op, args)
                raws.append(t)
                if is_input:
                    targets.append(None)
                continue
            a, storage = t._data, t._storage
            if not is_input:
                if is_input is None or t._bits:
                    return compute(op, args)
                raws.append(a)
                continue
            if storage is not None:
                if not is_plain(t):
                    return compute(op, args)
                if elementwise and a.__class__ is ndarray and not a.ndim:
                    a = a[()]
            elif is_view:
                share(t)
                a = t._data
            if a.dtype is not kind:
                if kind is not None or a.dtype not in passes:
                    return compute(op, args)
                kind = a.dtype
            raws.append(a)
            target = t._fn
            if target is not None:
                needed = True
                if t._nr:
                    numbered = True
            elif not off:
                acc = t._acc
                if acc is not None:
                    target = (acc is not True and acc()) or accumulator(t)
                    needed = True
            targets.append(target)
        if listed:
            raws = [raws, *args[1:]]
        try:
            out = enter(kernel, *raws)
        except Exception as error:
            return compute_after_failure(op, args, error)
        first = out[0] if several and out else out
        if not isinstance(first, RAW) or first.dtype is not kind:
            return compute(op, args)  # which raises the error, or converts
        if not (several or is_view or out.ndim):
            out = out[()]  # before a node saves it
        node = connect(op, Node(), targets, numbered, args, out) if needed and not off else None
        if several:
            return results(op, node, args, out)
        result = share_view(op, args, out) if is_view else wrap(out)
        if node is not None:
            result._fn, node._storage = node, result._storage
        return result

    return call


def compute_after_failure(op: Op, args: Any, failure: Exception) -> Any:
    """Return what `compute` gives after the kernel failed alone. It raises the op's error, as if nothing had
    failed before. If it raises none, the failure was not the kernel's: a signal handler has raised it.
    """
    try:
        result = compute(op, args)
    except Exception as error:
        last: BaseException = error
        while last.__context__ is not None and last.__context__ is not failure:
            last = last.__context__
        last.__context__ = None
        raise
    if is_entered(failure):
        return result
    try:
        raise failure
    finally:
        del failure  # or it and this frame would refer to each other
