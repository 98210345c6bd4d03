"""What notebooks use: `table`, what autograd knows about tensors, in columns; `get_tensor_info`, the same in
one line; `digits`, handwritten digits to learn from."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from ..isolation import silence
from ..protocol import is_tensor, node_name
from ..sources.pause import without_recording
from ..words import columns

# ─── `table`: what autograd knows about tensors, in columns


FACTS = ("requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad")


def table(**tensors: Any) -> None:
    """Print a column for each tensor, under its name: its value and the five attributes that autograd reads.

    Works for minigrad's tensors and PyTorch's. Something else, such as a `.grad` that is None, has its text
    for a value, and None for every attribute. The `grad` of a tensor without dimensions is printed as a
    number with all its digits.
    """
    print("\n".join(without_recording(lambda: lines(tensors))))


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


# ─── `get_tensor_info`: the same in one line


def get_tensor_info(tensor: Any) -> str:
    """Return what autograd knows about a tensor in one line, as the 22 codes of the course print it: the five
    attributes, then the tensor. What has no such attribute, such as None, gets None for it.
    """
    with silence():  # PyTorch warns where the .grad of a result is read, which is the point here
        info = [f"{name}({getattr(tensor, name, None)})" for name in FACTS]
    return " ".join([*info, f"tensor({tensor!s})"])


# ─── Handwritten digits to learn from


def digits() -> tuple[np.ndarray, np.ndarray]:
    """1,797 handwritten digits: images (1797, 8, 8), uint8 from 0 (paper) to 16 (ink), and labels, int64."""
    home = files(__package__).joinpath("data", "digits.npz")
    with home.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return stored["images"], stored["labels"].astype(np.int64)
