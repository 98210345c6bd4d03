"""How tensors of minigrad stand, noted in a hurry (see Note [Fast notes])."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad import Tensor
from minigrad.observing import retains_grad_unset

from ..protocol import node_name
from ..trace.notes import Row
from .quick import SCALARS

if TYPE_CHECKING:
    from .minigrad import Minigrad


class Rows(dict[type, Any]):
    """By class of tensor what `Ledger.state_of` may ask first: a function of a tensor and its id, which gives
    None where it is no plain tensor; None for classes that are not minigrad's own.
    """

    def __init__(self, source: Minigrad) -> None:
        super().__init__()
        self.source = source

    def __missing__(self, kind: type) -> Any:
        parameter = (kind.__module__, kind.__qualname__) == ("minigrad.nn.parameter", "Parameter")
        plain = parameter or kind is Tensor
        self[kind] = row_of(self.source, parameter) if plain else None
        return self[kind]


def row_of(source: Minigrad, parameter: bool) -> Any:
    """The function for tensors of one class, which may be that of parameters."""
    recorder = source.recorder
    take, hold, held = recorder.numbers.take, recorder.grads.hold, recorder.grads.held

    def row(t: Any, name: str) -> Row | None:
        fn, storage, data, grad = t._fn, t._storage, t._data, None
        if t._view is not None or t._bits or t._inference or t._tangent is not None:
            return None
        if storage is None and fn is not None and fn._storage is not None:
            return None
        retains = t._retains or retains_grad_unset()
        if fn is None or t._retains:
            grad = t._grad
            if grad is not None and (grad._bits or grad._inference):
                return None
        version = 0 if storage is None else storage.version
        old = recorder.states.steady.get(name)
        if old is not None and old[8] == version:
            value = old[1]
        else:
            value = data if data.__class__ in SCALARS else take(data)
        kept = None
        if grad is not None:
            seen = held.get(name) if old is not None else None  # the deposit, since then
            if seen is not None and seen[:2] == (
                id(grad),
                0 if grad._storage is None else grad._storage.version,
            ):
                kept = seen.taken
            else:
                kept = grad._data if grad._data.__class__ in SCALARS else take(grad._data)
                hold(name, grad, kept)
        if fn is None:
            leaf = t._acc is not None, True, retains, None, None, version, parameter
            return Row((name, value, kept, *leaf, None))
        title = node_name(fn) if fn.op is None else source.title(fn)
        return Row((name, value, kept, True, False, retains, title, fn._seq, version, False, None))

    return row
