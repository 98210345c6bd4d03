"""What the tensors and nodes of a pass are called."""

from __future__ import annotations

from typing import Any

from ..arithmetic.derivatives import label
from ..words import clean
from .backward_pass import Arrow, Pass


class Teller:
    """Names for the tensors and nodes of a pass, as its pictures and formulas have them."""

    def __init__(self, walk: Pass) -> None:
        self.walk, self.scene = walk, walk.scene

    def made_by(self, node: str) -> str:
        """The tensor that a node belongs to."""
        state, place = self.walk.nodes[node], self.scene.by_node.get(node)
        tensor = state.variable or (place.states[0].id if place is not None else None)
        known = label(self.scene, tensor)
        return self.name(node) if known == "…" else known

    def name(self, node: str) -> str:
        """The node's own name."""
        return clean(self.walk.nodes[node].name)

    def input(self, arrow: Arrow) -> str:
        """The tensor that an arrow leads to."""
        edge = self.walk.nodes[arrow[0]].edges[arrow[1]]
        return self.made_by(edge[0]) if edge is not None and edge[0] in self.walk.nodes else "…"

    def both(self, arrow: Arrow) -> dict[str, Any]:
        """What most hints say: the node, its tensor, and the tensor that it sends a gradient to."""
        return {"node": self.name(arrow[0]), "at": self.made_by(arrow[0]), "to": self.input(arrow)}

    def sizes(self, arrow: Arrow) -> dict[str, Any]:
        """The shapes on both sides of a node."""
        way = self.walk.way(*arrow)
        place = self.scene.by_node.get(arrow[0])
        value = place.states[0].value if place is not None else None
        return {"small": way.shape if way else "?", "large": value.shape if value else "?"}
