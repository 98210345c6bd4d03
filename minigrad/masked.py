"""Reductions and normalisations of the elements for which a mask holds: `minigrad.masked.sum(x, mask=m)`.

Without a mask all elements count. Others are replaced by a number that changes nothing; where none is left,
that number is the result. `dim` is one dimension or several, all of them without it; `dtype` that of the
result. The mask is broadcast to the tensor.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

from .creation import ones, tensor
from .dtypes import float32, int64
from .op import F
from .tensor.binary import logaddexp as logaddexp_of
from .tensor.casts import iinfo
from .tensor.norms import vector_norm

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean",
    "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip


# ── masks
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def checked_mask(input: Any, mask: Any) -> Any:
    """The mask in the shape of the tensor; IndexError with PyTorch's text if it has more dimensions."""
    if mask.shape != input.shape:
        if mask.ndim > input.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
            )
        mask = mask.clone().broadcast_to(input.shape)
    return mask.bool()


def filled(input: Any, mask: Any, value: Any) -> Any:
    """`input` with a number in the place of elements for which the mask does not hold."""
    if mask is None:
        return input
    return F.where(checked_mask(input, mask), input, tensor(value, dtype=input.dtype))


def lowest(input: Any) -> Any:
    """The smallest number of the dtype; NotImplementedError for those without an order."""
    return limit(input, "amax", -inf, "min")


def highest(input: Any) -> Any:
    """The greatest number of the dtype; NotImplementedError for those without an order."""
    return limit(input, "amin", inf, "max")


def limit(input: Any, name: str, infinite: float, end: str) -> Any:
    """An end of the range of a dtype."""
    kind = input.dtype
    if kind.category not in (1, 2):
        raise NotImplementedError(f"identity of {name} on {kind} input")
    return infinite if kind.category == 2 else getattr(iinfo(kind), end)


def dims_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions in rising order, all of them for None or an empty tuple; PyTorch's errors."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    ndim = max(ndim, 1)
    dims: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in dims:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -ndim <= d < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})"
            )
        dims.append(d % ndim)
    return tuple(sorted(dims))


# ── reductions
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def summed_kind(input: Any, dtype: Any) -> Any:
    """The dtype of a sum or product: int64 for whole numbers."""
    return dtype or (int64 if input.dtype.category < 2 else input.dtype)


def sum(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Any:
    """The sum of the elements that count, 0 where none does; whole numbers give int64."""
    dims = dims_of(dim, input.ndim)
    return filled(input, mask, 0).sum(dims, bool(keepdim), dtype=summed_kind(input, dtype))


def prod(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Any:
    """The product of the elements that count, 1 where none does; whole numbers give int64."""
    result = filled(input, mask, 1).to(dtype=summed_kind(input, dtype))
    for d in reversed(dims_of(dim, input.ndim)):
        result = result.prod(d, bool(keepdim))
    return result


def amax(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Any:
    """The greatest of the elements that count; the lowest number of the dtype where none does."""
    x = input if mask is None else filled(input, mask, lowest(input))
    return x.amax(dims_of(dim, x.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def amin(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Any:
    """The smallest of the elements that count; the highest number of the dtype where none does."""
    x = input if mask is None else filled(input, mask, highest(input))
    return x.amin(dims_of(dim, x.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def argmax(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Any:
    """The index of the greatest of the elements that count, in the dtype of the input unless given."""
    x = input if mask is None else filled(input, mask, lowest(input))
    return x.argmax(dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def argmin(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Any:
    """The index of the smallest of the elements that count, in the dtype of the input unless given."""
    x = input if mask is None else filled(input, mask, highest(input))
    return x.argmin(dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def counted(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    """How many elements count."""
    if mask is None:
        return sum(ones(tuple(input.shape), dtype=int64), dim, keepdim=keepdim)
    return mask.sum(dim=dim, keepdim=keepdim)


def mean(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Any:
    """The mean of the elements that count, NaN where none does; ValueError for whole numbers without
    `dtype`.
    """
    kind = dtype or input.dtype
    if kind.category < 2:
        source = "Input" if dtype is None else "Optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or "
            f"complex dtype. Got: {kind}"
        )
    mask = mask if mask is None else checked_mask(input, mask)
    count = counted(input, dim, bool(keepdim), mask)
    return sum(input, dim, keepdim=keepdim, dtype=kind, mask=mask) / count


def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The median of the elements that count (of two in the middle the lower one), NaN where none does;
    ValueError where the dtype has no NaN.
    """
    place = dims_of(dim, input.ndim)[0]
    is_float = input.dtype.category == 2
    x = filled(input if is_float else input.to(dtype=float32), mask, nan)
    values = x.nanmedian(place, keepdim).values
    if is_float:
        return values
    if values.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return values.to(dtype=dtype or input.dtype)


def logsumexp(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The logarithm of the sum of the exponentials of the elements that count, -inf where none does."""
    value = -inf if input.dtype.category > 1 or mask is None else lowest(input)
    dims = dims_of(dim, input.ndim)
    return filled(input, mask, value).logsumexp(dims, keepdim=keepdim).to(dtype=dtype or input.dtype)


def logaddexp(
    input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None
) -> Any:
    """The logarithm of the sum of the exponentials of two tensors, each counting where its mask holds."""
    masks = ((input, input_mask), (other, other_mask))
    a, b = (x if mask is None else filled(x, mask, lowest(x)) for x, mask in masks)
    return logaddexp_of(a, b).to(dtype=dtype or input.dtype)


def norm(
    input: Any, ord: Any = 2.0, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The `ord`-norm of the elements that count."""
    x = filled(input, mask, inf if ord == -inf else 0)
    return vector_norm(x, ord, dims_of(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: Any = None,
    keepdim: Any = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """The variance of the elements that count: the sum of the squares of their distances from the mean,
    divided by their number less `correction` (1; 0 unless `unbiased`).
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = 1.0 if unbiased is None else float(unbiased)
    less = less if correction is None else float(correction)
    kind = dtype or (input.dtype if input.dtype.category > 1 else float32)
    wide = kind if kind.category > 1 else float32
    mask = mask if mask is None else checked_mask(input, mask)
    count = counted(input, dim, True, mask)
    x = input - sum(input, dim, keepdim=True, dtype=kind, mask=mask) / count
    total = sum(x * x.conj(), dim, keepdim=keepdim, dtype=wide, mask=mask)
    if not keepdim:
        count = count.reshape(total.shape)
    if less != 0:
        count = count.to(wide.to_real()) - less
        count = F.maximum(count, count.new_zeros(()))
    return (total / count).to(dtype=kind)


def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: Any = None,
    keepdim: Any = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """The square root of the variance of the elements that count. See `var`."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


# ── along one dimension
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The sum of the elements that count, up to each one along `dim`."""
    kind = dtype or input.dtype
    return filled(input, mask, 0).cumsum(dims_of(dim, input.ndim)[0], dtype=kind).to(dtype=kind)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The product of the elements that count, up to each one along `dim`."""
    kind = dtype or input.dtype
    return filled(input, mask, 1).cumprod(dims_of(dim, input.ndim)[0], dtype=kind).to(dtype=kind)


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Exponentials of the elements that count, divided by their sum along `dim`; 0 for the others."""
    x = input if mask is None else filled(input, mask, lowest(input))
    return x.softmax(dims_of(dim, input.ndim)[0], dtype=dtype or input.dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of `softmax`."""
    x = input if mask is None else filled(input, mask, lowest(input))
    return x.log_softmax(dims_of(dim, input.ndim)[0], dtype=dtype or input.dtype)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """`softmax` of the negatives."""
    x = input if mask is None else filled(input, mask, highest(input))
    return (-x).softmax(dims_of(dim, input.ndim)[0], dtype=dtype or input.dtype)


def normalize(
    input: Any, ord: Any, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Any:
    """The elements that count divided by their `ord`-norm along `dim`, or by `eps` if that is greater; 0 for
    the others.
    """
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return filled(input, mask, 0) / F.maximum(length, length.new_full((), eps))
