"""Tensors of a given size, full of one number: `zeros`, `ones`, `full`, `empty`; also like another tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import F, dtypes
from ..core.devices import contiguous_format, preserve_format, strided, unfilled, unfilled_like
from ..core.public import public
from ..core.shown_signature import shown_as
from ..core.tensor_state import TensorBase
from .arguments import OF_SIZE, fitted, kind_name, number, options, shape_of, sizes
from .data import leaf


@public("function", out="made")
@OF_SIZE
def zeros(
    *sizes_: Any,
    size: Any = None,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
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
    shape = sizes("zeros", sizes_, size)
    kind = options("zeros", dtype, layout, device, pin_memory) or dtypes.get_default_dtype()
    return leaf(np.zeros(shape, kind.numpy), requires_grad, 0)


@public("function", out="made")
@OF_SIZE
def ones(
    *sizes_: Any,
    size: Any = None,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
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
    shape = sizes("ones", sizes_, size)
    kind = options("ones", dtype, layout, device, pin_memory) or dtypes.get_default_dtype()
    return leaf(np.ones(shape, kind.numpy), requires_grad, 1)


@public("function", out="made")
@shown_as(
    lambda *size, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False,
    memory_format=contiguous_format: None
)  # fmt: skip
def empty(
    *sizes_: Any,
    size: Any = None,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
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
    shape = sizes("empty", sizes_, size)
    kind = options("empty", dtype, layout, device, pin_memory) or dtypes.get_default_dtype()
    if memory_format is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    return leaf(unfilled(shape, kind.numpy, memory_format), requires_grad)


@public("function", out="made")
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
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
    return filled("full", size, fill_value, options("full", dtype, layout, device, pin_memory), requires_grad)


def filled(name: str, size: Any, value: Any, dtype: dtypes.dtype | None, requires_grad: bool) -> Any:
    """Return a leaf full of one number, which must fit the dtype."""
    shape, found = shape_of(name, size), number(name, "fill_value", 2, value)
    kind = dtype or dtypes.of_number(found)
    return leaf(np.full(shape, fitted(found, kind), kind.numpy), requires_grad, value)


@public("function")
def scalar_tensor(
    s: Any,
    *,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Return a 0-dim tensor of one number, of the default dtype if none is given."""
    found = number("scalar_tensor", "s", 1, s)
    kind = options("scalar_tensor", dtype, layout, device, pin_memory) or dtypes.get_default_dtype()
    return leaf(np.array(fitted(found, kind), kind.numpy), requires_grad, s)


@public("function")
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Return a tensor whose elements lie `stride` elements apart in memory, dimension by dimension: zeros."""
    kind = options("empty_strided", dtype, layout, device, pin_memory) or dtypes.get_default_dtype()
    return leaf(laid(shape_of("empty_strided", size), tuple(stride), kind.numpy), requires_grad)


def laid(shape: tuple[int, ...], stride: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros with these strides; RuntimeError with PyTorch's text if they are negative or too few."""
    if len(shape) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(stride)})"
        )
    if any(n < 0 for n in stride):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(stride)}"
        )
    last = sum((n - 1) * step for n, step in zip(shape, stride)) if 0 not in shape else -1
    memory = np.zeros(last + 1, dtype)
    return as_strided(memory, shape, tuple(step * dtype.itemsize for step in stride))


# ---------------------------------------------------------------------------------------- like another tensor


def check_input(name: str, input: Any) -> None:
    """TypeError unless this is a tensor."""
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {kind_name(input)}")


def like(
    name: str, input: Any, dtype: Any, layout: Any, device: Any, pin_memory: bool, memory_format: Any
) -> np.ndarray:
    """Zeros in the shape of a tensor, in its dtype if none is given."""
    check_input(name, input)
    kind = options(name, dtype, layout, device, pin_memory) or dtypes.of(input._data)
    return unfilled_like(input._data, kind.numpy, memory_format)


def is_plain(dtype: Any, layout: Any, device: Any, requires_grad: bool, memory_format: Any) -> bool:
    """Return whether nothing is asked for, so that the op does it, which the library calls too."""
    return (dtype, layout, device, requires_grad, memory_format) == (None, None, None, False, preserve_format)


@public("function")
def zeros_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Any:
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
    check_input("zeros_like", input)
    if is_plain(dtype, layout, device, requires_grad, memory_format):
        return F.zeros_like(input)
    return leaf(like("zeros_like", input, dtype, layout, device, pin_memory, memory_format), requires_grad, 0)


@public("function")
def ones_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Any:
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
    check_input("ones_like", input)
    if is_plain(dtype, layout, device, requires_grad, memory_format):
        return F.ones_like(input)
    data = like("ones_like", input, dtype, layout, device, pin_memory, memory_format)
    data[...] = 1
    return leaf(data, requires_grad, 1)


@public("function")
def empty_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Any:
    """Return a tensor in the shape of `input` for numbers to be written to: zeros; in PyTorch it holds
    anything.
    """
    return leaf(like("empty_like", input, dtype, layout, device, pin_memory, memory_format), requires_grad)


@public("function")
def full_like(
    input: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Any:
    """Return `fill_value` in the shape of `input`, and in its dtype if none is given."""
    data = like("full_like", input, dtype, layout, device, pin_memory, memory_format)
    data[...] = fitted(number("full_like", "fill_value", 2, fill_value), dtypes.of(data))
    return leaf(data, requires_grad, fill_value)
