"""By which events tensors came to be, and what they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..trace.events import Created, Detached, Forward, Gave, Left, Mutated, TensorState, Trace
from ..trace.walk import reached

NUMBERS = 64  # that left the graph and went into no tensor yet
Birth = Created | Forward | Detached | Left | Mutated


def numbers_taken(trace: Trace) -> dict[int, list[str]]:
    """By the id of an event, the tensors whose numbers stand in its expression, as x in `2 * math.log(x)`,
    and in that of no earlier event."""
    found: dict[int, list[str]] = {}
    given: list[Gave] = []
    for event in trace.events:
        if isinstance(event, Gave):
            given.append(event)
        elif isinstance(event, Birth) and event.span is not None:
            mine = [each for each in given if each.span is not None and event.span.holds(each.span)]
            found[id(event)] = [each.tensor for each in mine]
            given = [each for each in given if each not in mine][-NUMBERS:]
    return found


def came_from(event: Birth) -> list[str]:
    """The tensors that a tensor was computed from."""
    if isinstance(event, Created):
        return []
    if isinstance(event, Left):
        return list(event.sources)
    ids = (event.source,) if isinstance(event, Detached) else event.inputs
    return [id for id in ids if id is not None and id != "…"]


def upstream(
    born: dict[str, Birth], roots: Iterable[str], through: Callable[[Birth], bool] = lambda event: True
) -> Iterator[tuple[str, Birth | None]]:
    """Some tensors and all that they were computed from `through` events, nearest first, each once and with
    its event."""

    def sources(id: str) -> list[str]:
        event = born.get(id)
        return came_from(event) if event is not None and through(event) else []

    return ((id, born.get(id)) for id in reached(roots, sources))


def sources_of(born: dict[str, Birth], root: str) -> set[str]:
    """All tensors that a tensor was computed from, itself included."""
    return {id for id, _ in upstream(born, [root])}


def made_by(event: Any) -> tuple[TensorState, ...]:
    """The tensors that came to be by an event."""
    return event.born() if hasattr(event, "born") else ()


def by_number(ids: Iterable[str]) -> list[str]:
    """The ids of tensors, the oldest first: they are numbered as they come up."""
    return sorted(ids, key=lambda id: int(id[1:]))
