"""Matrices along the diagonal of one matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import F, differentiable


def blocks(g: Any, sizes: list[tuple[int, ...]], kinds: list[Any]) -> list[Any]:
    """The parts of `g` where the matrices are, each in the shape of its tensor."""
    parts, row, column = [], 0, 0
    for size, kind in zip(sizes, kinds, strict=True):
        rows, columns = (1, 1, *size)[-2:]
        part = F.slice(F.slice(g, 0, row, row + rows, 1), 1, column, column + columns, 1)
        part = part if kind.kind == "c" else F.real(part)
        for _ in range(2 - len(size)):
            part = F.squeeze_dim(part, -1)
        parts.append(F.sum_to(part, size) if len(part.shape) > len(size) else part)
        row, column = row + rows, column + columns
    return parts


@differentiable(
    tensors=lambda g, tensors_sym_sizes, tensors_scalar_type: blocks(
        g, tensors_sym_sizes, tensors_scalar_type
    ),
    listed=True,
    linear=True,
)
def block_diag(tensors):
    """A matrix with the tensors along its diagonal, vectors as rows; else zeros."""
    for i, t in enumerate(tensors):
        if t.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.ndim} "
                "dimensions"
            )
    matrices = [np.atleast_2d(t) for t in tensors]
    rows, columns = (sum(m.shape[i] for m in matrices) for i in (0, 1))
    whole = np.zeros((rows, columns), matrices[0].dtype)
    row = column = 0
    for m in matrices:
        whole[row : row + m.shape[0], column : column + m.shape[1]] = m
        row, column = row + m.shape[0], column + m.shape[1]
    return whole
