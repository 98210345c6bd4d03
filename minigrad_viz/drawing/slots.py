"""The slots of a lower deck, in which the gradients of several arrows meet."""

from __future__ import annotations

from typing import NamedTuple

from ..numbers import pill, shape_text, short
from ..protocol import Value
from ..trace.graph import Card, Graph, Route
from ..words import columns
from .look import NODE
from .style import num

SLOTS, SLOT = 4, 9  # of more slots the last are counted; columns of what is written in one
PLUS = 18.0  # pixels from a slot to the next


class GradSlot(NamedTuple):
    """A place for a gradient that comes over `route` ("": what `.grad` held before): what came, "" so far."""

    route: str
    text: str

    @property
    def width(self) -> float:
        """Pixels that it takes."""
        return max(columns(self.text) * NODE + 12, 26.0)


def count_text(count: str, right: float, top: float) -> str:
    """How many gradients have come, at the right of the node's name."""
    return f'<text class="met" x="{num(right)}" y="{num(top + 17)}">{count}</text>'


def gradient_routes(graph: Graph) -> dict[str, list[Route]]:
    """By station id, the routes over which its gradients come."""
    coming: dict[str, list[Route]] = {}
    for route in graph.routes:
        if route.tracked:
            coming.setdefault(route.source, []).append(route)
    return coming


def slots_of(graph: Graph) -> dict[str, tuple[GradSlot, ...]]:
    """By station id, the slots of its gradients where several meet, in the order in which they usually come:
    the newest node sends first."""
    folds = {fold.station for fold in graph.folds}
    coming, found = gradient_routes(graph), {}
    for s in graph.stations:
        routes = coming.get(s.id, [])
        if s.deck is None or s.deck.skipped or len(s.cards) > 1 or s.id in folds:
            continue
        old = s.cards[0].before
        before = () if old is None or not any(old.items or (1,)) else (GradSlot("", slot_text(old)),)
        if len(routes) > 1 or (routes and before):
            came = (
                GradSlot(r.id, slot_text(r.gradients[-1]) if r.gradients else "") for r in reversed(routes)
            )
            found[s.id] = (*before, *came)
    return found


def slot_text(value: Value) -> str:
    """A gradient in a slot: its number, or its sizes."""
    lines = pill(value)
    return lines[0] if len(lines) == 1 and columns(lines[0]) <= SLOT else shape_text(value)


def total_of(card: Card) -> str:
    """The sum of the gradients that met, where the card does not tell it."""
    if card.grad is None or card.grad_kept or card.is_leaf or card.grad.size != 1:
        return ""
    said = short(card.grad)
    return said if columns(said) <= SLOT else ""
