"""What happened in a cell, as plain data: frozen events in the order they happened.

A `Trace` holds numbers, shapes, names and source positions, never a live tensor or node, so what happens
later cannot rewrite it. Tensors are `t0, t1, …`, nodes `n0, n1, …`, in the order in which they were first
seen; backward calls are counted from 1. `to_json` writes it as JSON (non-finite and complex numbers as
strings), from which `from_json` makes the same trace again.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from ..fields import Count, Library, Moment, TensorId
from ..protocol import Value
from .backward_events import *  # noqa: F403  (here stand all events)
from .backward_events import BackwardStarted, NodeState
from .forward_events import *  # noqa: F403
from .forward_events import TensorState
from .jsonable import plain
from .reading import TraceReader, parsed
from .where import Span


class Statement(NamedTuple):
    """A statement of the cell ran. All statements at the top level are reported in order; inside a loop or a
    function only those that did something with tensors."""

    span: Span


AGAIN = "again"


class Snapshot(NamedTuple):
    """All named tensors at one moment: `when` is "before" or "after" the `call`-th backward call, "end", when
    the cell ended, or AGAIN, when backward calls are recorded again after some that were only counted."""

    when: Moment
    call: Count
    rows: tuple[tuple[str, TensorState], ...]


class Compared(NamedTuple):
    """What a gradcheck compared that failed: two Jacobians with a row for each element of the input and a
    column for each of the output, the numerical one with a step of `eps`. An element may differ by
    `atol + rtol · |numerical|`."""

    numerical: Value
    analytical: Value
    eps: float
    atol: float
    rtol: float


class Failed(NamedTuple):
    """The error ("RuntimeError: …") that ended the cell, and where the cell stood. `named` are the tensors
    that the expression there names, with the text by which it does, as they stood then; `compared` what a
    gradcheck compared, if it was one."""

    error: str
    span: Span | None
    named: tuple[tuple[str, TensorState], ...] = ()
    compared: Compared | None = None
    frames: tuple[Span, ...] = ()


Event = tuple[Any, ...]  # one of the classes here
FORMER = ("Freed",)  # events of an earlier version, of which others tell now
KINDS = {name: kind for name, kind in globals().items() if hasattr(kind, "_fields")}


class Later(Sequence[Any]):
    """Events that are made when they are first looked at. Equal to a tuple of them."""

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make: Callable[[], Iterable[Any]] = make

    @functools.cached_property
    def all(self) -> tuple[Any, ...]:
        """The events themselves."""
        make, self._make = self._make, tuple  # which lets go of the notes
        return tuple(make())

    def __getitem__(self, which: Any) -> Any:
        return self.all[which]

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.all)

    def __eq__(self, other: object) -> bool:
        return self.all == (other.all if isinstance(other, Later) else other)

    def __hash__(self) -> int:
        return hash(self.all)

    def __repr__(self) -> str:
        return repr(self.all)

    def __reduce__(self) -> Any:
        return tuple, (self.all,)


class Trace(NamedTuple):
    """A recorded cell: its source, what happened, the error that ended it (or None), the names of tensors
    at the end, and the nodes that no backward call reached. `skipped` counts the backward calls of a
    cell with many that are not kept. `events` may be `Later`, which reads like a tuple. One that was not
    `recorded` has what could still be found after an error: that an event is missing means nothing.
    `deposits` counts those of the calls that were skipped, by the id of the leaf. Of a graph that nobody
    recorded and that was found finished, `roots` are the tensors that were asked for (None elsewhere), and
    `omitted` counts the nodes that were left out, as there were too many. The results of `counted` ops need
    no gradient; there were too many of them to record. `rounds` has the value of the root of each
    backward call, also of those that are not kept (None where that is no finite number), `norms` the norm of
    all gradients after it; `light` calls, among those that were skipped, were only counted. `library` is that
    of the tensors that variables name: "minigrad" or "torch" ("" where there are none). `passed` ops, of any
    kind, were not recorded because the graph had become too large."""

    source: str
    events: Sequence[Event]
    error: str | None
    names: tuple[tuple[TensorId, str], ...]
    nodes: tuple[NodeState, ...]
    skipped: Count = 0
    recorded: bool = True
    deposits: tuple[tuple[TensorId, Count], ...] = ()
    roots: tuple[TensorId, ...] | None = None
    omitted: Count = 0
    counted: Count = 0
    rounds: tuple[float | None, ...] = ()
    norms: tuple[float | None, ...] = ()
    light: Count = 0
    library: Library = ""
    passed: Count = 0

    def consistent(self) -> bool:
        """Whether no node leads back to itself."""
        calls = (event.nodes for event in self.events if isinstance(event, BackwardStarted))
        edges: dict[str, list[str]] = {}
        for node in itertools.chain(self.nodes, *calls):
            edges.setdefault(node.id, []).extend(edge[0] for edge in node.edges if edge is not None)
        try:
            TopologicalSorter(edges).prepare()
        except CycleError:
            return False
        return True

    def to_json(self) -> str:
        """The trace as JSON; every event has its class name under "event"."""
        data = plain(self._replace(events=()))
        data["events"] = [{"event": type(event).__name__, **plain(event)} for event in self.events]
        return json.dumps(data, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, written: str | bytes) -> Trace:
        """The trace that `to_json` wrote, as text or as UTF-8; `InvalidTrace`, a ValueError that says where
        it is wrong, for anything else. See Note [Reading a saved trace]."""
        return TraceReader(Sequence[Event], KINDS, FORMER).whole(cls, parsed(written))
