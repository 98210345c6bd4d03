"""The largest and the smallest element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, composite, differentiable, is_symbol
from ..core.op import RAW
from .checks import refuse
from .copy import kind_of
from .indexing_along import grid
from .reduction import over
from .shape import place


def refuse_empty(self: Any, dims: tuple[int, ...], name: str) -> None:
    """IndexError with PyTorch's text, which begins with `name`, for a dimension without elements."""
    for d in dims if self.ndim else ():
        if self.shape[d] == 0:
            raise IndexError(f"{name}: Expected reduction dim {d} to have non-zero size.")


# ── how gradients are divided
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def put_back(g: Any, sizes: tuple[int, ...], dim: int, indices: Any, keepdim: bool) -> Any:
    """Return the gradient of values selected along `dim`: `g` at their indices, and 0 elsewhere."""
    if not keepdim and sizes:
        g, indices = F.unsqueeze(g, dim), F.unsqueeze(indices, dim)
    if isinstance(g, RAW) and sizes:  # saves softmax by hand a tenth of its time
        out = np.zeros(sizes, g.dtype)
        out[grid(indices, place(dim, len(sizes)))] = g
        return out
    return F.scatter_src(F.zeros_of(g, sizes), dim, indices, g)


def full(reduced: Any, ndim: int, dim: Any, keepdim: bool) -> Any:
    """What was reduced to `reduced`, with the lost dimensions as ones, viewed at once as PyTorch does."""
    if keepdim or (not reduced.shape and is_symbol(reduced)):
        return reduced  # in a formula, a number needs no dimensions
    sizes, lost = list(reduced.shape), over(dim, ndim) if dim != () else ()
    for d in sorted(lost):
        sizes.insert(d, 1)
    return F.reshape(reduced, tuple(sizes))


@composite
def count_in(mask: Any, dim: Any, g: Any) -> Any:
    """How often `mask` holds along `dim` (all for ()), which stays; for arrays in the dtype of `g`."""
    count = F.sum_all(mask) if dim is None else F.sum_dim(mask, dim, True)
    return F.to(count, kind_of(g)) if isinstance(g, RAW) else count


def share_out(g: Any, mask: Any, dim: Any) -> Any:
    """`g` in equal shares where `mask` holds."""
    return (g / F.count_in(mask, dim, g)) * mask


def amax_vjp(g, self, result, dim, keepdim):
    """Equal shares for all elements that are the extreme."""
    ndim = len(self.shape)
    mask = F.eq(full(result, ndim, dim, keepdim), self)
    return share_out(full(g, ndim, dim, keepdim), mask, dim)


def evenly(g: Any, self: Any, result: Any) -> Any:
    """Equal shares for all elements that equal the one result; NaN equals NaN."""
    if isinstance(self, RAW):
        equal = self == result if result == result else self != self
        return np.where(equal, g / g.dtype.type(np.count_nonzero(equal)), g.dtype.type(0))
    mask = F.eq(self, result)
    if is_symbol(self):
        return share_out(g, mask, None)
    both = F.logical_and(F.ne(self, self), F.ne(result, result))
    mask = F.logical_or(mask, both)
    return F.masked_fill_tensor(F.zeros_of(g, self.shape), mask, g / F.count_in(mask, None, g))


# ── the extremes
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def reduced(ufunc: Any, self: Any, dim: Any, keepdim: bool, name: str, kernel: str) -> Any:
    """Return an extreme over some dimensions; NaN if there is one."""
    if self.size == 0 and (dim is None or dim == ()):
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
            "dim with the 'dim' argument."
        )
    axes = over(dim, self.ndim)
    refuse_empty(self, axes, f"{name}()")
    if self.size:
        refuse(self, "c", kernel)
    return ufunc.reduce(self, axis=axes, keepdims=keepdim)


@differentiable(self=amax_vjp)
def amax(self, dim=(), keepdim=False):
    """Return the largest element over some dimensions (all for ()); its gradient is divided evenly."""
    return reduced(np.maximum, self, dim, keepdim, "amax", "max_values_cpu")


@differentiable(self=amax_vjp)
def amin(self, dim=(), keepdim=False):
    """Return the smallest element over some dimensions (all for ()); its gradient is divided evenly."""
    return reduced(np.minimum, self, dim, keepdim, "amin", "min_values_cpu")


def of_all(ufunc: Any, name: str) -> Any:
    """Return the kernel of an extreme of all elements."""
    return lambda self: reduced(ufunc, self, None, False, name, f"{name}_all")


@differentiable(self=evenly, node="MaxBackward1", kernel=of_all(np.maximum, "max"))
def max_all(self):
    """Return the largest of all elements; its gradient is divided evenly."""


@differentiable(self=evenly, node="MinBackward1", kernel=of_all(np.minimum, "min"))
def min_all(self):
    """Return the smallest of all elements; its gradient is divided evenly."""


def along(position: Any, name: str, unfit: str = "c", suffix: str = "cpu") -> Any:
    """The kernel of an element along one dimension, with its index, which `position` finds."""

    def kernel(self: Any, dim: Any, keepdim: bool = False) -> Any:
        front = place(dim, self.ndim)
        refuse_empty(self, (front,), f"{name}()")
        refuse(self, unfit, f"{name}_{suffix}")
        if self.ndim == 0:
            return self.copy(), np.int64(0)
        indices = position(self, axis=front, keepdims=True)
        values = np.take_along_axis(self, indices, front)
        return (values, indices) if keepdim else (values.squeeze(front), indices.squeeze(front))

    return kernel


def selected_vjp(grads, self_sym_sizes, dim, indices, keepdim):
    """Pass the gradient of each value to where it came from."""
    return put_back(grads[0], self_sym_sizes, dim, indices, keepdim)


SELECTED = ("values", "indices")


@differentiable(self=selected_vjp, node="MaxBackward0", several=SELECTED, kernel=along(np.argmax, "max"))
def max_dim(self, dim, keepdim=False):
    """Return the largest element along `dim`, and its index."""


@differentiable(self=selected_vjp, node="MinBackward0", several=SELECTED, kernel=along(np.argmin, "min"))
def min_dim(self, dim, keepdim=False):
    """Return the smallest element along `dim`, and its index."""


def position(self: Any, dim: Any, keepdim: bool, name: str) -> Any:
    """`argmax` and `argmin`: the first of equal ones, or of NaN."""
    if self.dtype.kind in "bc":
        kind = "bool" if self.dtype.kind == "b" else "complex"
        raise RuntimeError(f"{name}(): does not support {kind} input")
    if dim is None and self.size == 0:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    axis = None if dim is None else place(dim, self.ndim)
    refuse_empty(self, () if axis is None else (axis,), f"{name}()")
    if self.ndim == 0:
        return np.int64(0)
    return getattr(np, name)(self, axis=axis, keepdims=keepdim)


@differentiable(forms="function method", out="same")
def argmax(self, dim=None, keepdim=False):
    """Return the index of the maximum, in the flattened tensor or along `dim`.

    Args:
        input: a tensor of any shape.
        dim: one dimension; None for the flattened tensor.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: an int64 tensor; of several equal elements the first index.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.argmax

    >>> torch.argmax(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
    tensor([1, 0])
    """
    return position(self, dim, keepdim, "argmax")


@differentiable(forms="function method", out="same")
def argmin(self, dim=None, keepdim=False):
    """Return the index of the minimum, in the flattened tensor or along `dim`.

    Args:
        input: a tensor of any shape.
        dim: one dimension; None for the flattened tensor.
        keepdim: whether the reduced dimensions stay, with size 1.
    Shape: `()`, or that of `input` without `dim` (with size 1 there for `keepdim`).
    Returns: an int64 tensor; of several equal elements the first index.
    Raises: IndexError if there is no dimension `dim`.
    Source: torch.argmin

    >>> torch.argmin(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
    tensor([0, 1])
    """
    return position(self, dim, keepdim, "argmin")
