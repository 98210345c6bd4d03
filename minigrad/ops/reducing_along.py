"""Elements put together with those that are written to the same place: `scatter_reduce`, `index_reduce`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import F, differentiable
from .copies import kind_of
from .indexing_along import check_added, lined_up
from .places import along, check_inside, copied, raised
from .scattering import written
from .shape import place

TOGETHER: dict[str, Any] = {
    "sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum,
}  # fmt: skip


def start(reduce: str, dtype: Any) -> Any:
    """The number that changes nothing: what stands in a place whose own element does not take part."""
    if reduce in ("sum", "mean", "prod"):
        return dtype.type(reduce == "prod")
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind == "f":
        return dtype.type(np.inf if reduce == "amin" else -np.inf)
    limits = np.iinfo(dtype)
    return limits.max if reduce == "amin" else limits.min


def put_together(out: Any, where: Any, values: Any, reduce: str, include_self: bool) -> None:
    """Write `values` into `out` by one of the five ways."""
    if not include_self:
        out[where] = start(reduce, out.dtype)
    TOGETHER[reduce].at(out, where, values)
    if reduce == "mean":
        count = np.full(out.shape, int(include_self))
        np.add.at(count, where, 1)
        count[count == 0] = 1
        divide = np.true_divide if out.dtype.kind in "fc" else np.floor_divide
        out[...] = divide(out, count).astype(out.dtype)


# ── at an index for each element
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def own_part(g: Any, dim: int, index: Any, include_self: bool) -> Any:
    """The gradient of `self`, 0 where its element does not take part."""
    return g if include_self else F.scatter_value(g, dim, index, 0)


def scatter_shares(g: Any, self: Any, dim: int, index: Any, src: Any, include_self: bool) -> Any:
    """How many elements each one of `scatter_reduce`'s results is the mean of."""
    count = F.ones_like(g) if include_self else F.zeros_like(g)
    count = F.scatter_add(count, dim, index, F.ones_like(src))
    return F.masked_fill(count, F.eq(count, 0), 1)


def scatter_equals(g: Any, self: Any, dim: int, index: Any, src: Any, result: Any) -> tuple[Any, ...]:
    """Which elements of `self` and of `src` are the extreme ones, and what each of them gets."""
    of_self = F.eq(self, result)
    of_src = F.eq(src, F.gather(result, dim, index))
    count = F.scatter_add(F.to(of_self, kind_of(self)), dim, index, F.to(of_src, kind_of(src)))
    return of_self, of_src, g / count


def scatter_self_vjp(
    g: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    """The gradient of `self`, as PyTorch composes it."""
    if reduce == "prod":
        masked = F.masked_fill(self, F.eq(self, 0), 1)
        others = F.scatter_reduce(masked, dim, index, src, reduce, include_self)
        g = (g * others) / masked
    elif reduce == "mean":
        g = g / scatter_shares(g, self, dim, index, src, include_self)
    elif reduce != "sum":
        of_self, _, share = scatter_equals(g, self, dim, index, src, result)
        g = of_self * share
    return own_part(g, dim, index, include_self)


def scatter_src_vjp(
    g: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    """The gradient of `src`. Of a product with one 0 in `src` only that 0 gets any."""
    if reduce == "prod":
        zero = F.eq(src, 0)
        zeros = F.scatter_add(F.zeros_like(self), dim, index, F.to(zero, kind_of(self)))
        single = F.logical_and(zero, F.eq(F.gather(zeros, dim, index), 1))
        others = F.scatter_reduce(self, dim, index, F.masked_fill(src, single, 1), reduce, include_self)
        rest = F.masked_fill(src, zero, 1)
        whole = F.gather(g * result, dim, index) / rest
        return F.where(single, F.gather(g * others, dim, index), whole)
    if reduce == "mean":
        count = F.gather(scatter_shares(g, self, dim, index, src, include_self), dim, index)
        return F.gather(g, dim, index) / count
    if reduce == "sum":
        return F.gather(g, dim, index)
    _, of_src, share = scatter_equals(g, self, dim, index, src, result)
    return of_src * F.gather(share, dim, index)


def scatter_jvp(
    self_t: Any,
    src_t: Any,
    self: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    include_self: bool,
    result: Any,
) -> Any:
    """The tangent as PyTorch composes it; of a product, for which it has none, by the derivatives."""
    if reduce in ("sum", "mean"):
        return F.scatter_reduce(self_t, dim, index, src_t, reduce, include_self)
    rest = (self, dim, index, src, reduce, include_self, result)
    if reduce == "prod":
        one = F.ones_like(result)
        shares = src_t * scatter_src_vjp(one, *rest)
        return F.scatter_add(self_t * scatter_self_vjp(one, *rest), dim, index, shares)
    of_self, of_src = F.eq(self, result), F.eq(src, F.gather(result, dim, index))
    kind = kind_of(self_t)
    count = F.scatter_reduce(F.to(of_self, kind), dim, index, F.to(of_src, kind), "sum", include_self)
    of_src_t = F.where(of_src, src_t, 0.0)
    return F.scatter_reduce(F.where(of_self, self_t, 0.0), dim, index, of_src_t, "sum", include_self) / count


@differentiable(self=scatter_self_vjp, src=scatter_src_vjp, jvp=scatter_jvp)
def scatter_reduce(self, dim, index, src, reduce, include_self=True):
    """`self` with the elements of `src` put together at the places `index` along `dim`, `reduce` being "sum",
    "prod", "mean", "amax" or "amin". `include_self=False`: what is there does not take part.
    """
    if reduce not in TOGETHER:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")

    def write(out: Any, where: Any, values: Any) -> None:
        put_together(out, where, values, reduce, include_self)

    return written(self, dim, index, src, write)


# ── parts at a vector of indices
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def index_shares(g: Any, dim: int, index: Any, source: Any, include_self: bool) -> Any:
    """How many elements each one of `index_reduce`'s results is the mean of."""
    count = F.ones_like(g) if include_self else F.zeros_like(g)
    count = F.index_add(count, dim, index, F.ones_like(source), 1)
    return F.masked_fill(count, F.eq(count, 0), 1)


def index_equals(g: Any, self: Any, dim: int, index: Any, source: Any, result: Any) -> tuple[Any, ...]:
    """Which elements of `self` and of `source` are extreme, as numbers, and what each of them gets."""
    of_self = F.to(F.eq(self, result), kind_of(self))
    of_source = F.to(F.eq(source, F.index_select(result, dim, index)), kind_of(source))
    return of_self, of_source, g / F.index_add(of_self, dim, index, of_source, 1)


def index_self_vjp(
    g: Any, self: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    """The gradient of `self`, as PyTorch composes it."""
    if reduce == "prod":
        masked = F.masked_fill(self, F.eq(self, 0), 1)
        g = (g * F.index_reduce(masked, dim, index, source, reduce, include_self)) / masked
    elif reduce == "mean":
        g = g / index_shares(g, dim, index, source, include_self)
    else:
        of_self, _, share = index_equals(g, self, dim, index, source, result)
        g = of_self * share
    return g if include_self else F.index_fill(g, dim, index, 0)


def index_source_vjp(
    g: Any, self: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    """The gradient of `source`."""
    if reduce == "prod":
        zero = F.eq(source, 0)
        zeros = F.index_add(F.zeros_like(self), dim, index, F.to(zero, kind_of(self)), 1)
        single = F.logical_and(zero, F.eq(F.index_select(zeros, dim, index), 1))
        others = F.index_reduce(self, dim, index, F.masked_fill(source, single, 1), reduce, include_self)
        rest = F.masked_fill(source, zero, 1)
        whole = F.index_select(g * result, dim, index) / rest
        return F.where(single, F.index_select(g * others, dim, index), whole)
    if reduce == "mean":
        count = F.index_select(index_shares(g, dim, index, source, include_self), dim, index)
        return F.index_select(g, dim, index) / count
    _, of_source, share = index_equals(g, self, dim, index, source, result)
    return of_source * F.index_select(share, dim, index)


@differentiable(self=index_self_vjp, source=index_source_vjp)
def index_reduce(self, dim, index, source, reduce, include_self=True):
    """`self` with the parts of `source` along `dim` put together at the places `index`, by "prod", "mean",
    "amax" or "amin". `include_self=False`: what is there does not take part.
    """
    if reduce not in TOGETHER or reduce == "sum":
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    dim = place(dim, self.ndim)
    check_added("index_reduce_", self, dim, index, source)
    out = copied(self)
    check_inside(index, 0, out.shape[dim], "index out of range in self")
    where = along(dim, raised(index))
    put_together(out, where, lined_up(source, self.ndim), reduce, include_self)
    return out.reshape(self.shape)[()]
