"""The order in which the stations of a picture stand."""

from __future__ import annotations

from .place import Lookup, Place


def arranged(found: Lookup) -> list[Place]:
    """Give the places of a trace ids `s0`, `s1`, … in program order, and return them so. What was there
    before the cell comes first, inputs before users."""
    older: dict[int, bool] = {}  # by identity of the place: whether it and all it came from were brought
    order: list[Place] = []
    for place in found.places:
        stack = [(place, False)] if place.brought else []
        while stack:
            current, left = stack.pop()
            sources = found.sources(current)
            if left:
                older[id(current)] = all(older.get(id(p), False) for p in sources)
                order.append(current)
            elif id(current) not in older:
                older[id(current)] = False
                stack.append((current, True))
                stack.extend((p, False) for p in reversed(sources) if p.brought)
    first = [p for p in order if older[id(p)]]
    places = first + [p for p in found.places if not older.get(id(p), False)]
    for i, place in enumerate(places):
        place.id = f"s{i}"
    return places
