"""What is shown of each station, the measures that its parts share, and what they are called: the catalogue's
keys, by the name that the graph has for a role, a row, a cut and a mode.

Widths are estimated, because no font is available where the picture is laid out. A column of the monospace
stack is never wider than 0.602 em, and the estimate leaves room to spare.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..trace.graph import Card
from ..words import language, text

DETAILS, SAVED = ("normal", "full"), ("some", "all", "none")

PAD, CHIP = 9, 17  # pixels around a text; the height of a chip and of a hook's sign
HEAD, LINE, MORE = 24, 21, 16  # the head of a card, one of its rows, each further line of a row
MONO, NAME, NODE, SMALL = (
    7.3,
    7.9,
    7.0,
    6.7,
)  # pixels a column: rows 12px, names 13px, nodes 11.5px, chips 11px
NARROWEST, WIDEST, CLOSE, CLOSEST = 84, 250, 216, 184  # a station; at most, and where there is little room


@dataclass(frozen=True, slots=True)
class Look:
    """What is shown of each station. `detail` is "normal" or "full"; `values` tells whether values and
    gradients are written; of `saved` values "some" are shown (as many as fit well), "all" (in full, with
    their versions and bytes) or "none". Texts are cut so that no station is wider than `widest`, unless its
    saved values are to be read in full. The tensors `sliders`, by id, have a row for one, and all numbers
    then have room for another beside them."""

    detail: str = "normal"
    values: bool = True
    saved: str = "some"
    lang: str | None = None
    widest: int = WIDEST
    sliders: frozenset[str] = frozenset()


def settled(look: Look | None) -> Look:
    """A look whose language is decided: a picture has thousands of words, and to find out for each takes
    long."""
    look = look or Look()
    return look if look.lang else replace(look, lang=language())


def even(width: float) -> float:
    """Widths come in steps of 4, so that nearly equal ones are equal."""
    return -(-width // 4) * 4.0


ROLE_WORDS = {
    "leaf": "role_leaf",
    "parameter": "role_parameter",
    "constant": "role_constant",
    "result": "role_result",
    "root": "role_root",
}
# Rows that are named in words; the others are attributes and bear their names in every language.
ROW_WORDS = {"role": "row_role", "value": "row_value", "tangent": "tangent", "returned": "row_returned"}
CUT_WORDS = {
    "detach": "cut_detach",
    "data": "cut_data",
    "no_grad": "cut_no_grad",
    "inference": "cut_inference",
    "numpy": "cut_numpy",
    "item": "cut_item",
    "tensor": "cut_tensor",
    "integer": "cut_integer",
}


def whole_label(card: Card, lang: str | None) -> str:
    """What to say of a tensor that a call made which stands as a whole; "" for any other."""
    if card.compiled:
        return text("role_compiled", lang)
    return text("role_counted", lang, n=card.counted) if card.counted else ""


FOG_WORDS = {"no_grad": "fog_no_grad", "inference": "fog_inference"}


def row_label(name: str, lang: str | None) -> str:
    """The label of a row."""
    return text(ROW_WORDS[name], lang) if name in ROW_WORDS else "_version" if name == "version" else name
