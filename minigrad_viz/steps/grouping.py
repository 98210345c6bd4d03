"""Steps that a reader sees as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .story import BACKWARD, FORWARD, Step

LIMIT = 1000  # steps; if there are more, the middle ones become one step


def grouped(steps: Iterable[Step]) -> list[list[Step]]:
    """Steps in a row that one station stands for, together."""
    groups: list[list[Step]] = []
    for step in steps:
        last = groups[-1][0] if groups else None
        if last is not None and step.fold and (step.fold, step.phase) == (last.fold, last.phase):
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def limited(phases: Sequence[str], limit: int = LIMIT) -> list[list[int]]:
    """The places of steps of these phases, each alone, at most `limit` of them: of a phase with too many the
    places in its middle together.

    Each phase has half the room, and what the other leaves.
    """
    size = Counter(phases)
    result: list[list[int]] = []
    middle: dict[str, list[int]] = {}
    seen: Counter[str] = Counter()
    for place, phase in enumerate(phases):
        room = max(limit - size[BACKWARD if phase == FORWARD else FORWARD], limit // 2)
        head = room // 2
        seen[phase] += 1
        if size[phase] <= room or seen[phase] <= head or seen[phase] > size[phase] - (room - head - 1):
            result.append([place])
        elif phase in middle:
            middle[phase].append(place)
        else:
            middle[phase] = [place]
            result.append(middle[phase])
    return result
