"""Vjps of PyTorch's nodes that minigrad's ops do not leave, for their formulas alone.

They are written as those of minigrad are, with PyTorch's names of inputs and saved values, in the order of
`next_functions`. Nothing is computed by them but what is then compared with the recorded gradient: one that
were wrong would never be shown. Of the many tensors that `cat` and `stack` join, a vjp is told the `position`
and, for `cat`, the `offset` of the one that is meant.
"""

from __future__ import annotations

from math import prod
from typing import Any

from minigrad.op import F

Table = dict[str, tuple[bool, dict[str, Any]]]


def scaled(g: Any, factor: Any) -> Any:
    """`factor · g`, without a step when the factor is 1."""
    return g if factor == 1 else g * factor


def mse_loss(g: Any, self: Any, target: Any, reduction: int) -> Any:
    """`2·(x − t)/n ⊙ ȳ`, without n unless the mean was taken (`reduction` 1)."""
    slope = F.mul_scalar(self - target, 2)
    return g * (F.div_scalar(slope, prod(self.shape)) if reduction == 1 else slope)


def part(g: Any, tensors_sym_sizes: Any, dim: int, offset: int) -> Any:
    """What of a gradient belongs to one of several tensors that were joined."""
    dim = wrapped(dim, len(tensors_sym_sizes))
    return F.slice(g, dim, offset, offset + tensors_sym_sizes[dim], 1)


def wrapped(dim: int, n: int) -> int:
    """A dimension counted from the front; PyTorch notes -1 as the largest unsigned integer."""
    return (dim - 2**64 if dim >= 2**63 else dim) % n


BORROWED: Table = {
    "AddmmBackward0": (False, {
        "self": lambda g, self_sym_sizes, beta: scaled(F.sum_to(g, self_sym_sizes), beta),
        "mat1": lambda g, mat2, alpha: scaled(F.mm(g, F.t(mat2)), alpha),
        "mat2": lambda g, mat1, alpha: scaled(F.mm(F.t(mat1), g), alpha),
    }),
    "CatBackward0": (False, {"tensors": part}),
    "StackBackward0": (False, {
        "tensors": lambda g, tensors_sym_sizes, dim, position: F.select(
            g, wrapped(dim, len(tensors_sym_sizes) + 1), position
        ),
    }),
    "MseLossBackward0": (False, {
        "self": mse_loss,
        "target": lambda g, self, target, reduction: -mse_loss(g, self, target, reduction),
    }),
    "LeakyReluBackward0": (True, {
        "self": lambda g, self, negative_slope: F.where(F.gt(self, 0), g, g * negative_slope),
    }),
}  # fmt: skip
