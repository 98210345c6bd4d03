"""Calls of ops in the plain case: normal modes or `no_grad`, inputs that are ordinary tensors of floats of
one dtype, other arguments without promotion.

`ordinary` does in one go what `call.compute` does in steps, which takes half of the time. It looks at each
argument once. Whatever is not plain goes to `compute`, which has all checks, conversions and errors.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from numpy import ndarray

from . import modes
from .call import PLAIN, compute, connected, results
from .dispatch import dispatch
from .modes import enter, is_entered
from .op import RAW, Op
from .tensor_state import TensorBase, Tensors, accumulator, is_plain, share, wrap
from .view_path import share_view

LISTS = frozenset((list, tuple))
NOTHING = frozenset((type(None),))
NUMBERS = NOTHING | {int, float}


def ordinary(op: Op) -> Any:
    """Return the function that runs an op on tensors."""
    if not op.runs_plainly:
        return lambda *args, **kwargs: dispatch(op, op.bind(args, kwargs))
    kernel, Node, passes = op.kernel, op.node, op.passes
    count, least, defaults = len(op.params), len(op.params) - len(op.defaults), op.defaults
    is_view, listed, several, elementwise = op.view, op.listed, op.several, op.elementwise
    promotes = len(op.promoted) > 0
    # Per argument whether it is an input, and the classes that need no look if it is no tensor.
    of_input = NUMBERS if elementwise and op.numbers else NOTHING
    looks: Any = [(True, of_input) if i in op.places else (False, PLAIN | {Tensors}) for i in range(count)]
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
                if promotes or t._bits:
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
            return computed(op, args, error)
        first = out[0] if several and out else out
        if not isinstance(first, RAW) or first.dtype is not kind:
            return compute(op, args)  # which raises the error, or converts
        if not (several or is_view or out.ndim):
            out = out[()]  # before a node saves it
        node = connected(op, Node(), targets, numbered, args, out) if needed and not off else None
        if several:
            return results(op, node, args, out)
        result = share_view(op, args, out) if is_view else wrap(out)
        if node is not None:
            result._fn, node._storage = node, result._storage
        return result

    return call


def computed(op: Op, args: Any, failure: Exception) -> Any:
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
