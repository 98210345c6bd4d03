"""Sums at the places of a grid, in NumPy.

An element of the result is a weighted sum of elements of the input around its place, the taps:

    y = Σ w(place) x

where w is a product of weights, one for each dimension. The derivative with respect to a coordinate of the
place has the same form: the weights of that dimension are replaced by their derivative. `orders` has the
order of the derivative for each coordinate. So two sums suffice for every derivative: `seen_at` and its
transpose `spread_at`.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

BILINEAR, NEAREST = range(2)
ZEROS, BORDER, REFLECTION = range(3)

# ── places
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def reflected(x: Any, n: int, align_corners: bool) -> tuple[Any, Any]:
    """Places mirrored at the border as often as needed, and the direction in which they move."""
    low, span = (0.0, n - 1.0) if align_corners else (-0.5, float(n))
    if not span:
        return np.zeros_like(x), np.zeros_like(x)
    away = np.abs(x - x.dtype.type(low))
    rest, flips = np.fmod(away, span).astype(x.dtype), np.floor(away / span)
    odd = flips % 2 == 1
    sign = np.where(x < low, -1, 1) * np.where(odd, -1, 1)
    return np.where(odd, span - rest, rest).astype(x.dtype) + x.dtype.type(low), sign.astype(x.dtype)


def kept_in(x: Any, n: int, padding_mode: int, align_corners: bool) -> tuple[Any, Any]:
    """Places with the padding applied, and how fast they move."""
    speed = np.ones_like(x)
    if padding_mode == REFLECTION:
        x, speed = reflected(x, n, align_corners)
    if padding_mode != ZEROS:
        inside = (x > 0) & (x < n - 1)
        # what is no number is the first place, as in PyTorch
        x, speed = np.fmin(np.fmax(x, 0), n - 1).astype(x.dtype), np.where(inside, speed, 0)
    return x, speed


def whole(x: Any) -> Any:
    """Places as integers; those that are none lie outside."""
    return np.where(np.abs(x) < 2**31, x, -100).astype(np.int64)


def taps_of(
    at: Any, n: int, order: int, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> list[Any]:
    """(place, weight) of the taps of one dimension, weights derived `order` times by the coordinate."""
    half = at.dtype.type(0.5)
    scale = at.dtype.type(((n - 1) if align_corners else n) / 2)
    x = (at + 1) * half * (n - 1) if align_corners else ((at + 1) * n - 1) * half
    x, speed = kept_in(x, n, padding_mode, align_corners)
    if interpolation_mode == NEAREST:
        return [(whole(np.rint(x)), np.full_like(x, not order))]
    low = np.floor(x)
    if order == 0:
        weights = [low + 1 - x, x - low]
    else:
        slope = speed * scale if order == 1 else np.zeros_like(x)
        weights = [-slope, slope]
    return [(whole(low), weights[0]), (whole(low) + 1, weights[1])]


def all_taps(grid: Any, size: Any, orders: Any, *how: Any) -> Any:
    """For each tap: the places in the flattened input, shape (N, 1, places), weights, and what is inside."""
    k = len(size)
    flat = grid.reshape((len(grid), prod(grid.shape[1:-1]), k))
    along = [taps_of(flat[..., k - 1 - d], size[d], orders[k - 1 - d], *how) for d in range(k)]
    for taps in product(*along):
        index: Any = 0
        weight: Any = 1
        inside: Any = True
        for (place, w), n in zip(taps, size):
            index = index * n + np.clip(place, 0, n - 1)
            weight = weight * w
            inside = inside & (place >= 0) & (place < n)
        yield index[:, None], weight[:, None], inside[:, None]


def seen_at(x: Any, grid: Any, orders: Any, *how: Any) -> Any:
    """Return the weighted sums of all taps: shape (N, C, places…)."""
    flat = x.reshape((*x.shape[:2], prod(x.shape[2:])))
    total: Any = np.zeros((*x.shape[:2], prod(grid.shape[1:-1])), x.dtype)
    for index, weight, inside in all_taps(grid, x.shape[2:], orders, *how):
        total += np.where(inside, np.take_along_axis(flat, index, 2), 0) * weight
    return total.reshape((*x.shape[:2], *grid.shape[1:-1]))


def spread_at(g: Any, grid: Any, orders: Any, size: Any, *how: Any) -> Any:
    """Return the transpose of `seen_at`."""
    out: Any = np.zeros(prod(g.shape[:2]) * prod(size), g.dtype)
    starts = np.arange(prod(g.shape[:2])).reshape((*g.shape[:2], 1)) * prod(size)
    flat = g.reshape((*g.shape[:2], prod(g.shape[2:])))
    for index, weight, inside in all_taps(grid, size, orders, *how):
        np.add.at(out, (starts + index).ravel(), np.where(inside, flat * weight, 0).ravel())
    return out.reshape((*g.shape[:2], *size))
