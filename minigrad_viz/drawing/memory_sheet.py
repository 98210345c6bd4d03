"""The memory that a graph holds, as a sheet; of a recorded cell, and of a graph that is at hand."""

from __future__ import annotations

import sys
from typing import Any

from ..model.memory import (
    LEAF,
    NOTHING,
    OWN,
    SHARED,
    UNKNOWN,
    CallMemory,
    Item,
    Memory,
    memory_of_nodes,
    memory_of_scenes,
)
from ..model.scene import Scenes
from ..numbers import short
from ..protocol import Value
from ..trace.events import Created
from ..trace.walk import trace_of
from ..words import shorten, text
from .sheets import Cell, Row, Sheet

ITEMS, MOMENTS = 40, 5  # of more, those in the middle, and the first, are left out
SOURCE, NAME, AMOUNT = 36, 28, 18  # columns
WALKED = 100_000  # nodes of a graph whose memory is asked for
HEADS = ("held_node", "held_at", "held_saved", "version_label", "held_bytes")
ELSEWHERE = {LEAF: "held_leaf", SHARED: "held_shared", UNKNOWN: "held_unknown"}  # not counted where it stands
MODES = {"no_grad": "no_grad()", "inference": "inference_mode()"}


class MemorySheet(Sheet):
    """What the graph keeps for backward; `held` are its bytes, `leaves` those of the leaves among what it
    saved, and `memory` has all of it as data."""

    def __init__(self, memory: Memory, lang: str | None = None) -> None:
        self.memory, self.held, self.leaves = memory, memory.held, memory.leaves
        shown = memory.shown[-MOMENTS:]
        skip = len(memory.shown) - len(shown)
        heads = [text(key, lang) for key in HEADS]
        heads += [text("table_after", lang, call="backward", n=call) for call in shown]
        items = list(memory.items)
        if len(items) > ITEMS:
            items = items[: ITEMS // 2] + items[-ITEMS // 2 :]
        groups: list[list[Row]] = []
        last = None
        for item in items:
            if item.node != last:
                groups.append([])
            groups[-1].append(row_of(item if item.node != last else item._replace(at=""), skip, lang))
            last = item.node
        if groups:
            groups.append([sum_row(memory, skip, lang)])
        notes = notes_of(memory, len(memory.items) - len(items), lang) or [text("held_none", lang)]
        super().__init__(text("held_title", lang), heads, groups, notes, lang)


def row_of(item: Item, skip: int, lang: str | None) -> Row:
    """One saved value."""
    saved = item.saved
    if saved is None:
        what, version = Cell(text("held_nothing", lang), "s"), ""
    else:
        value = saved.packed or (
            short(saved.value, AMOUNT) if isinstance(saved.value, Value) else saved.value
        )
        told = saved.name if value is None else f"{saved.name} = {value}"
        counts = saved.version is not None and item.kind != NOTHING
        what, version = Cell(shorten(told, SOURCE)), str(saved.version) if counts else ""
    size = f"{item.bytes:,}"
    if item.kind in ELSEWHERE:
        size = text(ELSEWHERE[item.kind], lang, n=f"{(saved.nbytes or 0) if saved else 0:,}")
    first = Cell(item.name), Cell(shorten(item.at, NAME), "a"), what, Cell(version, "a"), Cell(size)
    gone = text("held_freed", lang)
    after = (Cell(size, then=gone) if over else Cell(size) for over in item.gone[skip:])
    blank = (Cell("0", "s") for _ in item.gone[skip:])
    return *first, *(after if item.kind == OWN else blank)


def sum_row(memory: Memory, skip: int, lang: str | None) -> Row:
    """What all values come to."""
    left = [
        sum(item.bytes for item in memory.items if not item.gone[i]) for i in range(skip, len(memory.shown))
    ]
    total = Cell(f"{memory.held:,}", "b")
    return Cell(text("held_sum", lang)), Cell(), Cell(), Cell(), total, *(Cell(f"{n:,}", "b") for n in left)


def notes_of(memory: Memory, left_out: int, lang: str | None) -> list[str]:
    """What stands below the table."""
    notes = [text("held_left_out", lang, n=left_out)] if left_out else []
    notes += [moment_text(moment, lang) for moment in memory.moments[-MOMENTS:]]
    if memory.items and not memory.moments:
        notes.append(text("held_now", lang, n=f"{memory.held:,}"))
    if memory.leaves:
        notes.append(text("held_leaves", lang, n=f"{memory.leaves:,}"))
    if memory.rest:
        notes.append(text("held_rest", lang, n=f"{memory.rest:,}"))
    for off in memory.unrecorded:
        names = shorten(", ".join(off.texts[-2:]), SOURCE * 2)
        n = "" if off.would is None else f"{off.would:,}"
        notes.append(text("held_no_grad", lang, mode=MODES[off.mode], names=names, n=n))
    return notes


def moment_text(moment: CallMemory, lang: str | None) -> str:
    """One backward call."""
    key = "held_kept" if moment.after == moment.before > 0 else "held_moment"
    return text(key, lang, n=moment.call, before=f"{moment.before:,}", after=f"{moment.after:,}")


def memory_sheet(scenes: Scenes, lang: str | None = None) -> MemorySheet:
    """The memory of a recorded cell."""
    return MemorySheet(memory_of_scenes(scenes), lang)


def memory(*roots: Any, names: dict[str, Any] | None = None, lang: str | None = None) -> MemorySheet:
    """What the graph of the tensors `roots` (minigrad's or PyTorch's) holds now for their backward, in bytes.

    `names` maps variable names to tensors (default: the caller's variables). The result shows a table;
    `.held` is the sum. TypeError for anything that is no tensor.
    """
    if names is None:
        frame = sys._getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    if not roots:
        return MemorySheet(memory_of_nodes((), {}), lang)
    trace = trace_of(list(roots), names, WALKED, "memory() tells what the graph of tensors holds")
    named = dict(trace.names)
    tensors = (event.tensor for event in trace.events if isinstance(event, Created))
    made = {t.node: named.get(t.id, "") for t in tensors if t.node is not None}
    return MemorySheet(memory_of_nodes(trace.nodes, made), lang)
