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

from . import modes
from .op import F, Op
from .storage import Geometry, View, geometry, strided
from .tensor_state import TensorBase, wrap

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


def share_view(op: Op, values: list[Any], out: Any) -> Any:
    """Return the result of a view op. It shares the memory and the Storage of its source, and refers to the
    base. The view of an inference tensor is an inference tensor, which has no history.
    """
    source = values[0]
    view, storage = source._view, source._storage
    result = wrap(storage.array if out.__class__ is not np.ndarray else out)
    result._storage = storage
    if op.bit or source._bits:
        result._bits = source._bits ^ op.bit
    if source._inference:
        result._inference = True
        return result
    base, made, path = (source, "", None) if view is None else (view.base, view.creation, view.path)
    if op.several or modes.active:
        made = creation(op.several, made)
    if path is not None or op.bit or out.dtype is not source._data.dtype:
        path = path_of(op, source, out)
    result._view = View(base, storage.version, made, path)
    return result


def creation(several: bool, made: str) -> str:
    """Return how a new view was made, of a view that was `made` so or of a base (""): see `view_errors`."""
    if made == "inference" or (modes.active and modes.state.inference):
        return "inference"
    if not modes.is_grad_enabled():
        return "no_grad"
    return "several" if several else made
