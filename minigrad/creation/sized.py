"""Tensors of a given size, full of one number: `zeros`, `ones`, `full`, `empty`; also like another tensor."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import F, dtypes
from ..core.devices import contiguous_format, preserve_format, unfilled
from .arguments import fitted, number, shape_of
from .maker import like_maker, maker, sized

__all__ = [
    "empty", "empty_like", "empty_strided", "full", "full_like", "ones", "ones_like", "scalar_tensor",
    "zeros", "zeros_like",
]  # fmt: skip


@sized
def zeros(shape: tuple[int, ...], *, dtype: Any) -> Any:
    """Return a tensor of zeros.

    Args:
        size: the sizes, one by one or in a tuple.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is no integer. RuntimeError if it is negative.
    Source: torch.zeros

    >>> torch.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """
    return np.zeros(shape, dtype.numpy), 0


@sized
def ones(shape: tuple[int, ...], *, dtype: Any) -> Any:
    """Return a tensor of ones.

    Args:
        size: the sizes, one by one or in a tuple.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is no integer. RuntimeError if it is negative.
    Source: torch.ones

    >>> torch.ones(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """
    return np.ones(shape, dtype.numpy), 1


@sized
def empty(shape: tuple[int, ...], *, dtype: Any, memory_format: Any = contiguous_format) -> Any:
    """Return an uninitialized tensor; minigrad fills it with zeros.

    Args:
        size: the sizes, one by one or in a tuple.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
        memory_format: the order of the memory.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is no integer. RuntimeError if it is negative.
    Source: torch.empty

    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    if memory_format is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    return unfilled(shape, dtype.numpy, memory_format)


@maker
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """Return a tensor filled with `fill_value`.

    Args:
        size: the sizes, a list or tuple.
        fill_value: a number, whose type decides the dtype if none is given.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if `size` holds anything but integers.
    Source: torch.full

    >>> torch.full((2,), 3.5)
    tensor([3.5000, 3.5000])
    """
    value = number(fill_value)
    kind = dtype or dtypes.of_number(value)
    return np.full(shape_of("full", size), fitted(value, kind), kind.numpy), fill_value


@partial(maker, out="")
def scalar_tensor(s: Any, *, dtype: Any) -> Any:
    """Return a 0-dim tensor of one number, of the default dtype if none is given."""
    return np.array(fitted(number(s), dtype), dtype.numpy), s


@partial(maker, out="")
def empty_strided(size: Any, stride: Any, *, dtype: Any) -> Any:
    """Return a tensor whose elements lie `stride` elements apart in memory, dimension by dimension: zeros."""
    shape, stride = shape_of("empty_strided", size), tuple(stride)
    if len(shape) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(stride)})"
        )
    if any(n < 0 for n in stride):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(stride)}"
        )
    last = sum((n - 1) * step for n, step in zip(shape, stride)) if 0 not in shape else -1
    memory = np.zeros(last + 1, dtype.numpy)
    return as_strided(memory, shape, tuple(step * memory.itemsize for step in stride))


# ── like another tensor ─────────────────────────────────────────────────────────────────────────────────────


@partial(like_maker, plain=F.zeros_like)
def zeros_like(input: Any) -> Any:
    """Return a tensor of zeros in the shape of `input`.

    Args:
        input: a tensor of any shape.
        dtype, layout, device, pin_memory, requires_grad, memory_format: properties of the result; those of
            `input` if not given.
    Shape: the same as that of `input`.
    Returns: a new leaf.
    Raises: TypeError if `input` is not a tensor.
    Source: torch.zeros_like

    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
    """
    return input, 0


@partial(like_maker, plain=F.ones_like)
def ones_like(input: Any) -> Any:
    """Return a tensor of ones in the shape of `input`.

    Args:
        input: a tensor of any shape.
        dtype, layout, device, pin_memory, requires_grad, memory_format: properties of the result; those of
            `input` if not given.
    Shape: the same as that of `input`.
    Returns: a new leaf.
    Raises: TypeError if `input` is not a tensor.
    Source: torch.ones_like

    >>> torch.ones_like(torch.tensor([1, 2]))
    tensor([1, 1])
    """
    input[...] = 1
    return input, 1


@like_maker
def empty_like(input: Any) -> Any:
    """Return a tensor in the shape of `input` for numbers to be written to: zeros; in PyTorch it holds
    anything.
    """
    return input


@like_maker
def full_like(input: Any, fill_value: Any) -> Any:
    """Return `fill_value` in the shape of `input`, and in its dtype if none is given."""
    input[...] = fitted(number(fill_value), dtypes.of(input))
    return input, fill_value
