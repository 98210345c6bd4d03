"""What a custom Function saved, one by one."""

from __future__ import annotations

from typing import Any

from ...core.saved_hooks import Packed, SavedTensor


class Kept:
    """A tensor that a Function saved: the tensor itself, or, of an output, its numbers and output number."""

    __slots__ = ("data", "nr", "tensor", "version")

    def __init__(self, tensor: Any, is_output: bool) -> None:
        self.tensor = None if is_output else tensor
        self.data, self.nr = tensor._data, tensor._nr
        self.version = 0 if is_output and tensor._storage is None else tensor._version


class SavedByFunction(SavedTensor):
    """One of `ctx.saved_tensors`, as `_raw_saved_tensors` gives it."""

    __slots__ = ()

    def _entry(self) -> Any:
        kept, i = self._node._kept or (), int(self._name)
        return kept[i] if i < len(kept) else None

    def _set(self, packed: Packed) -> None:
        kept = list(self._node._kept)
        kept[int(self._name)] = packed
        self._node._kept = tuple(kept)

    def _tensor(self, checked: bool) -> Any:
        return self._node._unpack(int(self._name), checked)

    def _is_output(self) -> bool:
        entry = self._entry()
        return entry.is_output if isinstance(entry, Packed) else entry is not None and entry.tensor is None
