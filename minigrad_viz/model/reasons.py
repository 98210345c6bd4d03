"""The sentence that stands with a picture: why there is no graph, or that gradients are tested."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..trace.events import Statement

if TYPE_CHECKING:
    from .place import Place
    from .scene import Scene

Note = tuple[str, dict[str, str]]
LEFT = "no_graph_left"
CHECKS = re.compile(r"\b(?:grad(?:grad)?check|check_gradients)\(")  # which run a function unseen
OF_CUT = {
    "inference": "no_graph_inference", "no_grad": "no_graph_no_grad", "detach": "no_graph_detached",
    "data": LEFT, "numpy": LEFT, "item": LEFT, "tensor": LEFT, "integer": "no_graph_integer",
}  # fmt: skip


def why_no_graph(scene: Scene) -> Note | None:
    """The sentence for a cell without any graph: nothing asked for gradients, or every path of what did was
    cut, or there was none."""
    states = [s for p in scene.places for s in p.states]
    if not states or any(s.requires_grad and s.node is not None for s in states):
        return None
    asked = [scene.named[s.id] for s in states if s.requires_grad and s.id in scene.named]
    if not any(s.requires_grad for s in states):
        return ("no_graph_forward" if any(s.tangent is not None for s in states) else "no_graph", {})
    ends = [p for p in scene.places if p.fog or (p.cut and p.asking)]
    for cut, key in OF_CUT.items():
        found = [place for place in ends if OF_CUT[place.fog or place.cut] == key]
        names = [name for place in found for name in called(scene, place)]
        if names:
            value = found[0].states[0].value
            dtype = {"dtype": value.dtype} if cut == "integer" and value is not None else {}
            return key, {"names": ", ".join(dict.fromkeys(names)), **dtype}
    if any(isinstance(e, Statement) and CHECKS.search(e.span.text) for e in scene.trace.events):
        return ("no_graph_checked", {})
    return ("no_graph_unused", {"names": ", ".join(asked) or "…"})


def called(scene: Scene, place: Place) -> list[str]:
    """What to call the tensors of a place: their variables, else what was written there."""
    names = [scene.named[state.id] for state in place.states if state.id in scene.named]
    return names or ([place.expr] if place.expr and not place.fog else [])


def tests_for_nan(scene: Scene) -> Note | None:
    """The sentence for a call in anomaly mode."""
    on = scene.now.started is not None and scene.index.switched("anomaly", scene.now.begin)
    return ("note_anomaly", {}) if on else None
