"""The loss of a sequence of labels whose places are not known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes
from ...op import F
from ...ops.ctc import _ctc_loss
from ...ops.halves import MEAN, SUM
from ...tensor import Tensor
from ...tensor_base import wrap
from .losses import number


def lengths_of(name: str, lengths: Any) -> tuple[int, ...]:
    """Lengths as numbers; RuntimeError for a tensor of other dtypes."""
    if not isinstance(lengths, Tensor):
        return tuple(lengths)
    if lengths.dtype.category > 1:
        raise RuntimeError(f"{name} must be integral")
    return tuple(lengths.reshape(-1).tolist())


def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """Minus the logarithm of the probability that log-probabilities (T, N, C), or (T, C), spell the targets:
    labels in a row (N, S) for each sequence, or one after another.

    A path of labels spells what remains of it when repeated labels are drawn together and those of `blank`
    left out. A mean is that of the losses, each divided by the length of its target. `zero_infinity` takes 0
    for losses of targets that are too long for their sequence.
    """
    how = number(reduction)
    batched = log_probs.ndim == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
    steps = lengths_of("input_lengths", input_lengths)
    sizes = lengths_of("target_lengths", target_lengths)
    loss = _ctc_loss(log_probs, targets.to(dtypes.int64), steps, sizes, blank, zero_infinity)[0]
    if zero_infinity:
        loss = F.where(loss == math.inf, F.zeros_of(loss, ()), loss)
    if how == MEAN:
        return (loss / wrap(np.maximum(sizes, 1).astype(loss._data.dtype))).mean()
    if how == SUM:
        return loss.sum()
    return loss if batched else loss.squeeze(0)
