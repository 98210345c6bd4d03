"""Leaving out what belongs to the first backward calls of a cell with many, as the cell runs."""

from __future__ import annotations

from typing import Any

from ..trace.events import Asked, Created, Detached, Left, Mutated, Snapshot
from ..trace.ids import Ids

KEPT_CALLS = 20
KEPT_NOTES = 10_000  # of all calls that are kept, but for `FEWEST` of them
FEWEST = 2


def prune(noted: list[Any], cut: int, ids: Ids, alive: set[str]) -> tuple[list[Any], set[Any]]:
    """The notes without those before `cut` that nothing later needs, and the keys of the nodes in them.

    What made a tensor stays as long as a later note, or one that stays, refers to it, or it is among the
    `alive`, which variables name; so does the last write into it.
    """
    needed, written, made = set(alive), set[str](), set[str]()
    kept: list[Any] = []
    frozen: set[Any] = set()
    statement = False  # whether something of the statement that is being read stays
    for i in range(len(noted) - 1, -1, -1):
        note = noted[i]
        gives, uses = relations(note, ids, frozen if i >= cut else None)
        stays = i >= cut or not needed.isdisjoint(gives)
        if stays and i < cut and gives[0] in uses:  # written into, without a new history
            stays = gives[0] not in written
            written.add(gives[0])
        if not gives and i < cut:
            stays = statement and is_place(note)
        statement = (statement or stays) and not is_place(note)
        if i < cut and note.__class__ is tuple and note[0] in ("called", "returned"):
            stays = note[0] == "returned" or not kept or kept[-1][:2] != ("returned", note[1])
            if not stays:
                kept.pop()  # nothing of what ran inside stays
        if stays:
            needed.update(uses)
            made.update(gives)
            kept.append(note)
    kept.reverse()
    ids.keep(made)
    return [named(note, made) for note in kept], frozen


def relations(note: Any, ids: Ids, frozen: set[Any] | None) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The tensors that a note brings in, and those it refers to (among other things). Notes of calls add
    their nodes to `frozen`, if they stay."""
    match note:
        case Created() | Asked():
            return (note.tensor.id,), ()
        case Detached():
            return (note.tensor.id,), () if note.source == note.tensor.id else (note.source,)
        case Left():
            return (note.tensor.id,), note.sources
        case Mutated():
            return (note.tensor.id,), (note.before, *note.inputs)
        case ("ran", _, _, _, _, sent_ids) if frozen is not None:
            return (), sent_ids or ()
        case ("forward", _, given, rows, *_):
            return tuple(row[0] for row in rows), given
        case ("started", started, nodes) if frozen is not None:
            frozen.update(row[0] for row in nodes)
            made = (ids.outputs.get(row[0]) for row in nodes)
            leaves = (getattr(row[2], "variable", None) for row in nodes)
            return (), (*started.roots, *started.gradient_ids, *(started.wanted or ()), *made, *leaves)
        case ("ended", event, _) if frozen is not None:
            return (), tuple(id for id, _ in event.captured)
    return (), ()


def is_place(note: Any) -> bool:
    """Whether a note says where in the source the cell has come."""
    return note.__class__ is tuple and note[0] == "reached"


def named(note: Any, made: set[str]) -> Any:
    """A note of named tensors, or of a module, without the tensors that are left out."""
    match note:
        case Snapshot():
            return note._replace(rows=tuple(row for row in note.rows if row[1].id in made))
        case ("called", number, known, place, inputs):
            return "called", number, known, place, tuple(id for id in inputs if id in made)
        case ("returned", number, outputs, own):
            left = tuple(id for id in outputs if id in made)
            return "returned", number, left, tuple(p for p in own if p[1] in made)
    return note
