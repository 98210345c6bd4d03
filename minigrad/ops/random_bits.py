"""Random numbers as NumPy arrays, made from the words of a generator as in PyTorch. See Note [Random numbers]
in `generator`.

Every function takes the generator and the shape or count first. Numbers are drawn in double precision where
PyTorch does so, and in PyTorch's order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .generator import Generator

MANTISSA = {"float16": 11, "float32": 24, "float64": 53}
LARGE = 2**28  # larger ranges of integers use words of 64 bits


def doubles(source: Generator, count: int) -> np.ndarray:
    """Return numbers from [0, 1) in steps of 2⁻⁵³."""
    return (source.long_words(count) & np.uint64(2**53 - 1)) / 2.0**53


def singles(source: Generator, count: int) -> np.ndarray:
    """Return numbers from [0, 1) in steps of 2⁻²⁴, as float32."""
    return ((source.words(count) & np.uint64(2**24 - 1)) / 2.0**24).astype("f4")


def units(source: Generator, count: int, dtype: np.dtype) -> np.ndarray:
    """Return numbers from [0, 1) for arrays of a floating-point dtype; float16 is drawn as float32."""
    return doubles(source, count) if dtype.itemsize == 8 else singles(source, count)


def uniform(source: Generator, count: int, dtype: np.dtype, low: float, high: float) -> np.ndarray:
    """Return numbers from [low, high)."""
    drawn = units(source, count, dtype)
    low, high = drawn.dtype.type(low), drawn.dtype.type(high)
    found = (drawn.astype("f8") * (high - low) + low).astype(drawn.dtype).astype(dtype)
    return np.where(found == dtype.type(high), dtype.type(low), found)  # rounding up may have reached `high`


def normal(source: Generator, count: int, dtype: np.dtype, mean: float, std: float) -> np.ndarray:
    """Return normally distributed numbers: 16 or more in blocks of 16, fewer one by one
    in double precision.
    """
    if count < 16:
        return (standard(source, count) * std + mean).astype(dtype)
    rest = count % 16
    drawn = units(source, count - rest if dtype.itemsize == 2 else count, dtype)
    found = blocks(drawn[: count - rest], mean, std).astype(dtype)
    if not rest:
        return found
    out = np.empty(count, dtype)
    out[: count - rest] = found
    out[-16:] = blocks(units(source, 16, dtype), mean, std).astype(dtype)
    return out


def blocks(drawn: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Return normally distributed numbers by the Box–Muller method, from numbers in [0, 1). In each block of
    16 the first 8 give the radius, the others the angle.
    """
    kind = drawn.dtype.type
    pairs = drawn.reshape(-1, 2, 8)
    radius = np.sqrt(-2.0 * np.log((kind(1) - pairs[:, 0]).astype("f8")))
    angle = (kind(2 * math.pi) * pairs[:, 1]).astype("f8")
    found = np.empty_like(drawn).reshape(-1, 2, 8)
    np.multiply(radius, np.cos(angle), out=found[:, 0])
    np.multiply(radius, np.sin(angle), out=found[:, 1])
    return found.astype("f8").ravel() * kind(std) + kind(mean)


def standard(source: Generator, count: int) -> np.ndarray:
    """Return normally distributed numbers in double precision. They are made in pairs; the generator stores
    an odd one.
    """
    kept = [] if source._spare is None or not count else [source._spare]
    if kept:
        source._spare = None
    drawn = doubles(source, 2 * ((count - len(kept) + 1) // 2))
    radius, angle = np.sqrt(-2.0 * np.log1p(-drawn[1::2])), 2.0 * math.pi * drawn[0::2]
    pairs = np.stack((radius * np.cos(angle), radius * np.sin(angle)), 1).ravel()
    found = np.concatenate((kept, pairs))
    if len(found) > count:
        source._spare = float(found[-1])
    return found[:count]


def integers(source: Generator, count: int, dtype: np.dtype, low: int, high: int) -> np.ndarray:
    """Return integers from [low, high)."""
    size = high - low
    words = source.long_words(count) if size >= LARGE else source.words(count)
    return ((words % np.uint64(size)).astype("i8") + low).astype(dtype)


def anything(source: Generator, count: int, dtype: np.dtype) -> np.ndarray:
    """Return integers from 0 up to the largest of an integer dtype, or up to which a floating-point dtype has
    all integers.
    """
    words = source.long_words(count) if dtype.itemsize == 8 else source.words(count)
    if dtype.kind == "b":
        return (words & np.uint64(1)).astype(dtype)
    top = 2 ** MANTISSA[dtype.name] if dtype.kind == "f" else int(np.iinfo(dtype).max)
    return (words % np.uint64(top + 1)).astype(dtype)


def permutation(source: Generator, count: int) -> list[int]:
    """Return the numbers below `count` in random order: each element is exchanged with a
    later one or itself.
    """
    order = list(range(count))
    for i, word in enumerate(source.words(max(count - 1, 0)).tolist()):
        j = i + word % (count - i)
        order[i], order[j] = order[j], order[i]
    return order


def chances(source: Generator, p: np.ndarray) -> np.ndarray:
    """Return whether a number from [0, 1) is less than each element of `p`."""
    drawn = units(source, p.size, p.dtype).reshape(p.shape)
    return drawn < p.astype(drawn.dtype)


def bernoulli(source: Generator, count: int, p: float) -> np.ndarray:
    """Return bools that are True with probability `p`."""
    return doubles(source, count) < p


def exponential(source: Generator, count: int, rate: float) -> np.ndarray:
    """Return exponentially distributed numbers."""
    return -1.0 / rate * np.log1p(-doubles(source, count))


def in_memory_order(values: np.ndarray, like: Any) -> Any:
    """Return `values`, drawn one by one, in the shape of `like`, in the order of its memory."""
    if np.ndim(like) < 2 or like.flags.c_contiguous:
        return values.reshape(like.shape)
    order = sorted(range(like.ndim), key=lambda i: -abs(like.strides[i]))
    return values.reshape([like.shape[i] for i in order]).transpose(np.argsort(order))
