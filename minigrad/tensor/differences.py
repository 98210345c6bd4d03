"""Differences of neighbors, and integrals by the trapezoidal rule."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..core.public import public
from ..inplace.in_place import in_place
from ..ops import joining
from ..ops.shape import place
from .reductions import reducing

END = None  # of a slice that goes up to the end


def part(t: Any, dim: int, start: int, end: Any = END) -> Any:
    """Return the part of `t` from `start` up to `end` along `dim`."""
    return F.slice(t, dim, start, end, 1)


def check_joins(input: Any, more: Any, dim: int) -> None:
    """RuntimeError with PyTorch's text unless `more` can stand before or after `input` along `dim`."""
    if more.ndim != input.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (n, m) in enumerate(zip(input._data.shape, more._data.shape)):
        if d != dim and n != m:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along "
                f"the differencing dimension; input.size({d}) = {n}, but got tensor.size({d}) = {m}"
            )


def differences(t: Any, dim: int) -> Any:
    """What each element has more than the one before; of bools, whether they differ."""
    n = t._data.shape[dim]
    before, after = part(t, dim, 0, n - 1), part(t, dim, 1, n)
    return F.ne(after, before) if t._data.dtype.kind == "b" else F.sub(after, before)


@public(out="cast")
@reducing
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return the `n`-th differences of neighbors along `dim`, after `prepend` and `append` were put
    around.
    """
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    along = place(dim, input.ndim)
    around = [t for t in (prepend, append) if t is not None]
    for more in around:
        check_joins(input, more, along)
    if n and around:
        input = joining.cat([t for t in (prepend, input, append) if t is not None], dim)
    if not n:
        return in_place(F.copy.op, F.zeros_like(input), input)
    for _ in range(min(n, input._data.shape[along])):
        input = differences(input, dim)
    return input


# ── integrals
# ─────────────────────────────────────────────────────────────────────────────────────────────────
