"""Histograms in several dimensions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import dtypes, return_types
from ..ops import counting
from ..ops.copies import C_NAMES
from ..ops.halves import not_implemented
from ..tensor_base import TensorBase, wrap


def in_c(data: Any) -> str:
    """The name of an array's dtype in C++."""
    return C_NAMES.get(data.dtype.name, data.dtype.name)


def check_edges(data: Any, edges: list[Any]) -> None:
    """RuntimeError with PyTorch's text for edges that do not fit."""
    for i, edge in enumerate(edges):
        if edge.dtype != data.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input "
                f"with dtype {in_c(data)} and bins for dimension {i} with dtype {in_c(edge)}"
            )
        if edge.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {edge.ndim} dimensions "
                f"in the bins tensor for dimension {i}"
            )
        if not edge.size:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the "
                f"bins tensor for dimension {i}"
            )


def check_weight(data: Any, weight: Any) -> None:
    """RuntimeError with PyTorch's text for weights that do not fit."""
    if weight.dtype != data.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the "
            f"same dtype, but got input({in_c(data)}), and weight({in_c(weight)})"
        )
    if weight.shape != data.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
            f"tensor excluding its innermost dimension, but got input with shape {list(data.shape)} and "
            f"weight with shape {list(weight.shape)}"
        )


def even_edges(rows: Any, bins: Any, range: Any) -> list[Any]:
    """The edges of equal bins in each dimension, over `range` or between the extremes."""
    k = rows.shape[1]
    if range is not None and len(range) != 2 * k:
        raise RuntimeError(
            f"torch.histogramdd: for a {k}-dimensional histogram range should have {2 * k} elements, but got "
            f"{len(range)}"
        )
    found: list[Any] = []
    for i, count in enumerate(bins):
        if count <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {i}")
        low, high = (0, 0 if len(rows) else 1) if range is None else range[2 * i : 2 * i + 2]
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
                f"dimension {i}"
            )
        low, high = counting.limits(rows[:, i], low, high, "torch.histogramdd", 0.5)
        found.append(np.linspace(low, high, count + 1, dtype=rows.dtype))
    return found


def sums(rows: Any, edges: list[Any], weight: Any) -> Any:
    """The number of rows, or the sum of their weights, in each bin."""
    shape = tuple(len(edge) - 1 for edge in edges)
    inside = np.ones(len(rows), bool)
    at: Any = 0
    for column, edge in zip(rows.T, edges):
        inside &= (column >= edge[0]) & (column <= edge[-1])
        at = at * (len(edge) - 1) + np.minimum(np.searchsorted(edge, column, "right") - 1, len(edge) - 2)
    kept = None if weight is None else weight.ravel()[inside]
    return np.bincount(at[inside], kept, prod(shape)).astype(rows.dtype).reshape(shape)


def histogramdd(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """The number of rows of `input` (…, n), or the sum of their weights, in the bins of an n-dimensional
    grid: `bins` is their number in each dimension, or their edges; and the edges (hist, bin_edges).
    """
    data = input._data
    if data.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    k = data.shape[-1]
    bins = [bins] * k if isinstance(bins, int) else list(bins)
    if len(bins) != k:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    rows = data.reshape((prod(data.shape[:-1]), k))
    given = all(isinstance(b, TensorBase) for b in bins)
    edges: list[Any] = [b._data for b in bins] if given else even_edges(rows, bins, range)
    check_edges(data, edges)
    if weight is not None:
        check_weight(data, weight._data)
    if data.dtype not in (np.float32, np.float64):
        raise not_implemented("histogramdd", dtypes.of(data))
    hist = sums(rows, edges, None if weight is None else weight._data)
    if density:
        hist = hist / hist.sum()
        for i, edge in enumerate(edges):
            hist = hist / np.diff(edge).reshape((-1, *(1,) * (k - 1 - i)))
    return return_types.histogramdd(wrap(hist), tuple(bins if given else map(wrap, edges)))
