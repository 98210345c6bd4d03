"""Which tensors of a picture use the same memory, and how that is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..trace.graph import Card, Graph
from ..words import clean, shorten, text

LETTERS = 26


class SharedMemory(NamedTuple):
    """A memory that several tensors use: its `sign`, a letter of its own in the picture, and the name of the
    tensor to which it belongs ("" for that tensor itself, and where it is not in the picture)."""

    sign: str
    owner: str


def memories_of(graph: Graph, names: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], SharedMemory]:
    """The shared memory of each card that has one, by station id and position: those that use another
    tensor's, and those whose own is used."""
    shared = dict.fromkeys(card.shares for _, card in graph.cards() if card.shares)
    signs = {owner: chr(65 + i) if i < LETTERS else str(i + 1) for i, owner in enumerate(shared)}
    places = [(s.id, i, card) for s in graph.stations for i, card in enumerate(s.cards)]
    called = {card.id: names[id, i] for id, i, card in places}
    found = {}
    for id, i, card in places:
        owner = card.shares or card.id
        if owner in signs:
            found[id, i] = SharedMemory(signs[owner], called.get(card.shares, ""))
    return found


def memory_words(card: Card, memory: SharedMemory, lang: str | None, width: int = 14) -> str:
    """Whose memory a tensor uses, and its version where it was written to."""
    name = shorten(clean(memory.owner), width)
    if not name:
        key = "shared_memory_version" if card.version else "shared_memory"
        return text(key, lang, version=card.version)
    key = "memory_of_version" if card.version else "memory_of"
    return text(key, lang, name=name, version=card.version)
