"""The rows of a closed box that tell of the parameters inside it."""

from __future__ import annotations

from dataclasses import replace

from ..numbers import short
from ..protocol import Value
from ..trace.graph import Fold
from ..words import columns, sans, shorten_name, text
from . import labels
from .cards import CardRow
from .heat import GRADIENTS, VALUES, Heat, heat_of
from .look import MONO, Look

INSIDE = 6  # parameters of a closed box that are shown
CELL = 18  # columns of a value beside another


def parameter_rows(fold: Fold, look: Look) -> list[CardRow]:
    """The parameters inside a closed box, each with its gradient beside it."""
    if not fold.parameters or not look.values:
        return []
    drafts = [
        (name, _cell(card.value, VALUES, look.lang), _cell(card.grad, GRADIENTS, look.lang))
        for name, card in fold.parameters[:INSIDE]
    ]
    beside = (
        max([*(_across(value) for _, value, _ in drafts), sans(labels.row_label("value", look.lang))]) + 14
    )
    made = [CardRow("inside", "", (_head(look.lang, beside),), "gone")]
    for i, (name, value, grad) in enumerate(drafts):
        line, heats = _beside(value, grad, beside)
        made.append(CardRow(f"p{i}", shorten_name(name, 16), (line,) if line else (), heats=heats))
    more = len(fold.parameters) - INSIDE
    if more > 0:
        made.append(CardRow("more", "", (text("update_more", look.lang, n=more),), "gone"))
    return made


def _head(lang: str | None, beside: float) -> str:
    """The line above the values and the gradients of parameters."""
    value = labels.row_label("value", lang)
    return value + " " * max(2, round(beside / MONO) - columns(value)) + labels.row_label("grad", lang)


def _cell(value: Value | None, of: str, lang: str | None) -> Heat | str:
    """A value beside others: its map, or a few words."""
    return heat_of(value, of, few=1) or ("None" if value is None else short(value, CELL))


def _across(cell: Heat | str) -> float:
    """How wide a value beside others is."""
    return columns(cell) * MONO if isinstance(cell, str) else cell.width


def _beside(value: Heat | str, grad: Heat | str, beside: float) -> tuple[str, tuple[Heat, ...]]:
    """What is written of two values that stand beside each other, and the maps among them."""
    heats = []
    line = value if isinstance(value, str) else ""
    if isinstance(value, Heat):
        heats.append(value)
    if isinstance(grad, Heat):
        heats.append(replace(grad, x=beside))
    else:
        line += " " * max(0, round(beside / MONO) - columns(line)) + grad
    return line, tuple(heats)
