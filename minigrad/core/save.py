"""What a node of an op saves for its vjps. See Note [Saved values] in `node`; `saved` reads it again."""

from __future__ import annotations

from typing import Any

from .op import INPUT, RESULT, Op
from .tensor_state import TensorBase, Tensors

# Classes of arguments that are saved as they are.
PLAIN = frozenset((int, float, bool, str, tuple, type(None)))


def keep(op: Op, node: Any, values: Any, out: Any) -> None:
    """Save in a node what its vjps take of the op's arguments and of its result `out`."""
    targets = node._next
    versions: dict[str, int] = {}
    for slot, user, what, place, k, derive in op.plan:
        if user is not None and targets[user] is None:
            setattr(node, slot, None)
            continue
        if what is RESULT:
            setattr(node, slot, out[place] if op.several else out)
            continue
        value = values[place]
        if derive is not None:
            value = [derive(t._data) for t in value] if op.listed else derive(value._data)
        elif value.__class__ not in PLAIN:
            if isinstance(value, TensorBase):
                raw = what is INPUT and targets[k] is not None
                storage, fn = value._storage, value._fn
                if storage is not None or (fn is not None and fn._storage is not None):
                    check_saved(value)
                    version = value._version if storage is None else storage.version
                    if version:
                        versions[slot] = version
                    raw = raw and not (value._bits or value._apart)
                if raw:
                    value = value._data
            elif value.__class__ is Tensors and not value.are_untouched:
                value = keep_together(value)
        setattr(node, slot, value)
    if versions:
        node._check = tuple([versions.get(keep.slot, 0) for keep in op.keeps])


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
