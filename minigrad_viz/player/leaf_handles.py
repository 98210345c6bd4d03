"""The handles of a picture: which of its leaves can be changed, and what stands there of one."""

from __future__ import annotations

from typing import Any

from ..numbers import number
from ..protocol import Value, finite
from ..replay.live import Handle, Live
from ..trace.graph import ROOT, Card, Graph


def handles_in(live: Live, graph: Graph) -> list[Handle]:
    """The handles of leaves that a picture shows, as long as they have the cell's number there."""
    found = []
    for handle in live.handles.values():
        card = next((c for _, c in graph.cards() if c.id == handle.id and c.is_leaf), None)
        if card is not None and item(card.value, handle) == handle.value:
            found.append(handle)
    return found


def card_of(graph: Graph, handle: Handle) -> tuple[str, Card]:
    """The leaf of a handle in a picture, with its id there."""
    for station in graph.stations:
        for i, card in enumerate(station.cards):
            if card.id == handle.id:
                return f"{station.id}-c{i}", card
    raise KeyError(handle.name)


def root_of(graph: Graph) -> Card | None:
    """The root of a picture, if it is one number."""
    roots = [card for _, card in graph.cards() if card.role == ROOT]
    return roots[0] if len(roots) == 1 and roots[0].value is not None and roots[0].value.size == 1 else None


def ends(graph: Graph, handle: Handle) -> list[Any]:
    """What stands in the table of a handle: the texts of its value, of the root and of its gradient; the root
    and the gradient as numbers (None: there is none)."""
    card, root = card_of(graph, handle)[1], root_of(graph)
    value, grad = item(card.value, handle), item(card.grad, handle)
    said = number(value, handle.dtype) if value is not None else ""
    slope = "None" if grad is None else number(grad, handle.dtype)
    found = None if root is None else root.value
    return [said, said_number(found), slope, finite(found), real(grad)]


def root_told(root: Card) -> list[Any]:
    """The root: what it is called, and its value as text and as a number."""
    return [root.name or root.letter or "", said_number(root.value), finite(root.value)]


def item(value: Value | None, handle: Handle) -> float | None:
    """The element of a value at the place of a handle."""
    if value is None or value.items is None:
        return None
    at = 0
    for size, index in zip(value.shape, handle.place, strict=True):
        at = at * size + index
    return float(value.items[at])


def real(value: float | None) -> float | None:
    """A number that JSON has."""
    return value if value is not None and abs(value) < float("inf") else None


def said_number(value: Value | None) -> str:
    """A single number as text."""
    return "" if value is None or not value.items else number(value.items[0], value.dtype)
