"""Who shares memory with whom, and how often it was written to.

Note [Storage]
    A tensor's numbers are a NumPy array, or, for a 0-dim tensor that shares its memory with nobody, a NumPy scalar (more
    than twice as fast). The first alias or in-place op on a tensor gives it a `Storage`, for good: a version counter that
    all aliases share and, for a 0-dim tensor, the 0-d array that takes the scalar's place.

    A node that saved the tensor earlier holds the raw numbers, not the tensor. It learns of the Storage through the
    tensor's *carrier*: the AccumulateGrad of a leaf, or the node (and output number) that produced it. Whoever creates
    the Storage puts it there too, and an in-place op shares it with the new grad_fn. So at unpack

        carrier has no Storage         nothing can have been written: the raw numbers are right
        Storage.version == as saved    unchanged; a scalar is re-read from `array`, as `.data` may have written to it
        otherwise                      "modified by an inplace operation"
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Storage:
    """Version counter of memory that is shared or was written to. See Note [Storage].

    `array` is the 0-d array of what was a scalar, else None.
    """

    __slots__ = ("array", "version")

    def __init__(self, array: np.ndarray | None = None) -> None:
        self.version = 0
        self.array = array


class View:
    """What makes a tensor a view: the tensor whose memory it shows, and how to derive it from that base again.

    `replay(base) -> Tensor` repeats the view op(s) on another tensor of the base's shape; `version` is the storage's
    version for which the view's grad_fn is right. `differentiable` is False for `detach()` and `.data`.
    """

    __slots__ = ("base", "replay", "version")

    def __init__(self, base: Any, replay: Any, version: int) -> None:
        self.base = base
        self.replay = replay
        self.version = version
