"""Padding, and reordering channels and pixels."""

from __future__ import annotations

from typing import Any

from ...core import F
from ...core.dtypes import kind_name
from ...left_out import refuse
from ...ops import rearranging as pd
from ...ops.checks import must_be_tensor
from ...ops.resampling import pixel_shuffle, pixel_unshuffle

__all__ = ["pad", "pixel_shuffle", "pixel_unshuffle"]


FILLED = {"reflect": "reflection", "replicate": "replication"}


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Add borders to `input`; `pad` has their widths before and after along the last dimension, then the one
    before.

    `mode` fills them with `value` ("constant"), by mirroring ("reflect") or with the outermost
    element ("replicate"). The last two support one to three dimensions.
    """
    must_be_tensor("pad", input)
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
    refuse("pad", circular=mode == "circular")
    if mode not in FILLED:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return getattr(F, f"{FILLED[mode]}_pad{k}d")(input, pad)
