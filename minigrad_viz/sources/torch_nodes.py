"""How the nodes of PyTorch stand when a backward call begins, and which of them it releases."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kept import is_number, saved_names, saved_of, shown_alone
from ..protocol import edges_of, is_tensor, memory_of, node_name, version_of
from ..trace.events import NodeState
from ..trace.notes import Slot

WIDE = ("float64", "int64", "complex128")  # dtypes of a Python number that is passed where a tensor could be


class NodeKind(NamedTuple):
    """What all nodes of a class have: their name, whether they are AccumulateGrads, and of each saved value
    the attribute that gives it and the one that gives its `SavedTensor` ("" if it is no tensor)."""

    title: str
    leaf: bool
    slots: tuple[Slot, ...]
    attributes: tuple[tuple[str, str], ...]


class TorchNodes:
    """Reads the nodes of one call after another. Of the last call, `saving` are the keys of the nodes that
    saved tensors, `freed` those whose values were gone already; `custom` says whether it has custom
    Functions, or values that hooks have packed."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.kinds: dict[type, NodeKind | None] = {}
        self.saving: set[Any] = set()
        self.freed: set[Any] = set()
        self.custom = False

    def freeze(self, roots: list[Any]) -> tuple[list[Any], list[Any]]:
        """The nodes that can be reached, and for `notes.started` how they stand."""
        self.saving, self.freed, self.custom = set(), set(), False
        live, rows = [], []
        for key, node in self.recorder.states.walk(roots):
            live.append(node)
            kind = self.kind_of(node)
            row = None if kind is None else self.row(key, node, kind)
            rows.append(row or self.general(key, node))
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

    def kind_of(self, node: Any) -> NodeKind | None:
        """The description of a node's class; None for a custom Function."""
        cls = type(node)
        if cls not in self.kinds:
            names = saved_names(cls)
            own = hasattr(cls, "_forward_cls") or (not names and hasattr(cls, "saved_tensors"))
            raw = (f"_raw{name}" if hasattr(cls, f"_raw{name}") else "" for name in names)
            slots = tuple(Slot(name.removeprefix("_saved_"), True) for name in names)
            known = NodeKind(node_name(node), hasattr(cls, "variable"), slots, tuple(zip(names, raw)))
            self.kinds[cls] = None if own else known
        return self.kinds[cls]

    def general(self, key: Any, node: Any) -> tuple[Any, ...]:
        """How a node stands that is not as usual."""
        state: NodeState = self.recorder.states.freeze(key, node)
        if any(saved.freed for saved in state.saved):
            self.freed.add(key)
        elif any(not isinstance(saved.value, str) for saved in state.saved):
            self.saving.add(key)
        own = hasattr(type(node), "_forward_cls")
        self.custom = self.custom or own or any(saved.packed for saved in state.saved)
        return key, node._sequence_nr(), state

    def row(self, key: Any, node: Any, kind: NodeKind) -> tuple[Any, ...] | None:
        """How a node stands; None if it has hooks, or a saved value that is packed, gone or written to."""
        ids, states = self.recorder.tape.ids, self.recorder.states
        if kind.leaf:
            variable = node.variable
            if variable._backward_hooks or variable._post_accumulate_grad_hooks:
                return None
            memory = memory_of(variable)
            return memory and (key, node._sequence_nr(), kind.title, states.id_of(variable), memory[0])
        made = ids.alive(ids.outputs.get(key))
        if made is not None and made._backward_hooks:
            return None
        values: list[Any] = []
        versions, memories = list[int](), list[Any]()
        try:
            for slot, (attribute, raw) in zip(kind.slots, kind.attributes, strict=True):
                if raw and getattr(getattr(node, raw), "unpack_hook", None) is not None:
                    return None
                value, version = shown_alone(node, attribute, getattr(node, attribute)), 0
                kept: Any = None
                if is_tensor(value):
                    wide = not value.dim() and str(value.dtype).endswith(WIDE)
                    number = wide and is_number(node, slot.name, value)
                    kept = (None, 0) if number else memory_of(value)
                    if kept is None:
                        return None
                    value, version = self.recorder.tape.taken(value), version_of(value)
                    self.saving.add(key)
                elif isinstance(value, list | tuple) and any(map(is_tensor, value)):
                    return None
                elif value is not None:
                    value = str(value)
                values.append(value)
                versions.append(version)
                memories.append(kept)
        except RuntimeError:
            return None
        ends = edges_of(node)
        edges = [None if n is None else ids.key(n) for n, _ in ends]
        nrs = tuple(nr for _, nr in ends) if any(nr for _, nr in ends) else None
        told = kind.title, kind.slots, tuple(versions), tuple(memories), nrs
        return key, node._sequence_nr(), *told, *values, *edges


def gone(node: Any) -> bool:
    """Whether what a node saved cannot be read any more."""
    return any(kept.freed for kept in saved_of(node))
