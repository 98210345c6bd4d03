"""How the nodes of PyTorch stand when a backward call begins, and which of them it releases."""

from __future__ import annotations

from typing import Any

from ..hooks import function_of
from ..kept import saved_of
from ..trace.events import NodeState


class TorchNodes:
    """Reads the nodes of one call after another. Of the last call, `saving` are the keys of the nodes that
    saved tensors, `freed` those whose values were gone already; `custom` says whether it has custom
    Functions, or values that hooks have packed."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.saving: set[Any] = set()
        self.freed: set[Any] = set()
        self.custom = False

    def freeze(self, roots: list[Any]) -> tuple[list[Any], list[Any]]:
        """The nodes that can be reached, and for `notes.started` how they stand."""
        self.saving, self.freed, self.custom = set(), set(), False
        live, rows = [], []
        for key, node in self.recorder.states.walk(roots):
            live.append(node)
            rows.append((key, node._sequence_nr(), self.state_of(key, node)))
        return live, rows

    def lost(self, keys: list[Any], live: list[Any], ran: set[Any], sure: bool, kept: bool) -> list[Any]:
        """The keys of the nodes whose saved values cannot be read any more, after a call in which the nodes
        `ran`; `sure` says that it has released just these, unless the graph was `kept`. To ask a released
        node costs as much as several small ops."""
        if not sure:
            known = zip(keys, live, strict=True)
            return [key for key, node in known if key in self.saving | self.freed and gone(node)]
        released = self.freed if kept else self.freed | (ran & self.saving)
        return [key for key in keys if key in released]

    def state_of(self, key: Any, node: Any) -> NodeState:
        """How a node stands."""
        state: NodeState = self.recorder.states.freeze(key, node)
        if any(saved.freed for saved in state.saved):
            self.freed.add(key)
        elif any(not isinstance(saved.value, str) for saved in state.saved):
            self.saving.add(key)
        own = function_of(node) is not None
        self.custom = self.custom or own or any(saved.packed for saved in state.saved)
        return state


def gone(node: Any) -> bool:
    """Whether what a node saved cannot be read any more."""
    return any(kept.freed for kept in saved_of(node))


def by_node(results: list[Any]) -> list[list[Any]]:
    """The results of a function that may be made of several ops, those of each node together, as the nodes
    came; what has none belongs to the first."""
    found: dict[Any, list[Any]] = {}
    for tensor in results if len(results) > 1 else ():
        fn = tensor.grad_fn
        found.setdefault(next(iter(found), None) if fn is None else fn, []).append(tensor)
    if len(found) < 2:
        return [results]
    return [found[fn] for fn in sorted(found, key=lambda fn: -1 if fn is None else fn._sequence_nr())]
