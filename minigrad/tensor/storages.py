"""The memory of tensors as PyTorch shows it: a row of bytes, or of numbers of one dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import CPU, device
from ..core.storage import root


class Memory:
    """All the memory that an array is part of, as a row of elements; writing there is seen by all tensors."""

    kind = ""

    def __init__(self, array: np.ndarray, dtype: Any) -> None:
        self._row = root(array).reshape(-1).view(dtype)

    @property
    def device(self) -> device:
        """The CPU."""
        return CPU

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self._row.__array_interface__["data"][0]

    def nbytes(self) -> int:
        """Return how many bytes there are."""
        return self._row.nbytes

    def size(self) -> int:
        """Return how many elements there are."""
        return self._row.size

    def element_size(self) -> int:
        """Return bytes per element."""
        return self._row.itemsize

    def tolist(self) -> list[Any]:
        """Return all elements as Python numbers."""
        return self._row.tolist()

    def __len__(self) -> int:
        return self._row.size

    def __getitem__(self, index: Any) -> Any:
        return self._row[index].tolist()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._row[index] = value

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __repr__(self) -> str:
        elements = "".join(f" {value}\n" for value in self.tolist())
        return f"{elements}[torch.storage.{type(self).__name__}({self.kind}device=cpu) of size {self.size()}]"


class UntypedStorage(Memory):
    """The memory of a tensor, and of all that share it, as bytes."""

    def __init__(self, array: np.ndarray) -> None:
        super().__init__(array, np.uint8)


class TypedStorage(Memory):
    """The memory of a tensor, and of all that share it, as numbers of its dtype."""

    def __init__(self, array: np.ndarray) -> None:
        super().__init__(array, array.dtype)
        self.dtype = dtypes.of(array)
        self.kind = f"dtype=torch.{self.dtype.name}, "
