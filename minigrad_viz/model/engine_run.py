"""What the engine did in one backward call, as far as the graph and the record tell: the order of nodes, and
where it stopped."""

from __future__ import annotations

import re

from ..protocol import Value
from ..trace.events import Trace
from .place import BackwardCall, Lookup
from .schedule import Schedule, needed

TWICE, CHANGED = "backward through the graph a second time", "modified by an inplace operation"
NOT_A_NUMBER = re.compile(r"Function '(\w+)' returned nan values in its")  # says anomaly detection


def schedule_of(trace: Trace, call: BackwardCall, found: Lookup) -> Schedule | None:
    """The queue of a call, unless it contradicts what was recorded; that of a finished graph."""
    started, ended = call.started, call.ended
    if trace.roots is not None:  # of a finished graph, which nobody saw run
        return Schedule(trace.nodes, [found.node_at(root) or "" for root in trace.roots])
    if started is None:
        return None
    failed = ended is None or ended.error is not None
    limited: set[str] | None = None
    if started.kind == "grad" or (failed and started.wanted is not None):
        asked = [tensor for tensor, _ in ended.captured] if ended is not None else []
        asked = asked or list(started.wanted or ())
        if not asked:
            return None  # it failed, and nobody knows what it was asked for
        limited = needed(started.nodes, {found.node_at(tensor) or "" for tensor in asked})
        if started.kind != "grad":
            limited |= {node.id for node in started.nodes if node.variable in asked}
    elif not failed:
        limited = set(call.ran)  # `backward(inputs=…)` leaves some out
    schedule = Schedule(started.nodes, [found.node_at(root) or "" for root in started.roots], limited)
    return schedule if schedule.agrees(list(call.ran), failed) else None


def guilty_in(trace: Trace, call: BackwardCall, found: Lookup, schedule: Schedule | None) -> str | None:
    """The node that would have run when a call failed; None if the failure came before any."""
    started = call.started
    if not trace.recorded:
        return unusable(call, found, schedule)
    ran, named = list(call.ran), NOT_A_NUMBER.search(call.error or "")
    if named is not None and ran and found.nodes[ran[-1]].name == named[1]:
        return ran[-1]  # it ran, and what it gave was looked at then
    if started is None or schedule is None or len(ran) >= len(schedule.order):
        return None
    for root, gradient in zip(started.roots, started.gradients, strict=True):
        state = found.state(root)
        value = None if state is None else state.value
        if gradient is None or (value is not None and value.shape != gradient.shape):
            return None
    return schedule.order[len(ran)]


def unusable(call: BackwardCall, found: Lookup, schedule: Schedule | None) -> str | None:
    """Where nobody saw what ran: the node of which the traceback tells; else the only one whose saved values
    are gone or were written to, if the error is about that. Nodes that ran in the call have let go of theirs
    too; behind one that still has them none did."""
    ended = call.ended
    if ended is None or ended.stopped is not None or schedule is None:
        return None if ended is None else ended.stopped
    changed, freed = list[str](), list[str]()
    for node in schedule.order:
        saved = found.nodes[node].saved
        if any(s.now is not None for s in saved):
            changed.append(node)
        if any(s.freed for s in saved):
            freed.append(node)
        elif any(isinstance(s.value, Value) or s.packed for s in saved):
            break
    error = ended.error or ""
    ends = freed if TWICE in error else changed[:1] if CHANGED in error else []
    return ends[0] if len(ends) == 1 else None
