"""What a node saved for its backward, as far as it can be read, be it minigrad's or PyTorch's: the part of
the contract in `protocol` that is about saved values."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .isolation import pass_on
from .protocol import dtype_name, is_native, is_tensor, op_of, pytorch, shape_of


class SavedValue(NamedTuple):
    """What a node saved under `name`: a tensor, another Python value, or None after it was `freed`, or where
    a saved-tensor hook has `packed` it, of which that tells in words: to unpack it would be to run the hook.

    A tensor that was written to since cannot be read any more either: `version` is then the one at which it
    was saved, `now` that of its memory.
    """

    name: str
    value: Any
    freed: bool
    packed: str = ""
    version: int | None = None
    now: int | None = None


SUMS = ("add", "sub", "rsub")
_saved_names: weakref.WeakKeyDictionary[type, tuple[str, ...]] = weakref.WeakKeyDictionary()
_native_slots: dict[type, tuple[tuple[str, str, str], ...]] = {}


def saved_of(node: Any) -> Iterator[SavedValue]:
    """What a node saved for its backward; shapes that PyTorch notes beside it (`_saved_self_sym_sizes`)
    are left out, and so is the `alpha` of a sum without one."""
    names = saved_names(type(node))
    hooked = getattr(node, "_extra", True) is not None  # minigrad's node says so if no hooks packed anything
    for name in names:
        try:
            kept = packed_as(getattr(node, "_raw" + name, None)) if hooked else ""
            if kept:
                yield SavedValue(name.removeprefix("_saved_"), None, False, kept)
                continue
            value = getattr(node, name)
        except RuntimeError as refused:
            pass_on(refused)
            yield unreadable(name.removeprefix("_saved_"), str(refused))
            continue
        value = shown_alone(node, name, value)
        if value is not None:
            yield SavedValue(name.removeprefix("_saved_"), value, False)
    if not names and hasattr(type(node), "saved_tensors"):
        yield from _saved_by_function(node)


def saved_names(cls: type) -> tuple[str, ...]:
    """The attributes by which nodes of a class give what they saved."""
    names = _saved_names.get(cls)
    if names is None:
        names = _saved_names[cls] = tuple(n for n in dir(cls) if n.startswith("_saved_") and "_sym_" not in n)
    return names


def native_slots(cls: type) -> tuple[tuple[str, str, str], ...]:
    """Where nodes of PyTorch's own keep what they saved: of each value the attribute, its name, and the
    attribute that says whether a hook packed it ("" for what no hook packs)."""
    slots = _native_slots.get(cls)
    if slots is None:
        names = [(name, name.removeprefix("_saved_"), f"_raw{name}") for name in saved_names(cls)]
        slots = tuple((name, bare, raw if hasattr(cls, raw) else "") for name, bare, raw in names)
        _native_slots[cls] = slots
    return slots


def shown_alone(node: Any, name: str, value: Any) -> Any:
    """A saved value as a reader sees it; None for what says nothing."""
    if isinstance(value, tuple) and len(value) == 1 and is_tensor(value[0]):
        return value[0]  # the only index of `x[i]`
    if type(value) is int:
        value = as_signed(value)
    elif isinstance(value, tuple) and all(type(each) is int for each in value):
        value = type(value)(map(as_signed, value))
    alpha = name == "_saved_alpha" and value == 1
    return None if alpha and op_of(type(node).__name__) in SUMS else value


def as_signed(number: int) -> int:
    """A number of a node, of which PyTorch gives a negative one as an unsigned one."""
    return number - 2**64 if number >= 2**63 else number


CHANGED = re.compile(r"is at version (\d+); expected version (\d+) instead")  # says the error


def unreadable(name: str, refused: str) -> SavedValue:
    """A saved value that was freed, or changed in place since, by the error with which it was `refused`."""
    found = CHANGED.search(refused)
    if found is None:
        return SavedValue(name, None, True)
    return SavedValue(name, None, False, version=int(found[2]), now=int(found[1]))


NARROWER = {"float64": "float32", "int64": "int32", "complex128": "complex64"}


def is_number(node: Any, name: str, value: Any) -> bool:
    """Whether a tensor that a node saved as `name` stands for a Python number (`x * 2`): it is not a tensor
    of the user, and its memory does not count."""
    raw = None if is_native(node) else getattr(node, f"_raw_{name}", None)
    if raw is not None:
        return isinstance(raw, int | float | complex) and not isinstance(raw, np.generic)
    narrower = NARROWER.get(dtype_name(value))
    torch = None if narrower is None else pytorch()
    if narrower is None or torch is None or shape_of(value) or not type(value).__module__.startswith("torch"):
        return False
    dtype = getattr(torch, narrower)  # such a number gives way to any tensor of its kind, a tensor does not
    return torch.result_type(value, torch.empty((), dtype=dtype)) == dtype


def _saved_by_function(node: Any) -> Iterator[SavedValue]:
    try:
        packed = [packed_as(raw) for raw in getattr(node, "_raw_saved_tensors", ())]
        if any(packed):
            yield from (SavedValue(f"saved[{i}]", None, False, kept) for i, kept in enumerate(packed))
            return
        tensors = node.saved_tensors
    except RuntimeError as refused:
        pass_on(refused)
        yield from _one_by_one(node, str(refused))
        return
    for i, tensor in enumerate(tensors):
        if tensor is not None:
            yield SavedValue(f"saved[{i}]", tensor, False)


OUTPUT = re.compile(r"which is output \d+ of (\w+), is at")  # says the same error of a result of the node


def _one_by_one(node: Any, refused: str) -> Iterator[SavedValue]:
    """What the node of a custom Function saved, of which not all can be read."""
    whole = unreadable("saved", refused)
    if whole.freed or not hasattr(node, "_raw_saved_tensors"):
        yield whole
        return
    found = OUTPUT.search(refused)
    own = found is not None and f"{found[1].removesuffix('Backward')}Backward" == node.name()
    for i, raw in enumerate(node._raw_saved_tensors):
        name = f"saved[{i}]"
        try:
            value = raw.unpack()
            if value is not None:
                yield SavedValue(name, value, False)
        except RuntimeError as problem:
            pass_on(problem)
            told = unreadable(name, str(problem))
            if not told.freed:
                yield told
                continue
            # An output of the node itself, which can only be had from all of them together.
            now = raw.data._version
            stale = own and now == whole.now
            yield whole._replace(name=name) if stale else SavedValue(name, None if now else raw.data, False)


RECOMPUTED = "recomputed"  # what a checkpoint makes of a saved value: it is computed again when needed
CHECKPOINTS = ("torch.utils.checkpoint", "minigrad.utils.checkpoint")
WORD = 24  # characters of a text that was kept


def packed_as(raw: Any) -> str:
    """What a hook made of a saved value, by its `SavedTensor`; "" if none did."""
    return "" if getattr(raw, "unpack_hook", None) is None else packed_text(raw.data)


def packed_text(kept: Any, depth: int = 2) -> str:
    """What a pack hook returned, in words that are the same each time."""
    kind = type(kept)
    if is_tensor(kept):
        return f"{dtype_name(kept)} {shape_of(kept)}"
    if isinstance(kept, np.ndarray):
        return f"numpy {kept.dtype} {kept.shape}"
    if kind.__module__ in CHECKPOINTS:
        return RECOMPUTED
    if kind in (list, tuple) and depth:
        inner = ", ".join(packed_text(item, depth - 1) for item in kept[:3]) + ", …" * (len(kept) > 3)
        return f"[{inner}]" if kind is list else f"({inner}{',' * (len(kept) == 1)})"
    if kind in (str, bytes):
        return repr(kept[:WORD]) + "…" * (len(kept) > WORD)
    return str(kept) if kind in (int, float, bool, complex, type(None)) else kind.__name__
