"""Padding, and reordering channels and pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import F
from ...core.dtypes import kind_name
from ...core.tensor_state import wrap
from ...inplace.in_place import in_place
from ...ops import padding as pd
from ...ops.rearranging import pixel_shuffle, pixel_unshuffle
from .checks import check_tensors

__all__ = ["pad", "pixel_shuffle", "pixel_unshuffle"]


FILLED = {"reflect": "reflection", "replicate": "replication"}


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Add borders to `input`; `pad` has their widths before and after along the last dimension, then the one
    before.

    `mode` fills them with `value` ("constant"), by mirroring ("reflect"), with the outermost element
    ("replicate") or with the elements of the opposite end ("circular"). The last three support one to three
    dimensions.
    """
    check_tensors("pad", input=input)
    if not isinstance(pad, (list, tuple)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {kind_name(pad)}")
    pad = tuple(pad)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return pd.constant_pad_nd(input, pad, 0.0 if value is None else value)
    if value not in (None, 0):
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    k = len(pad) // 2
    if k not in (1, 2, 3) or input.ndim not in (k + 1, k + 2):
        raise NotImplementedError(f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.")
    if mode == "circular":
        return circular(input, pad, k)
    if mode not in FILLED:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return getattr(F, f"{FILLED[mode]}_pad{k}d")(input, pad)


def circular(input: Any, pad: tuple[int, ...], k: int) -> Any:
    """Add borders with the elements of the opposite end, copied part by part into a new tensor, as PyTorch
    does.
    """
    n, sizes = input.ndim, input._data.shape
    around = pd.borders(pad, n)
    padded = [m + before + after for m, (before, after) in zip(sizes, around)]
    for m, made, (before, after) in zip(sizes, padded, around):
        if max(before, after) > m:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if made < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    out = wrap(np.zeros(padded, input._data.dtype))
    inside, kept = out, input
    dims = range(n - 1, n - 1 - k, -1)
    for d in dims:
        before, after = around[d]
        inside = F.slice(inside, d, max(before, 0), padded[d] - max(after, 0), 1)
        kept = F.slice(kept, d, max(-before, 0), sizes[d] - max(-after, 0), 1)
    in_place(F.copy.op, inside, kept)
    for d in dims:
        before, after = around[d]
        end = padded[d] - max(after, 0)
        if before > 0:
            write(out, d, (0, before), (end - before, end))
        if after > 0:
            write(out, d, (padded[d] - after, padded[d]), (max(before, 0), max(before, 0) + after))
    return out


def write(out: Any, dim: int, target: tuple[int, int], source: tuple[int, int]) -> None:
    """Copy one part of `out` along `dim` to another."""
    in_place(F.copy.op, F.slice(out, dim, *target, 1), F.slice(out, dim, *source, 1))
