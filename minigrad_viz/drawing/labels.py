"""What the picture calls a role, a row of a station, a cut and a mode: the catalogue's keys, by the name that
the graph has for it."""

from __future__ import annotations

from ..words import text

ROLES = {
    "leaf": "role_leaf",
    "parameter": "role_parameter",
    "constant": "role_constant",
    "result": "role_result",
    "root": "role_root",
}
# Rows that are named in words; the others are attributes and bear their names in every language.
ROWS = {"role": "row_role", "value": "row_value", "tangent": "tangent", "returned": "row_returned"}
CUTS = {
    "detach": "cut_detach",
    "data": "cut_data",
    "no_grad": "cut_no_grad",
    "inference": "cut_inference",
    "numpy": "cut_numpy",
    "item": "cut_item",
    "tensor": "cut_tensor",
    "integer": "cut_integer",
}
FOGS = {"no_grad": "fog_no_grad", "inference": "fog_inference"}


def row_label(name: str, lang: str | None) -> str:
    """The label of a row."""
    return text(ROWS[name], lang) if name in ROWS else "_version" if name == "version" else name
