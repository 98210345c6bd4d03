"""The rows of a closed box that tell of the parameters inside it."""

from __future__ import annotations

from dataclasses import replace

from ..numbers import short
from ..protocol import Value
from ..trace.graph import Fold
from ..words import columns, sans, shorten_name, text
from . import labels
from .cards import CardRow, with_others
from .heat import GRADIENTS, VALUES, Heat, across, heat_of
from .look import MONO, Look

INSIDE = 6  # parameters of a closed box that are shown
CELL = 18  # columns of a value beside another


def parameter_rows(fold: Fold, look: Look) -> list[CardRow]:
    """The parameters inside a closed box, each with its gradient beside it."""
    if not fold.parameters or not look.values:
        return []
    shown = fold.parameters[:INSIDE]
    values = [value for _, card in shown for value, _ in ((card.value, card.grad), *card.stood)]
    head = sans(labels.row_label("value", look.lang))
    beside = max([head, *(across(_cell(value, VALUES)) for value in values)]) + 14
    made = [CardRow("inside", "", (_head(look.lang, beside),), "gone")]
    for i, (name, card) in enumerate(shown):
        moments = (_parameter(i, name, value, grad, beside) for value, grad in card.stood)
        made.append(with_others(_parameter(i, name, card.value, card.grad, beside), list(moments)))
    more = len(fold.parameters) - INSIDE
    if more > 0:
        made.append(CardRow("more", "", (text("update_more", look.lang, n=more),), "gone"))
    return made


def _parameter(i: int, name: str, value: Value | None, grad: Value | None, beside: float) -> CardRow:
    """The row of the `i`th parameter at one moment."""
    line, heats = _beside(_cell(value, VALUES), _cell(grad, GRADIENTS), beside)
    return CardRow(f"p{i}", shorten_name(name, 16), (line,) if line else (), heats=heats)


def _head(lang: str | None, beside: float) -> str:
    """The line above the values and the gradients of parameters."""
    value = labels.row_label("value", lang)
    return value + " " * max(2, round(beside / MONO) - columns(value)) + labels.row_label("grad", lang)


def _cell(value: Value | None, of: str) -> Heat | str:
    """A value beside others: its map, or a few words."""
    return heat_of(value, of) or ("None" if value is None else short(value, CELL))


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
