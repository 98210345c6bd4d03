"""Calling an op in any mode: compute it, give its result a tangent (forward mode), notify the observers."""

from __future__ import annotations

from typing import Any

from . import modes
from .call import compute
from .forward import push
from .op import Op
from .tensor_state import opened


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
            values = opened(values)
        for watcher in watchers:
            watcher.forward(op, values, result)
    return result
