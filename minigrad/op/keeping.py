"""What a node of an op keeps for its vjps. See Note [Saved values] in `graph`; `saved` reads it again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..dtypes import FAST_SCALARS
from ..storage import strides_of
from ..tensor_base import TensorBase, Tensors
from .registry import DERIVED, Op

CONSTANTS: tuple[Any, ...] = ()  # in `Node._check`: constants were saved, all at version 0


def plan(op: Op) -> list[Any]:
    """What a node of an op keeps, worked out once (looking at names for each node takes as long as the rest
    of it): per saved name its slot, the inputs of which one must need a gradient (None: whatever they need),
    the function that says what is kept, and the number of the parameter or result that it is about.
    """
    kept: list[Any] = []
    for name, users in op.saved:
        suffix = next((s for s in DERIVED if name.endswith(s)), None)
        how: Any = keep_result
        if name in op.results:
            i = op.results.index(name)
        else:
            i = op.params.index(name.removesuffix(suffix or ""))
            how = keep_argument if suffix is None else DERIVE[suffix]
            if suffix is not None and op.listed:
                how = partial(keep_derived_of_each, suffix == "_sym_sizes")
        kept.append(("_raw_" + name, None if is_always_needed(op, users) else users, how, i))
    op.kept = kept
    return kept


Kept = tuple[Any, int | None]  # what a node keeps, and its version (None for what is no tensor)


def keep_result(op: Op, values: list[Any], i: int, targets: Any, out: Any) -> Kept:
    """A result, as raw data."""
    return out[i] if op.several else out, 0


def keep_derived_of_each(sizes: bool, op: Op, values: list[Any], i: int, targets: Any, out: Any) -> Kept:
    """The shapes or the dtypes of a list of tensors."""
    return [t._data.shape if sizes else t._data.dtype for t in values[i]], None


DERIVE = {
    "_sym_sizes": lambda op, values, i, targets, out: (values[i]._data.shape, None),
    "_sym_numel": lambda op, values, i, targets, out: (values[i]._data.size, None),
    "_sym_strides": lambda op, values, i, targets, out: (strides_of(values[i]._data), None),
    "_scalar_type": lambda op, values, i, targets, out: (values[i]._data.dtype, None),
}


def keep_argument(op: Op, values: list[Any], i: int, targets: Any, out: Any) -> Kept:
    """An argument: a tensor of the graph as raw data, other tensors and what is no tensor as they are."""
    value = values[i]
    if isinstance(value, TensorBase):
        check_saved(value)
        version = 0 if value._storage is None and value._fn is None else value._version
        if not (value._bits or value._apart) and i in op.places and targets[op.places.index(i)] is not None:
            return value._data, version
        return value, version
    return (saved_together(value) if isinstance(value, Tensors) else value), None


def saved_together(tensors: Tensors) -> Tensors:
    """Tensors that are one argument, with the versions at which they are saved."""
    kept = Tensors(tensors)
    given = [t for t in tensors if t is not None]
    for t in given:
        check_saved(t)
    kept.versions = tuple(t._version for t in given)
    return kept


def check_saved(tensor: TensorBase) -> None:
    """RuntimeError with PyTorch's text for an inference tensor, which no node may save."""
    if tensor._inference:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference "
            "mode in computation tracked by autograd. To work around this, you can make a clone to get a "
            "normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
            "`torch.inference_mode()`."
        )


def constant(node: Any, tensor: TensorBase) -> TensorBase:
    """Save a tensor that belongs to no graph, as it is. One of another class, such as a frozen Parameter, is
    looked at by `must_look`: written-out functions know a tensor by its class.
    """
    if tensor.__class__ is not TensorBase.result_class:
        node._check = (0,) * len(node.op.saved)
    elif node._check is None:
        node._check = CONSTANTS
    return tensor


def late_versions(op: Op, tensors: Sequence[str], scope: dict[str, Any]) -> Any:
    """A function, for the globals `scope`, that lets a node of the op know the versions of what it saved of
    the arguments called `tensors`, if one was written to before. It is written out, without loops, when it is
    first called: 5 % of a step of row e.
    """

    def first(*args: Any) -> None:
        names = [n if n in tensors else "" for n, _ in op.saved]
        text = NOTE.format(
            tensors=", ".join(tensors),
            lines="".join(VERSION.format(k=k, name=name) for k, name in enumerate(names) if name),
            changed=" or ".join(f"v{k}" for k, name in enumerate(names) if name) or "False",
            versions="".join(f"v{k}, " if name else "0, " for k, name in enumerate(names)),
        )
        scope["FAST_SCALARS"] = FAST_SCALARS
        exec(text, scope)
        scope["note_versions"](*args)

    return first


NOTE = """\
def note_versions(node, {tensors}):
{lines}
    if {changed}:
        node._check = ({versions})
"""

VERSION = """\
    storage = None if node._raw_{name} is None else getattr({name}, "_storage", None)
    v{k} = 0 if storage is None else storage.version
    if storage is not None and node._raw_{name}.__class__ in FAST_SCALARS:
        node._raw_{name} = {name}._data  # which may change, and not its number as it is now
"""


def is_needed(op: Op, targets: tuple[Any, ...], users: tuple[int, ...]) -> bool:
    """Whether one of the inputs `users` needs a gradient. PyTorch does not ask where there is one input only,
    where several need the value, nor for ops that are derivatives.
    """
    return is_always_needed(op, users) or any(targets[i] is not None for i in users)


def is_always_needed(op: Op, users: tuple[int, ...]) -> bool:
    """Whether a value is saved whatever needs a gradient."""
    return op.listed or len(op.inputs) == 1 or len(users) > 1 or "backward" in op.name
