"""What a node of an op saves for its vjps. See Note [Saved values] in `node`; `saved` reads it again."""

from __future__ import annotations

from typing import Any

from .op import INPUT, RESULT, Op
from .tensor_state import TensorBase, Tensors


def keep(op: Op, node: Any, values: Any, out: Any) -> None:
    """Save in a node what its vjps take of the op's arguments and of its result `out`."""
    targets = node._next
    versions: dict[str, int] = {}
    for slot, what, place, k, user, derive in op.plan:
        value: Any = None
        if user is not None and targets[user] is None:
            pass
        elif derive is not None:
            value = [derive(t._data) for t in values[0]] if op.listed else derive(values[place]._data)
        elif what is RESULT:
            value = out[place] if op.several else out
        else:
            value = values[place]
            if isinstance(value, TensorBase):
                storage = value._storage
                if storage is not None or (value._fn is not None and value._fn._storage is not None):
                    check_saved(value)
                    version = value._version if storage is None else storage.version
                    if version:
                        versions[slot] = version
                    if what is INPUT and targets[k] is not None and not (value._bits or value._apart):
                        value = value._data
                elif what is INPUT and targets[k] is not None:
                    value = value._data
            elif value.__class__ is Tensors:
                value = keep_together(value)
        setattr(node, slot, value)
    if versions:
        node._check = tuple([versions.get(keep.slot, 0) for keep in op.keeps])


def versions_of(op: Op, node: Any, values: Any) -> tuple[int, ...] | None:
    """Return the version of each tensor that a node saved of its op's arguments, for `Node._check`."""
    versions = [0] * len(op.keeps)
    for n, (slot, what, place, _, _, _) in enumerate(op.plan):
        if what is INPUT:
            t = values[place]
            if isinstance(t, TensorBase) and t._storage is not None and getattr(node, slot) is not None:
                versions[n] = t._storage.version
    return tuple(versions) if any(versions) else None


def keep_together(tensors: Tensors) -> Tensors:
    """Return tensors that are one argument, with the versions at which they are saved."""
    kept = Tensors(tensors)
    given = [t for t in tensors if t is not None]
    for t in given:
        check_saved(t)
    kept.versions = tuple(t._version for t in given)
    return kept


def check_saved(tensor: TensorBase) -> None:
    """Raise RuntimeError with PyTorch's text for an inference tensor, which no node may save."""
    if tensor._inference:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference "
            "mode in computation tracked by autograd. To work around this, you can make a clone to get a "
            "normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
            "`torch.inference_mode()`."
        )
