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
from .storage import Geometry, Storage, View, geometry, strided
from .tensor_state import TensorBase, alias, wrap

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
    plain = storage.__class__ is Storage and not (modes.active or op.bit or source._bits)
    if plain and out.dtype is source._data.dtype and (view is None or view.path is None):
        result = wrap(out)
        result._storage = storage
        base, made = (source, "") if view is None else (view.base, view.creation)
        if op.several and made != "inference":
            made = "several"
        result._view = View(base, storage.version, made)
        return result
    result = alias(source, out)
    if op.bit:
        result._bits = source._bits ^ op.bit
    if not source._inference:
        base = source if source._view is None else source._view.base
        made, path = creation(op.several, source._view), path_of(op, source, out)
        result._view = View(base, result._storage.version, made, path)
    return result


def creation(several: bool, parent: View | None) -> str:
    """Return how a new view, of the view `parent` or of a base, was made: see `view_errors`."""
    if (modes.active and modes.state.inference) or (parent is not None and parent.creation == "inference"):
        return "inference"
    if not modes.is_grad_enabled():
        return "no_grad"
    return "several" if several else "" if parent is None else parent.creation
