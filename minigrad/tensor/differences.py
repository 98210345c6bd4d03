"""Differences of neighbors, and integrals by the trapezoidal rule."""

from __future__ import annotations

from typing import Any

from ..core import F
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..inplace.in_place import in_place
from ..ops import joining
from ..ops.shape import place
from .reductions import reducing

END = None  # of a slice that goes up to the end


def part(t: Any, dim: int, start: int, end: Any = END) -> Any:
    """Return the part of `t` from `start` up to `end` along `dim`."""
    return F.slice(t, dim, start, end, 1)


def quotient(t: Any, number: Any) -> Any:
    """`t / number` as PyTorch's own formulas write it; whole numbers become floating point."""
    return (F.div if t._data.dtype.kind in "biu" else F.div_scalar)(t, number)


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


def points(y: Any, x: Any, dim: int, name: str) -> Any:
    """Return the distances of the sample points `x`, as a tensor that fits `y` along `dim`."""
    n = y.ndim
    if x.ndim == 1:
        if x._data.size != y._data.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = F.view(x, tuple(-1 if d == dim else 1 for d in range(n)))
    elif x.ndim < n:
        x = F.view(x, (1,) * (n - x.ndim) + x._data.shape)
    left, right = part(x, dim, 0, -1), part(x, dim, 1)
    return F.sub(right, left)


def pairs(y: Any, dim: int) -> Any:
    """Return the sums of neighbors along `dim`."""
    return F.add(part(y, dim, 0, -1), part(y, dim, 1))


def without_bools(name: str, y: Any, x: Any) -> None:
    """RuntimeError with PyTorch's text for bools."""
    kinds = [t._data.dtype.kind for t in (y, x) if isinstance(t, TensorBase)]
    if "b" in kinds:
        which = "`x` or `y`" if len(kinds) == 2 else "`y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")


def step_of(name: str, x: Any, dx: Any) -> float:
    """Return the constant distance `dx`; TypeError beside `x`, RuntimeError unless it is a real number."""
    if x is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments")
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
    return 1.0 if dx is None else float(dx)


@public("function", also="trapz")
def trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """Return the integral of samples along `dim` by the trapezoidal rule, at the points `x` or `dx` apart."""
    dim = place(dim, y.ndim)
    if y._data.shape[dim] == 0:
        return y.new_zeros(y._data.shape[:dim] + y._data.shape[dim + 1 :])
    without_bools("trapezoid", y, x)
    if isinstance(x, TensorBase) and dx is None:
        widths = points(y, x, dim, "trapezoid")
        return quotient(F.sum_dim(F.mul(pairs(y, dim), widths), (dim,), False), 2.0)
    step = step_of("trapezoid", x, dx)
    last, first = F.select(y, dim, -1), F.select(y, dim, 0)
    ends = F.mul_scalar(F.add(first, last), 0.5)
    return F.mul_scalar(F.sub(F.sum_dim(y, (dim,), False), ends), step)
