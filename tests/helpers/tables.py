"""What `stepper_texts.js` makes of a table of texts, in Python."""

from __future__ import annotations

from typing import Any

from minigrad_viz.player.texts import pieces_of


def entry(told: Any, columns: list[str], i: int) -> str:
    """A stored text in the `i`th variant."""
    if isinstance(told, str):
        return told
    if isinstance(told, dict):
        return entry(told["forms"][told["at"][i]], columns, i)
    return "".join(columns[part].split(" ")[i] if isinstance(part, int) else part for part in told)


def variant(whole: Any, table: dict[str, Any], i: int) -> Any:
    """The `i`th variant of what a table was made of, from one of them."""

    def made(own: Any, different: Any) -> Any:
        if isinstance(different, list) or "forms" in different:
            return entry(different, table["columns"], i)
        if "values" in different:
            return different["values"][different["at"][i]]
        if isinstance(own, str):
            return "".join(made(pieces_of(own), different))
        if isinstance(own, list):
            return [
                made(part, different[str(n)]) if str(n) in different else part for n, part in enumerate(own)
            ]
        return {key: made(part, different[key]) if key in different else part for key, part in own.items()}

    return made(whole, table["texts"])
