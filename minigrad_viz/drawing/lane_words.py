"""What the lane of updates says in words, and which of its lines are shown."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ..model.updates import about
from ..numbers import short
from ..protocol import Value
from ..trace.graph import Change, Graph, Update
from ..words import clean, shorten, text

LINES = 8  # lines of one update, and updates of a lane, that are shown
NAME, SOURCE, BRIEF, GONE = 20, 70, 30, 18  # columns
TOLD = 30  # columns of a value in words


def aside_text(graph: Graph, lang: str | None) -> str:
    """What the picture leaves out, in words; "" if that is nothing."""
    told = ", ".join(f"{text(key, lang)} {n}" for key, n in graph.aside)
    said = [text("aside", lang, counts=told)] if told else []
    said += [text("counted", lang, n=f"{graph.counted:,}")] if graph.counted else []
    said += [text("passed", lang, n=f"{graph.passed:,}")] if graph.passed else []
    said += [text("light", lang, n=f"{graph.light:,}")] if graph.light else []
    return " ".join(said)


def shown_lines(update: Update) -> tuple[Sequence[Change], int]:
    """The lines of an update that are shown, those that change most, in their order; how many are not."""
    if len(update.changes) <= LINES:
        return update.changes, 0
    largest = sorted(update.changes, key=size_of, reverse=True)[:LINES]
    chosen = {change.id for change in largest}
    return [c for c in update.changes if c.id in chosen], len(update.changes) - LINES


def size_of(change: Change) -> float:
    """By how much a tensor changed at most, as far as that is known."""
    before, after, moved = change.before, change.after, moves(change)
    if before is None or after is None:
        return 0.0
    if moved:
        return max((m for m in moved if m == m), default=0.0)
    ends = (before.low, before.high, after.low, after.high)
    return inf if None in ends else abs(after.low - before.low) + abs(after.high - before.high)  # type: ignore[operator]


def moves(change: Change) -> list[float]:
    """By how much each number of a tensor changed; empty where that is not known."""
    before, after = (value and value.items for value in (change.before, change.after))
    known = before and after and len(before) == len(after)
    return [abs(b - a) for a, b in zip(before or (), after or ())] if known else []


def written(value: Value | None) -> str:
    """A value of the lane in words."""
    return "None" if value is None else short(value, TOLD)


def update_lines(graph: Graph, lang: str | None) -> list[str]:
    """The lane in words, for the outline."""
    lines = []
    for update in graph.updates[:LINES]:
        head = [clean(update.title), *filter(None, [about(update)])]
        lines.append("   ".join(["→ " + shorten(head[0], SOURCE), *head[1:]]))
        chosen, more = shown_lines(update)
        lines += [f"  {clean(c.name)}: {written(c.before)} → {written(c.after)}" for c in chosen]
        if more:
            lines.append("  " + text("update_more", lang, n=more))
    if len(graph.updates) > LINES:
        lines.append(text("updates_more", lang, n=len(graph.updates) - LINES))
    return lines
