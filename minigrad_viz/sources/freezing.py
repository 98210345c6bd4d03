"""How the nodes of minigrad stand when a backward call begins, noted in a hurry (see Note [Fast notes])."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import Tensor, get_dialect
from minigrad.observing import LAST, AccumulateGrad, is_released
from minigrad.observing import numbers as raw

from ..protocol import owner_of
from ..trace import notes
from .quick import NUMBERS, SCALARS

if TYPE_CHECKING:
    from .minigrad import Minigrad

FIXED = frozenset((*SCALARS, *NUMBERS, complex))  # what cannot change
Places = list[tuple[int | None, int]]


def freeze_of(source: Minigrad) -> Callable[[list[Any]], tuple[list[Any], list[Any]]]:
    """The source's `freeze`: the nodes that can be reached, and how they stand; as `Ledger.freeze_all`."""
    recorder = source.recorder
    outputs, key_of, known = recorder.ids.outputs, recorder.ids.key, Getters()

    def freeze(roots: list[Any]) -> tuple[list[Any], list[Any]]:
        live: list[Any] = []
        frozen: list[Any] = []
        seen: set[Any] = {None}
        keys: dict[Any, Any] = {}  # of AccumulateGrads
        titles = source.titles[get_dialect()]
        stack = roots[::-1]
        source.calm = True
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            number, targets, kind = node._seq, node._next, node.__class__
            if kind.op is None or node._extra is not None:
                key = key_of(node)
                if key not in outputs and number != LAST:
                    continue
                frozen.append(other(source, node, key))
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
                values_of, places = known[kind]
                values, versions, memories = values_of(node), None, None
                if touched or not FIXED.issuperset(map(type, values)):
                    found = None if is_released(node) else looked_at(source, node, places, values)
                    if found is None:
                        frozen.append((number, number, recorder.states.freeze(number, node)))
                        live.append(node)
                        stack += targets[::-1]
                        continue
                    values, versions, memories = found
                title = titles.get(kind) or source.title(node)
                how = kind.op.name, title, versions, memories, node._nrs
                frozen.append((number, number, *how, *values, *edges))
            live.append(node)
            stack += targets[::-1]
        return live, frozen

    return freeze


def other(source: Minigrad, node: Any, key: Any) -> tuple[Any, ...]:
    """How a node stands that is no op's, or has hooks; of a plain AccumulateGrad name, leaf and memory."""
    recorder, number = source.recorder, node._seq
    leaf = recorder.ids.object(node.variable) if number == LAST and node._extra is None else None
    if leaf is None:
        source.calm = False
        return key, number, recorder.states.freeze(key, node)
    return key, number, source.title(node), leaf, id(owner_of(node.variable._data))


def looked_at(source: Minigrad, node: Any, places: Places, saved: tuple[Any, ...]) -> Any:
    """Of saved values that are not all numbers which cannot change: what was taken of them, their versions
    and memories; None if one was released, or written to since.
    """
    check, take = node._check, source.recorder.numbers.take
    values: list[Any] = []
    versions: list[int] | None = None
    memories: dict[int, tuple[int, int]] = {}
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
    return values, None if versions is None else tuple(versions), memories or None


def holds_arrays(values: tuple[Any, ...]) -> bool:
    """Whether there are tensors among saved values."""
    return any(isinstance(value, Tensor | np.ndarray) for value in values)


class Getters(dict[Any, tuple[Callable[[Any], Any], Places]]):
    """By class of node: what gives all that such a node saved; and of each value the edge to what carries it
    (None: it is the node's own result), and its place among the versions in `_check`.
    """

    def __missing__(self, kind: Any) -> Any:
        op = kind.op
        names, order = notes.saved_names(op), [n for n, _ in op.saved]
        slots = ["_raw_" + name for name in names]
        several = operator.attrgetter(*slots) if len(slots) > 1 else None
        places = [(op.inputs.index(n) if n in op.inputs else None, order.index(n)) for n in names]
        self[kind] = several or (lambda node: tuple([getattr(node, slot) for slot in slots])), places
        return self[kind]
