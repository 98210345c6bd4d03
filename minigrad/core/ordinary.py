"""Calls of ops in the plain case: normal modes or `no_grad`, inputs that are ordinary tensors of floats of
one dtype, other arguments without promotion.

`ordinary` does in one go what `call.compute` does in steps, which takes half of the time. It looks at each
argument once. Whatever is not plain goes to `compute`, which has all checks, conversions and errors.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from . import modes
from .call import compute, connected, results
from .dispatch import dispatch
from .modes import enter
from .op import RAW, Op
from .tensor_state import TensorBase, Tensors, accumulator, is_plain, share, wrap
from .view_path import share_view

NUMBERS = frozenset((int, float))
# Classes of arguments that need no look.
PLAIN = frozenset((int, float, bool, str, tuple, type(None), Tensors))
LISTS = frozenset((list, tuple))


def ordinary(op: Op) -> Any:
    """Return the function that runs an op on tensors."""
    kernel, Node, pick, passes = op.kernel, op.node, op.pick, op.passes
    count, least = len(op.params), len(op.params) - len(op.defaults)
    defaults, places, others, promoted = op.defaults, op.places, op.others, op.promoted
    is_view, listed, several, elementwise = op.view, op.listed, op.several, op.elementwise
    takes_numbers, runs_plainly = op.elementwise and op.numbers, op.runs_plainly

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not least <= len(args) <= count:
            return dispatch(op, op.bind(args, kwargs))
        if len(args) < count:
            args += defaults[len(args) - least :]
        off = modes.active
        if off and (off != 1 or modes.state.grad_enabled):  # except for `no_grad` in only this thread
            return dispatch(op, args)
        inputs = args[0] if listed else pick(args)
        if not runs_plainly or (listed and inputs.__class__ not in LISTS):
            return compute(op, args)
        arrays: list[Any] = []
        targets: list[Any] = []
        kind: Any = None
        needed = numbered = False
        for t in inputs:
            if not isinstance(t, TensorBase):
                if t is not None and not (takes_numbers and t.__class__ in NUMBERS):
                    return compute(op, args)
                arrays.append(t)
                targets.append(None)
                continue
            a, storage, target = t._data, t._storage, t._fn
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
            arrays.append(a)
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
        raws: list[Any] = [*args]
        if listed:
            raws[0] = arrays
        else:
            for i, a in zip(places, arrays):
                raws[i] = a
        for i in others:
            v = args[i]
            if v.__class__ not in PLAIN:
                if not isinstance(v, TensorBase) or i in promoted or v._bits:
                    return compute(op, args)
                raws[i] = v._data
        try:
            out = enter(kernel, *raws)
        except Exception:
            out = None
        first = out[0] if several and out else out
        if not isinstance(first, RAW) or first.dtype is not kind:
            return compute(op, args)  # which raises the error, or converts
        if is_view and not several:
            result = share_view(op, args, out)
        elif not several:
            if out.__class__ is ndarray and not out.ndim:
                out = out[()]
            result = wrap(out)
        if off or not needed:
            return results(op, None, args, out) if several else result
        node = connected(op, Node(), targets, numbered, args, out)
        if several:
            return results(op, node, args, out)
        result._fn, node._storage = node, result._storage
        return result

    return call
