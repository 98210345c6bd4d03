"""Every op, one declaration each. Importing this package fills `F` and checks the names that vjps use."""

from __future__ import annotations

import builtins

from ..op import F
from . import (
    arithmetic,
    complexes,
    indexing,
    joining,
    linalg,
    pointwise,
    reduction,
    shape,
    strided,
    views,
    views_in_place,
)

__all__ = [
    "arithmetic", "complexes", "indexing", "joining", "linalg", "pointwise", "reduction", "shape", "views",
    "strided", "views_in_place",
]  # fmt: skip

_ATTRIBUTES = {"mT", "ndim", "shape", "dtype", "F"}


def _check_names() -> None:
    """A vjp may use operators, `.mT`, `.shape` and ops of `F`: a misspelt name fails here, at import."""
    for op in (entry.op for entry in vars(F).values() if hasattr(entry, "op")):
        for vjp in op.vjps.values():
            for name in vjp.__code__.co_names:
                if (
                    name not in _ATTRIBUTES
                    and not hasattr(F, name)
                    and name not in vjp.__globals__
                    and not hasattr(builtins, name)
                ):
                    raise NameError(f"the vjp of {op.name} uses {name!r}, which is not an op")


_check_names()
