"""What results are called that a call computed on its way to its own result.

Note [Names of inner results]
    Python tells of an op the expression of the cell that runs. In `out = net(x)` that is `net(x)` for every
    op of the net, and the variable is `out` for all of them. But only what the call returned is `out`. The
    others are called by what made them: `0.weight.T`, `1 tanh`, `fc1 · addmm`, `cross_entropy · log_softmax`.
    Of a call that failed, none has the name. Variables of a module's own code are no variables of the cell,
    so what is computed there is called by its expression alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from ..protocol import op_of
from ..trace.events import Failed, Statement
from ..trace.where import Span
from .module_calls import ModuleCall
from .place import Place

if TYPE_CHECKING:
    from .trace_index import TraceIndex

CALLEE = re.compile(r"(?:[\w.\]\[]*\.)?(\w+)\(.*\)\Z")  # of a call, its last name


def name_inner(index: TraceIndex) -> None:
    """Take the names of variables from inner results, and say instead what made them."""
    begun = [time for time, event in enumerate(index.trace.events) if isinstance(event, Statement)]
    failed = next((event.span for event in index.trace.events if isinstance(event, Failed)), None)
    last: dict[tuple[Span, int], Place] = {}  # by span and how many statements had begun
    for place in index.places:
        if place.order > 1 or (place.brought and place.node is None):
            continue
        call = index.module_calls.at(place.time)
        if call is not None:
            in_module(index, place, call)
        span = span_of(index, place)
        if span is None or place.event is None or call is not None:
            continue
        key = span, bisect_right(begun, place.time)
        before, last[key] = last.get(key), place
        if before is not None:
            in_function(before)
    for (made, statements), place in last.items():
        if made == failed and statements == len(begun):
            in_function(place)


def in_module(index: TraceIndex, place: Place, call: ModuleCall) -> None:
    """Name what was computed inside the call of a module."""
    chain = call.chain()
    span = span_of(index, place)
    whole = next((each for each in chain if span is not None and each.event.span == span), None)
    result = whole is not None and any(state.id in whole.outputs for state in place.states)
    if whole is not chain[0] or not result:
        place.name = None
    if result or (whole is None and span is not None):
        return
    top, path = chain[0].event.path, call.event.path
    way = path[len(top) + 1 :] if top and path.startswith(f"{top}.") else path or call.event.kind
    node = index.nodes.get(place.node or "")
    op = place.event.op if place.event is not None else op_of(node.name) if node is not None else ""
    held = [name for id in sources(index, place) for name in [index.module_calls.parameters.get(id)] if name]
    if op == "t" and held:
        owner, own = held[0]
        start = owner[len(top) + 1 :] if top and owner.startswith(f"{top}.") else owner
        place.expr = f"{start}.{own}.T" if start else f"{own}.T"
    elif op:
        place.expr = f"{way} {op}" if way[-1:].isdigit() else f"{way} · {op}"


def span_of(index: TraceIndex, place: Place) -> Any:
    """The expression that computed a place."""
    return getattr(index.trace.events[place.time], "span", None)


def in_function(place: Place) -> None:
    """Name what was computed inside the call of a function, or before an error ended it."""
    place.name = None
    callee = CALLEE.match(place.expr or "")
    if callee is not None and place.event is not None:
        op = place.event.op
        place.expr = f"{callee[1]} · {op}" if op != callee[1] else place.expr


def sources(index: TraceIndex, place: Place) -> list[str]:
    """The tensors that a place was computed from."""
    return [state.id for source in index.came_from(place) for state in source.states]
