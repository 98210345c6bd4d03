"""How a view is regenerated from its base if its position in memory does not determine it.

Note [Paths]
    Most views are determined by their shape, strides and offset in the base's memory. A view of conjugates,
    of negatives, or of the parts of complex numbers is not: it reads the memory in another way. From the
    first such view on, a view stores its path: the ops that change the reading, and between them the
    positions in memory, each relative to the one before. PyTorch does the same, so the graphs are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .op import F, Op
from .storage import Geometry, geometry, strided
from .tensor_state import TensorBase

Path = tuple[Any, ...]  # of Op and Geometry


def path_of(op: Op, source: TensorBase, out: np.ndarray) -> Path | None:
    """Return the path of a view that `op` takes of `source`; None if its position in memory determines it."""
    parent = source._view
    before = None if parent is None else parent.path
    if op.bit or out.dtype != source._data.dtype:
        if before is None:
            before = () if parent is None else (geometry(source._data, parent.base._data),)
        return (*before, op)
    return None if before is None else (*before, geometry(out, source._data))


def replay(t: Any, path: Path) -> Any:
    """Return the view of the tensor `t` at the end of `path`."""
    for step in path:
        t = F.as_strided(t, *step) if isinstance(step, Geometry) else getattr(F, step.name)(t)
    return t


def replay_array(array: np.ndarray, path: Path) -> tuple[np.ndarray, int]:
    """Do the same for an array: return a view of its memory, and the bits that say how to read it."""
    bits = 0
    for step in path:
        if isinstance(step, Geometry):
            array = strided(array, step)
        elif step.bit:
            bits ^= step.bit
        else:
            array = step.kernel(array)
    return array, bits
