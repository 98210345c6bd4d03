"""Differences of neighbours, and what integrals and derivatives are made of them."""

from __future__ import annotations

from typing import Any

from ..inplace import in_place
from ..op import F
from ..ops import cumulative as cu
from ..ops import joining
from ..ops import reduction as red
from ..ops.shape import place
from ..tensor_base import TensorBase
from .operands import is_whole
from .reductions import reducing

END = None  # of a slice that goes up to the end


def part(t: Any, dim: int, start: int, end: Any = END) -> Any:
    """The part of `t` from `start` up to `end` along `dim`."""
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


@reducing
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The `n`-th differences of neighbours along `dim`, after `prepend` and `append` were put around."""
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
    """The distances of the sample points `x`, as a tensor that fits `y` along `dim`."""
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
    """The sums of neighbours along `dim`."""
    return F.add(part(y, dim, 0, -1), part(y, dim, 1))


def without_bools(name: str, y: Any, x: Any) -> None:
    """RuntimeError with PyTorch's text for bools."""
    kinds = [t._data.dtype.kind for t in (y, x) if isinstance(t, TensorBase)]
    if "b" in kinds:
        which = "`x` or `y`" if len(kinds) == 2 else "`y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")


def step_of(name: str, x: Any, dx: Any) -> float:
    """The constant distance `dx`; TypeError beside `x`, RuntimeError unless it is a real number."""
    if x is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments")
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
    return 1.0 if dx is None else float(dx)


def trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integral of samples along `dim` by the trapezoidal rule, at the points `x` or `dx` apart."""
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


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integral of samples up to each one but the first along `dim`, by the trapezoidal rule, at the
    points `x` or `dx` apart.
    """
    dim = place(dim, y.ndim)
    without_bools("cumulative_trapezoid", y, x)
    if isinstance(x, TensorBase) and dx is None:
        widths = points(y, x, dim, "cumulative_trapezoid")
        return quotient(cu.cumsum(F.mul(pairs(y, dim), widths), dim), 2.0)
    step = step_of("cumulative_trapezoid", x, dx)
    return cu.cumsum(F.mul_scalar(pairs(y, dim), step / 2), dim)


# ── derivatives
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """The derivative of samples along each of `dim` (all without it), by differences of neighbours that are
    `spacing` apart: a number, one for each dimension, or tensors of coordinates.
    """
    n = input.ndim
    dims = tuple(range(n)) if dim is None else (dim,) if is_whole(dim) else tuple(dim)
    if input._data.dtype.name == "uint8":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    spacing = 1 if spacing is None else spacing
    spacings = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    check_spacings(len(spacings), dims, n, dim is None)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    fronts = red.over(dims, n) if dims else ()
    if any(input._data.shape[d] < edge_order + 1 for d in fronts):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(
        (at_points if isinstance(h, TensorBase) else evenly)(input, h, d, edge_order)
        for h, d in zip(spacings, fronts)
    )


def check_spacings(count: int, dims: Any, ndim: int, is_all: bool) -> None:
    """RuntimeError with PyTorch's text unless there is a spacing for each dimension."""
    if count == len(dims):
        return
    if is_all:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"'self.dim() = {ndim}', since dim argument was not given, but got a list of length {count}"
        )
    raise RuntimeError(
        "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to "
        f"have the same length, but got a spacing argument of length {count} and a dim argument of length "
        f"{len(dims)}."
    )


def step_over(y: Any, dim: int, left: Any, right: Any) -> Any:
    """The part `right` of `y` along `dim` minus the part `left`, which PyTorch takes first."""
    before = part(y, dim, *left)
    return F.sub(part(y, dim, *right), before)


def evenly(y: Any, h: Any, dim: int, edge_order: int) -> Any:
    """The derivative along `dim` of samples `h` apart, composed as PyTorch does."""
    center = quotient(step_over(y, dim, (0, -2), (2, END)), h)
    if edge_order == 1:
        first = step_over(y, dim, (0, 1), (1, 2))
        first = quotient(first, h)
        last = step_over(y, dim, (-2, -1), (-1, END))
    else:
        c, b, a = (F.mul_scalar(part(y, dim, k, k + 1), f) for k, f in ((2, 0.5), (1, 2), (0, -1.5)))
        first = quotient(F.sub(F.add(a, b), c), h)
        c = F.mul_scalar(part(y, dim, -1), 1.5)
        b, a = (F.mul_scalar(part(y, dim, k - 1, k), f) for k, f in ((-1, 2), (-2, 0.5)))
        last = F.add(F.sub(a, b), c)
    last = quotient(last, h)
    return joining.cat([first, quotient(center, 2), last], dim)


def at_points(y: Any, x: Any, dim: int, edge_order: int) -> Any:
    """The derivative along `dim` of samples at the coordinates `x`, composed as PyTorch does."""
    if x.ndim != 1:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an element with "
            f"{x.ndim} dimensions!"
        )
    steps = diff(x, 1, 0)
    center = weighted(y, dim, inner_weights(steps, dim, y.ndim), ((0, -2), (1, -1), (2, END)))
    if edge_order == 1:
        h = F.select(steps, 0, 0)
        first = step_over(y, dim, (0, 1), (1, 2)) / h
        h = F.select(steps, 0, -1)
        last = step_over(y, dim, (-2, -1), (-1, END)) / h
        return joining.cat([first, center, last], dim)
    weights = outer(steps, 0, 1, True), middle(steps, 0, 1, False), inner(steps, 0, 1, True)
    first = weighted(y, dim, weights, ((0, 1), (1, 2), (2, 3)))
    weights = inner(steps, -1, -2, False), middle(steps, -1, -2, True), outer(steps, -1, -2, False)
    last = weighted(y, dim, weights, ((-3, -2), (-2, -1), (-1, END)))
    return joining.cat([first, center, last], dim)


def weighted(y: Any, dim: int, weights: Any, ends: Any) -> Any:
    """The sum of three neighbouring parts of `y` along `dim`, each times its weight, the last first."""
    c, b, a = (w * part(y, dim, *where) for w, where in zip(reversed(weights), reversed(ends)))
    return (a + b) + c


def inner_weights(steps: Any, dim: int, ndim: int) -> list[Any]:
    """The weights of the sample before, of the sample itself and of the one after, between unequal steps."""
    before, after = part(steps, 0, 0, -1), part(steps, 0, 1)
    column = tuple(-1 if d == dim else 1 for d in range(ndim))
    whole = before * (before + after)
    weights = [F.reshape(-after / whole, column)]
    whole = before * after
    weights.append(F.reshape((after - before) / whole, column))
    whole = after * (before + after)
    return [*weights, F.reshape(before / whole, column)]


# The weights of the three samples at an end: `i` is the place of the outermost step h, `j` of the next one,
# k. Each is taken anew wherever it stands, the right one first, as PyTorch does.


def both(steps: Any, i: int, j: int) -> tuple[Any, Any]:
    """The steps h and k."""
    k = F.select(steps, 0, j)
    return F.select(steps, 0, i), k


def signed(t: Any, negative: bool) -> Any:
    """`t` or its negative."""
    return -t if negative else t


def outer(steps: Any, i: int, j: int, negative: bool) -> Any:
    """`(2h + k) / (h (h + k))`."""
    whole = F.add(*both(steps, i, j))
    whole = F.select(steps, 0, i) * whole
    h, k = both(steps, i, j)
    return signed(F.mul_scalar(h, 2.0) + k, negative) / whole


def middle(steps: Any, i: int, j: int, negative: bool) -> Any:
    """`(h + k) / (h k)`."""
    whole = F.mul(*both(steps, i, j))
    return signed(F.add(*both(steps, i, j)), negative) / whole


def inner(steps: Any, i: int, j: int, negative: bool) -> Any:
    """`h / (k (h + k))`."""
    whole = F.add(*both(steps, i, j))
    whole = F.select(steps, 0, j) * whole
    return signed(F.select(steps, 0, i), negative) / whole
