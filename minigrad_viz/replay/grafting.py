"""The trace of a cell with the numbers of another run of the same program.

The trace of a replay has no places in the source and no names. So the cell's own trace is taken, and where it
has a number the replay's is put instead. Both have the same events in the same order, or the replay is not
the cell's program.
"""

from __future__ import annotations

from typing import Any

from ..protocol import Value
from ..trace.events import (
    BackwardStarted,
    Called,
    Gave,
    ModeChanged,
    NodeState,
    Returned,
    Snapshot,
    Statement,
    Trace,
)
from ..trace.graph import Saved
from ..trace.spots import Span

UNTOLD = (Statement, ModeChanged, Called, Returned, Gave)  # events that a replay does not have


class Differs(Exception):
    """A replay did something else than the cell."""


def grafted(trace: Trace, replay: Trace) -> Trace:
    """`trace` with the numbers of `replay`. Differs if they are not of one program."""
    theirs = iter([event for event in replay.events if not isinstance(event, UNTOLD)])
    events: list[Any] = []
    for event in trace.events:
        events.append(event if isinstance(event, UNTOLD) else joined(event, next(theirs, None)))
    if next(theirs, None) is not None:
        raise Differs("the replay has more events")
    starts = [event for event in events if isinstance(event, BackwardStarted)]
    rounds, norms = trace.rounds, trace.norms
    if len(starts) == len(rounds) == len(replay.rounds):
        rounds, norms = replay.rounds, replay.norms
    nodes = joined(trace.nodes, replay.nodes) if len(trace.nodes) == len(replay.nodes) else trace.nodes
    return trace._replace(events=tuple(events), nodes=nodes, rounds=rounds, norms=norms)


def joined(mine: Any, theirs: Any) -> Any:
    """Part of a trace, with the numbers of another."""
    if mine is theirs:  # most parts are names and flags
        return mine
    if isinstance(mine, Value):
        if not isinstance(theirs, Value) or mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            raise Differs(f"{mine} became {theirs}")
        return theirs
    if isinstance(theirs, Value):
        raise Differs(f"{mine} became {theirs}")
    if isinstance(mine, Snapshot):
        return rows_of(mine, theirs)
    if isinstance(mine, Saved):
        same = isinstance(theirs, Saved) and mine.name == theirs.name
        if not same:
            raise Differs(f"{mine} became {theirs}")
        value = joined(mine.value, theirs.value)
        return mine._replace(value=value, nbytes=theirs.nbytes, memory=theirs.memory)
    if isinstance(mine, NodeState) and isinstance(theirs, NodeState):
        return mine._replace(saved=joined(mine.saved, theirs.saved), memory=theirs.memory)
    if isinstance(mine, tuple) and not isinstance(mine, Span):
        if type(mine) is not type(theirs) or len(mine) != len(theirs):
            raise Differs(f"{mine} became {theirs}")
        parts = [joined(a, b) for a, b in zip(mine, theirs)]
        return type(mine)(*parts) if hasattr(mine, "_fields") else tuple(parts)
    return mine


def rows_of(mine: Snapshot, theirs: Any) -> Snapshot:
    """How the named tensors stood, found by their names."""
    if not isinstance(theirs, Snapshot):
        raise Differs(f"{mine} became {theirs}")
    known = dict(theirs.rows)
    if any(name not in known for name, _ in mine.rows):
        raise Differs(f"{mine.when}: {sorted(known)}")
    rows = tuple((name, joined(state, known[name])) for name, state in mine.rows)
    return mine._replace(rows=rows)
