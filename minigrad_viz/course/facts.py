"""`table`: what autograd knows about tensors, in columns."""

from __future__ import annotations

from typing import Any

from ..protocol import is_tensor, node_name
from ..silence import silence
from ..sources.unseen import unseen
from ..words import columns

FACTS = ("requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad")


def table(**tensors: Any) -> None:
    """Print a column for each tensor, under its name: its value and the five attributes that autograd reads.

    Works for minigrad's tensors and PyTorch's. Something else, such as a `.grad` that is None, has its text
    for a value, and None for every attribute. The `grad` of a tensor without dimensions is printed as a
    number with all its digits.
    """
    print("\n".join(unseen(lambda: lines(tensors))))


def lines(tensors: dict[str, Any]) -> list[str]:
    head = ["", "value", *FACTS]
    body = [[name, *facts(tensor)] for name, tensor in tensors.items()]
    widths = [max(map(columns, column)) for column in (head, *body)]
    rows = zip(head, *body)
    return [
        "  ".join(cell + " " * (w - columns(cell)) for cell, w in zip(row, widths)).rstrip() for row in rows
    ]


def facts(tensor: Any) -> list[str]:
    if not is_tensor(tensor):
        return [str(tensor)] + ["None"] * len(FACTS)
    with silence():  # PyTorch warns where the .grad of a result is read, which is the point here
        values = {name: getattr(tensor, name, None) for name in FACTS}
    if values["grad_fn"] is not None:
        values["grad_fn"] = node_name(values["grad_fn"])
    return [one_line(str(tensor.detach())), *map(one_line, values.values())]


def one_line(value: Any) -> str:
    return " ".join(f"{value}".split())
