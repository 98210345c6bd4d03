"""`torch.Size`, the shape of a tensor."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtypes import kind_name
from ..ops.checks import is_whole


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of integers with `numel()`; its parts and sums are shapes too."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return checked_size((*self, *other))

    def __radd__(self, other: Any) -> Any:
        return checked_size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        return Size(super().__mul__(times))

    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if index.__class__ is slice else found

    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


def checked_size(sizes: Any) -> Size:
    """Return a shape; TypeError with PyTorch's text for what is no integer."""
    for i, n in enumerate(sizes):
        if not is_whole(n):
            raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{kind_name(n)}')")
    return Size(sizes)
