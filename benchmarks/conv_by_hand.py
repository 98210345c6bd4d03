"""Convolution and pooling in NumPy with their derivatives, for row i."""

from __future__ import annotations

import numpy as np


def conv(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x (N, C, H, W) with filters (O, C, K, K), and the columns that the backward pass needs again."""
    n, size = len(x), w.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    height, width = windows.shape[2:4]
    columns = windows.transpose(0, 1, 4, 5, 2, 3).reshape(n, -1, height * width)
    return (w.reshape(len(w), -1) @ columns).reshape(n, len(w), height, width), columns


def by_filters(g: np.ndarray, columns: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient by the filters."""
    flat = g.reshape(*g.shape[:2], -1)
    return (flat @ columns.transpose(0, 2, 1)).sum(axis=0).reshape(w.shape)


def by_input(g: np.ndarray, shape: tuple[int, ...], w: np.ndarray) -> np.ndarray:
    """The gradient with respect to x, whose shape is given."""
    n, outputs, height, width = g.shape
    size = w.shape[-1]
    columns = w.reshape(outputs, -1).T @ g.reshape(n, outputs, -1)
    parts = columns.reshape(n, shape[1], size, size, height, width)
    found = np.zeros(shape, g.dtype)
    for i in range(size):
        for j in range(size):
            found[:, :, i : i + height, j : j + width] += parts[:, :, i, j]
    return found


def corners(x: np.ndarray) -> list[np.ndarray]:
    """The four values of each 2×2 window, as views."""
    return [x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)]


def pool(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of each 2×2 window, and x itself."""
    a, b, c, d = corners(x)
    return np.maximum(np.maximum(a, b), np.maximum(c, d)), x


def pool_back(g: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The gradient with respect to the input of `relu`.

    It flows to the maximum of each window, and is 0 where that maximum is 0.
    """
    found = np.empty_like(x)
    passed = g * (y > 0)
    for part, into in zip(corners(x), corners(found)):
        np.multiply(passed, part == y, out=into)
    return found
