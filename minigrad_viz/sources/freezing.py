"""How the nodes of minigrad stand when a backward call begins, without asking them (see Note [Fast notes]
in `trace/notes`)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import Tensor, get_dialect
from minigrad.observing import LAST, AccumulateGrad, is_released
from minigrad.observing import numbers as raw

from ..protocol import owner_of
from ..trace.events import NodeState
from ..trace.notes import Slot
from .engine_told import SCALARS, EngineTold

FIXED = frozenset((*SCALARS, int, float, bool, type(None), complex))  # what cannot change
Places = list[tuple[int | None, int]]


def freeze_of(recorder: Any, engine: EngineTold) -> Callable[[list[Any]], tuple[list[Any], list[Any]]]:
    """The source's `freeze`: the nodes that can be reached, and how they stand; as `States.freeze_all`."""
    outputs, key_of, known = recorder.tape.ids.outputs, recorder.tape.ids.key, Getters()
    take, states = recorder.tape.numbers.take, recorder.states

    def freeze(roots: list[Any]) -> tuple[list[Any], list[Any]]:
        live: list[Any] = []
        frozen: list[Any] = []
        seen: set[Any] = {None}
        keys: dict[Any, Any] = {}  # of AccumulateGrads
        names = states.titles[get_dialect()]
        stack = roots[::-1]
        engine.calm = True
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            number, targets, kind = node._seq, node._next, node.__class__
            if number in states.contracted:
                frozen.append((number, number, states.freeze(number, node)))
                live.append(node)
                stack += [target for target, _ in reversed(states.edges(node))]
                continue
            if kind.op is None or node._extra is not None:
                key = key_of(node)
                if key not in outputs and number != LAST:
                    continue
                row = accumulator(recorder, node, key) if number == LAST and node._extra is None else None
                if row is None:
                    engine.calm = False
                    row = key, number, states.freeze(key, node)
                frozen.append(row)
            elif number not in outputs:
                continue
            else:
                touched = node._check is not None or node._storage is not None
                edges: list[Any] = []
                for n in targets:
                    if n is None:
                        edges.append(None)
                        continue
                    nr = n._seq
                    if nr == LAST:
                        nr = keys.get(n) or keys.setdefault(n, key_of(n))
                    edges.append(nr)
                    if n._storage is not None:
                        touched = True
                values_of, places, slots = known[kind]
                values, versions, memories = values_of(node), None, None
                if touched or not FIXED.issuperset(map(type, values)):
                    found = None if is_released(node) else looked_at(take, node, places, values)
                    if found is None:
                        frozen.append((number, number, states.freeze(number, node)))
                        live.append(node)
                        stack += targets[::-1]
                        continue
                    values, versions, memories = found
                how = names.get(kind) or states.title_of(node), slots, versions, memories, node._nrs
                frozen.append((number, number, *how, *values, *edges))
            live.append(node)
            stack += targets[::-1]
        return live, frozen

    return freeze


def accumulator(recorder: Any, node: Any, key: Any) -> tuple[Any, ...] | None:
    """How a plain AccumulateGrad stands; None for a leaf that nobody has seen."""
    leaf, memory = recorder.tape.ids.object(node.variable), id(owner_of(node.variable._data))
    return leaf and (key, LAST, NodeState(key, "AccumulateGrad", (), (), leaf, 0, memory=memory))


def looked_at(take: Callable[[Any], Any], node: Any, places: Places, saved: tuple[Any, ...]) -> Any:
    """Of saved values that are not all numbers which cannot change: what was taken of them, their versions
    and memories; None if one was released, or written to since.
    """
    check = node._check
    values: list[Any] = []
    versions: list[int] | None = None
    memories: list[tuple[int, int] | None] = [None] * len(places)
    for (place, at), value in zip(places, saved, strict=True):
        kind = value.__class__
        if kind in SCALARS:
            carrier = node if place is None else node._next[place]
            if carrier is not None and carrier._storage is not None:
                return None  # the scalar has become an array since
        elif kind not in FIXED:
            tensor = kind is not np.ndarray and isinstance(value, Tensor)
            if not (tensor or isinstance(value, (np.ndarray, np.generic))):
                if kind is list or (isinstance(value, tuple) and holds_arrays(value)):
                    return None
                values.append(str(value))
                continue
            carrier = value if tensor else node if place is None else node._next[place]
            if carrier is None or (
                carrier.__class__ is AccumulateGrad and carrier.variable._data is not value
            ):
                return None
            storage = carrier._storage
            if storage is not None:
                expected = check[at] or 0 if check else 0
                if storage.__class__ is dict or storage.version != expected:
                    return None
                versions = versions or [0] * len(places)
                versions[len(values)] = expected
            value = raw(value) if tensor else value
            whole = value if value.base is None else owner_of(value)
            memories[len(values)] = id(whole), whole.nbytes
            value = take(value)
        values.append(value)
    return values, None if versions is None else tuple(versions), tuple(memories) if any(memories) else None


def holds_arrays(values: tuple[Any, ...]) -> bool:
    """Whether there are tensors among saved values."""
    return any(isinstance(value, Tensor | np.ndarray) for value in values)


class Getters(dict[Any, tuple[Callable[[Any], Any], Places, tuple[Slot, ...]]]):
    """By class of node: what gives all that such a node saved; of each value the edge to what carries it
    (None: it is the node's own result), and its place among the versions in `_check`; and the slots, as
    `kept.saved_of` orders them.
    """

    def __missing__(self, kind: Any) -> Any:
        op = kind.op
        order = [n for n, _ in op.saved]
        names = sorted(n for n in order if not n.endswith("_scalar_type") and "_sym_" not in n)
        attributes = ["_raw_" + name for name in names]
        several = operator.attrgetter(*attributes) if len(attributes) > 1 else None
        places = [(op.inputs.index(n) if n in op.inputs else None, order.index(n)) for n in names]
        slots = tuple(Slot(n, n in op.tensors, n in op.inputs) for n in names)
        one = several or (lambda node: tuple([getattr(node, name) for name in attributes]))
        self[kind] = one, places, slots
        return self[kind]
