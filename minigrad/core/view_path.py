"""How a view was made: what regenerates it from its base, and why its base must not be modified through it.

Note [Paths]
    Most views are determined by their shape, strides and offset in the base's memory. A view of conjugates,
    of negatives, or of the parts of complex numbers is not: it reads the memory in another way. From the
    first such view on, a view stores its path: the ops that change the reading, and between them the
    positions in memory, each relative to the one before. PyTorch does the same, so the graphs are equal.

Note [Creations]
    A view stores how it was made (`View.creation`). A view of a view has the creation of the first one that
    was special.

        ""           by an op, in grad mode
        "several"    by an op that returns several views, such as `split`: one node is the history of them all
        "custom"     by a custom Function, whose backward the history of an in-place op would bypass
        "no_grad"    with grad mode off, "inference" in inference mode: outside the graph that its base is in
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dialect, modes
from .op import F, Op
from .storage import Geometry, View, geometry
from .storage import strided_part as strided
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


def share_view(op: Op, values: Any, out: Any) -> Any:
    """Return the result of a view op. It shares the memory and the Storage of its source, and refers to the
    base. The view of an inference tensor is an inference tensor, which has no history.
    """
    source = values[0]
    view, storage = source._view, source._storage
    # what `alias` does, here because the call would take about 5 % of the time of a view
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
    """Return how a new view was made, of a view that was `made` so or of a base ("")."""
    if made == "inference" or (modes.active and modes.state.inference):
        return "inference"
    if not modes.is_grad_enabled():
        return "no_grad"
    return "several" if several else made


SEVERAL = (
    " This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
CUSTOM = (
    " This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom "
    "Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the "
    "output of the custom Function."
)
AMBIGUOUS = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
    "moving both the view and the inplace either both inside the {} block (if you don't want the inplace to "
    "be tracked) or both outside (if you want the inplace to be tracked)."
)
WHY = {
    "several": SEVERAL,
    "custom": CUSTOM,
    "no_grad": AMBIGUOUS.format("no_grad"),
    "inference": AMBIGUOUS.format("inference_mode"),
}


def refuse_write(creation: str, fn: Any, nr: int, indirect: bool) -> None:
    """Raise RuntimeError unless `creation` is "". A view, output `nr` of the node `fn` (or None), is being
    modified, or with `indirect` its base was.
    """
    if not creation:
        return
    written = "its base or another view of its base has been" if indirect else "is being"
    output = fn and f"Output {nr} of {dialect.origin_name(type(fn).__name__)} is a view"
    start = f"{output} of a view which was created in" if output else "A view was created in"
    if creation == "inference":
        text = f"{start} inference mode and {written} modified inplace in normal mode."
    elif creation == "no_grad" or output is None:
        text = f"{start} no_grad mode and {written} modified inplace with grad mode enabled."
    else:
        text = f"{output} and {written} modified inplace."
    raise RuntimeError(text + WHY[creation])
