"""The data and the first parameters of row e: points on two moons, and a network 2-16-16-1."""

from __future__ import annotations

import numpy as np
from workload import normal

sizes = ((2, 16), (16, 16), (16, 1))


def moons(count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` points, every other one on the upper moon, and the sign of each: 1 or −1, as a column."""
    signs = np.where(np.arange(count) % 2, -1.0, 1.0)
    angle = np.linspace(0.0, np.pi, count)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lower = np.stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)], axis=1)
    points = np.where(signs[:, None] > 0, upper, lower) + normal(count, 2, seed=1, scale=0.1)
    return points.astype(np.float32), signs[:, None].astype(np.float32)


def parameters() -> list[np.ndarray]:
    """Weights and biases, layer by layer."""
    found = []
    for i, (width, height) in enumerate(sizes):
        found.append(normal(width, height, seed=i, scale=width**-0.5))
        found.append(normal(height, seed=10 + i, scale=0.1))
    return found
