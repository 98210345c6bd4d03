"""Vjps of PyTorch's nodes that minigrad's ops do not leave, for their formulas alone.

They are written like those of minigrad, with PyTorch's names of inputs and saved values, in the order of
`next_functions`. Each result is compared with the recorded gradient, so a wrong formula would never be shown.
For `cat` and `stack`, which join many tensors, a vjp receives the `position` of one tensor, and for `cat`
also its `offset`.
"""

from __future__ import annotations

from typing import Any

from minigrad.observing import F

Table = dict[str, tuple[bool, dict[str, Any]]]


def part(g: Any, tensors_sym_sizes: Any, dim: int, offset: int) -> Any:
    """What of a gradient belongs to one of several tensors that were joined."""
    dim = wrapped(dim, len(tensors_sym_sizes))
    return F.slice(g, dim, offset, offset + tensors_sym_sizes[dim], 1)


def wrapped(dim: int, n: int) -> int:
    """A dimension counted from the front; PyTorch notes -1 as the largest unsigned integer."""
    return (dim - 2**64 if dim >= 2**63 else dim) % n


BORROWED: Table = {
    "CatBackward0": (False, {"tensors": part}),
    "StackBackward0": (False, {
        "tensors": lambda g, tensors_sym_sizes, dim, position: F.select(
            g, wrapped(dim, len(tensors_sym_sizes) + 1), position
        ),
    }),
}  # fmt: skip
