"""The sentence that stands with a picture: why there is no graph."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..trace.events import Failed, Statement, Trace
from .place import Place

Note = tuple[str, dict[str, str]]
LEFT = "no_graph_left"
CHECKS = re.compile(r"\b(?:grad(?:grad)?check|check_gradients)\(")  # which run a function unseen
OF_CUT = {
    "inference": "no_graph_inference", "no_grad": "no_graph_no_grad", "detach": "no_graph_detached",
    "data": LEFT, "numpy": LEFT, "item": LEFT, "tensor": LEFT, "integer": "no_graph_integer",
}  # fmt: skip


def why_no_graph(trace: Trace, places: Sequence[Place], named: Mapping[str, str]) -> Note | None:
    """The sentence that says why a cell has no graph: no tensor required gradients, or those that did have no
    path to a result, or every such path was cut, or the first operation on them failed."""
    states = [s for p in places for s in p.states]
    if not states or any(s.requires_grad and s.node is not None for s in states):
        return None
    asked = [named[s.id] for s in states if s.requires_grad and s.id in named]
    if not any(s.requires_grad for s in states):
        return ("no_graph_forward" if any(s.tangent is not None for s in states) else "no_graph", {})
    ends = [p for p in places if p.fog or (p.cut and p.asking)]
    for cut, key in OF_CUT.items():
        found = [place for place in ends if OF_CUT[place.fog or place.cut] == key]
        names = [name for place in found for name in called(place, named)]
        if names:
            value = found[0].states[0].value
            dtype = {"dtype": value.dtype} if cut == "integer" and value is not None else {}
            return key, {"names": ", ".join(dict.fromkeys(names)), **dtype}
    if any(isinstance(e, Statement) and CHECKS.search(e.span.text) for e in trace.events):
        return ("no_graph_checked", {})
    failed = next((event for event in trace.events if isinstance(event, Failed) and event.named), None)
    if failed is not None and failed.span is not None:
        return "no_graph_failed", {"code": " ".join(failed.span.text.split())}
    return ("no_graph_unused", {"names": ", ".join(asked) or "…"})


def called(place: Place, named: Mapping[str, str]) -> list[str]:
    """What to call the tensors of a place: their variables, else what was written there."""
    names = [named[state.id] for state in place.states if state.id in named]
    return names or ([place.expr] if place.expr and not place.fog else [])
