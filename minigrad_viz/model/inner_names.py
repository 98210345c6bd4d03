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
from collections.abc import Sequence
from typing import Any

from ..protocol import op_of
from ..trace.events import Failed, Statement
from ..trace.where import Span
from .module_calls import ModuleCall, ModuleCalls
from .place import Lookup, Place

CALLEE = re.compile(r"(?:[\w.\]\[]*\.)?(\w+)\(.*\)\Z")  # of a call, its last name


class InnerNames:
    """Takes the names of variables from inner results among the places of `found`, and says instead what made
    them."""

    def __init__(self, found: Lookup, events: Sequence[Any], module_calls: ModuleCalls) -> None:
        self.found, self.events, self.module_calls = found, events, module_calls

    def give(self) -> None:
        """Name all inner results."""
        begun = [time for time, event in enumerate(self.events) if isinstance(event, Statement)]
        failed = next((event.span for event in self.events if isinstance(event, Failed)), None)
        last: dict[tuple[Span, int], Place] = {}  # by span and how many statements had begun
        for place in self.found.places:
            if place.order > 1 or (place.brought and place.node is None):
                continue
            call = self.module_calls.at(place.time)
            if call is not None:
                self.in_module(place, call)
            span = place.span
            if span is None or place.event is None or call is not None:
                continue
            key = span, bisect_right(begun, place.time)
            before, last[key] = last.get(key), place
            if before is not None:
                in_function(before)
        for (made, statements), place in last.items():
            if made == failed and statements == len(begun):
                in_function(place)

    def in_module(self, place: Place, call: ModuleCall) -> None:
        """Name what was computed inside the call of a module."""
        chain = call.chain()
        span = place.span
        whole = next((each for each in chain if span is not None and each.event.span == span), None)
        result = whole is not None and any(state.id in whole.outputs for state in place.states)
        if whole is not chain[0] or not result:
            place.name = None
        if result or (whole is None and span is not None):
            return
        top, path = chain[0].event.path, call.event.path
        way = path[len(top) + 1 :] if top and path.startswith(f"{top}.") else path or call.event.kind
        node = self.found.nodes.get(place.node or "")
        op = place.event.op if place.event is not None else op_of(node.name) if node is not None else ""
        known = self.module_calls.parameters
        sources = (state.id for source in self.found.came_from(place) for state in source.states)
        held = [known[id] for id in sources if id in known]
        if op == "t" and held:
            owner, own = held[0]
            start = owner[len(top) + 1 :] if top and owner.startswith(f"{top}.") else owner
            place.expr = f"{start}.{own}.T" if start else f"{own}.T"
        elif op:
            place.expr = f"{way} {op}" if way[-1:].isdigit() else f"{way} · {op}"


def in_function(place: Place) -> None:
    """Name what was computed inside the call of a function, or before an error ended it."""
    place.name = None
    callee = CALLEE.match(place.expr or "")
    if callee is not None and place.event is not None:
        op = place.event.op
        place.expr = f"{callee[1]} · {op}" if op != callee[1] else place.expr
