"""What several families of ops share: half precision, checks of dtypes, masks, and how a loss is reduced."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..core import F
from ..core.tensor_state import TensorBase

HALF = np.dtype(np.float16)
NONE, MEAN, SUM = 0, 1, 2  # how a loss is reduced, as PyTorch's nodes note it


def wide(kernel: Any) -> Any:
    """Return a kernel that computes float16 in float32 and rounds once, as PyTorch does."""

    @functools.wraps(kernel)
    def run(*args: Any) -> Any:
        if args[0].dtype is not HALF:
            return kernel(*args)
        return narrowed(kernel(*map(widened, args)))

    return run


def widened(x: Any) -> Any:
    """Return a float16 array as float32; anything else as it is."""
    return x.astype(np.float32) if getattr(x, "dtype", None) == np.float16 else x


def narrowed(x: Any) -> Any:
    """Results as float16, those that are float32."""
    if isinstance(x, tuple):
        return tuple(map(narrowed, x))
    return x.astype(np.float16) if x.dtype == np.float32 else x


def is_alike(a: Any, b: Any) -> bool:
    """Return whether two arrays have one shape and dtype."""
    return bool(a.shape == b.shape and a.dtype == b.dtype)


WHOLE = {n: np.dtype(f"i{n}") for n in (2, 4, 8)}  # whole numbers, by size in bytes


def kept(g: Any, hidden: Any) -> Any:
    """`g`, with 0 where `hidden` holds: by a product of its bits as whole numbers, up to ten times as fast as
    `np.where`, and right for inf and NaN, unlike a product of floats.
    """
    if g.ndim == 0 == hidden.ndim:
        return g.dtype.type(0) if hidden else g[()]
    if g.__class__ is not np.ndarray or g.dtype.kind != "f" or g.shape != hidden.shape:
        return np.where(hidden, g.dtype.type(0), g)[()]
    whole = WHOLE[g.itemsize]
    bits = np.logical_not(hidden).astype(whole)
    np.multiply(bits, g.view(whole), bits)
    return bits.view(g.dtype)


def reduced(loss: Any, reduction: int) -> Any:
    """All losses, their mean or their sum; those of float16 are added in float32."""
    if reduction == NONE:
        return loss
    total = np.add.reduce(loss, axis=None, dtype=np.float32 if loss.dtype == np.float16 else loss.dtype)
    if reduction == MEAN:
        total = total / total.dtype.type(np.size(loss))
    return total.astype(loss.dtype)


def written(name: str, x: Any, *args: Any) -> Any:
    """The op called `name` on `x`, which nobody else has: in place on a tensor, as in PyTorch's formulas,
    which shows in what the node saves.
    """
    return (
        F.in_place(getattr(F, name).op, x, *args) if isinstance(x, TensorBase) else getattr(F, name)(x, *args)
    )


def reduce(loss: Any, reduction: int) -> Any:
    """Return the same, by ops: of a tensor or a tangent."""
    if reduction == NONE:
        return loss
    return F.mean_all(loss) if reduction == MEAN else F.sum_all(loss)
