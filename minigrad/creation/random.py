"""New tensors of random numbers. The same seed gives the same numbers as PyTorch on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, dtypes
from ..core.devices import preserve_format, strided
from ..core.public import public
from ..core.shown_signature import shown_as
from ..core.tensor_state import TensorBase
from ..ops import random_numbers as chance
from .arguments import OF_SIZE_RANDOM, fitted, is_whole, mismatch, options, shape_of, sizes, whole
from .data import leaf
from .sized import check_input, like


def check_generator(name: str, generator: Any, *args: Any) -> None:
    """TypeError unless this is a generator or None."""
    if generator is not None and not isinstance(generator, chance.Generator):
        raise mismatch(name, *args, generator)


def drawn(op: Any, data: np.ndarray, generator: Any, requires_grad: bool = False, *args: Any) -> Any:
    """Return a leaf of the shape, dtype and memory of `data` with random numbers that `op` draws."""
    return leaf(np.asarray(op.op.kernel(data, *args, generator)), requires_grad)


@public("function", out="made")
@OF_SIZE_RANDOM
def rand(
    *sizes_: Any,
    size: Any = None,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Return numbers drawn uniformly from [0, 1).

    Args:
        size: the sizes, one by one or in a tuple.
        generator: the source of random numbers; None for the default one.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is no integer.
    Source: torch.rand

    >>> torch.rand(2, 3).shape
    torch.Size([2, 3])
    """
    check_generator("rand", generator, *sizes_)
    kind = options("rand", dtype, layout, device, pin_memory) or dtypes.get_default_dtype()
    data = np.zeros(sizes("rand", sizes_, size), kind.numpy)
    return drawn(chance.uniform, data, generator, requires_grad, 0.0, 1.0)


@public("function", out="made")
@OF_SIZE_RANDOM
def randn(
    *sizes_: Any,
    size: Any = None,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Return normally distributed numbers with mean 0 and variance 1.

    Args:
        size: the sizes, one by one or in a tuple.
        generator: the source of random numbers; None for the default one.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is no integer.
    Source: torch.randn

    >>> torch.randn(2, 3).shape
    torch.Size([2, 3])
    """
    check_generator("randn", generator, *sizes_)
    kind = options("randn", dtype, layout, device, pin_memory) or dtypes.get_default_dtype()
    data = np.zeros(sizes("randn", sizes_, size), kind.numpy)
    return drawn(chance.normal, data, generator, requires_grad, 0.0, 1.0)


@public("function", out="made")
@shown_as(
    lambda low=0, high=None, size=None, *, generator=None, dtype=None, layout=strided, device=None,
    requires_grad=False, pin_memory=False: None
)  # fmt: skip
def randint(
    *bounds: Any,
    low: Any = None,
    high: Any = None,
    size: Any = None,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Return integers drawn uniformly from [low, high).

    Args:
        low: the lower bound; 0 in `randint(high, size)`.
        high: the upper bound, which is not drawn.
        size: the sizes, a list or tuple.
        generator: the source of random numbers; None for the default one.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is int64 if none
            is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if `size` or a bound is missing. RuntimeError if `high` is not above `low`.
    Source: torch.randint

    >>> torch.randint(5, 6, (2,))
    tensor([5, 5])
    """
    check_generator("randint", generator, *bounds)
    given = list(bounds)
    if size is None and len(given) + (low is not None) + (high is not None) >= 2 and not is_whole(given[-1]):
        size = given.pop()
    elif size is None and len(given) > 1:
        shape_of("randint", given[-1], len(given))
    if high is None and given:
        high = given.pop()
    if low is None:
        low = given.pop() if given else 0
    if given or size is None or not is_whole(low) or not is_whole(high):
        raise mismatch("randint", *bounds)
    kind = options("randint", dtype, layout, device, pin_memory) or dtypes.int64
    data = np.zeros(shape_of("randint", size, len(bounds)), kind.numpy)
    return drawn(chance.random_from, data, generator, requires_grad, int(low), int(high))


@public("function", out="made")
def randperm(
    n: Any,
    *,
    generator: Any = None,
    dtype: Any = dtypes.int64,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Return the integers from 0 to n - 1 in random order.

    Args:
        n: how many.
        generator: the source of random numbers; None for the default one.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is int64 if none
            is given.
    Shape: (n,).
    Returns: a new leaf.
    Raises: RuntimeError if `n` is negative.
    Source: torch.randperm

    >>> torch.randperm(3).sort().values
    tensor([0, 1, 2])
    """
    check_generator("randperm", generator, n)
    n = whole("randperm", "n", 1, n)
    shape_of("randperm", (n,))
    kind = options("randperm", dtype, layout, device, pin_memory) or dtypes.int64
    if kind.category in (0, 3):
        raise NotImplementedError(f"\"randperm\" not implemented for '{kind.title}'")
    fitted(n, kind)
    order = chance.draws.permutation(chance.source_of(generator), n)
    return leaf(np.array(order, kind.numpy), requires_grad)


@public("function", out="made")
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Return normally distributed numbers with given means and standard deviations.

    Args:
        mean: a tensor, or a number if `size` is given or `std` is a tensor.
        std: a tensor or a number.
        size: the sizes, if both are numbers.
        generator: the source of random numbers; None for the default one.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: that of the tensors, or `size`.
    Returns: a new leaf.
    Raises: RuntimeError if `std` is negative.
    Derivative: 0.
    Source: torch.normal

    >>> torch.normal(torch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 2.])
    """
    check_generator("normal", generator, mean, std)
    if size is None:
        return normal_like(mean, std, generator)
    kind = options("normal", dtype, layout, device, pin_memory) or dtypes.get_default_dtype()
    data = np.zeros(shape_of("normal", size, 3), kind.numpy)
    return drawn(chance.normal, data, generator, requires_grad, float(mean), float(std))


def normal_like(mean: Any, std: Any, generator: Any) -> Any:
    """Normally distributed numbers in the shape of a tensor of means or of standard deviations."""
    if isinstance(mean, TensorBase) and isinstance(std, TensorBase):
        return F.normal_tensor_tensor(mean, std, generator)
    if isinstance(mean, TensorBase):
        return F.normal_tensor_float(mean, std, generator)
    if isinstance(std, TensorBase):
        return F.normal_float_tensor(mean, std, generator)
    raise mismatch("normal", mean, std)


@public("function")
def rand_like(
    input: Any,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Any:
    """Return numbers drawn uniformly from [0, 1), in the shape of `input`.

    Args:
        input: a tensor of any shape.
        dtype, layout, device, pin_memory, requires_grad, memory_format: properties of the result; those of
            `input` if not given.
    Shape: the same as that of `input`.
    Returns: a new leaf.
    Raises: TypeError if `input` is not a tensor.
    Source: torch.rand_like

    >>> torch.rand_like(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    data = like("rand_like", input, dtype, layout, device, pin_memory, memory_format)
    return drawn(chance.uniform, data, generator, requires_grad, 0.0, 1.0)


@public("function")
def randn_like(
    input: Any,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Any:
    """Return normally distributed numbers with mean 0 and variance 1, in the shape of `input`.

    Args:
        input: a tensor of any shape.
        dtype, layout, device, pin_memory, requires_grad, memory_format: properties of the result; those of
            `input` if not given.
    Shape: the same as that of `input`.
    Returns: a new leaf.
    Raises: TypeError if `input` is not a tensor.
    Source: torch.randn_like

    >>> torch.randn_like(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    data = like("randn_like", input, dtype, layout, device, pin_memory, memory_format)
    return drawn(chance.normal, data, generator, requires_grad, 0.0, 1.0)


@public("function")
def randint_like(
    input: Any,
    low: Any = None,
    high: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Any:
    """Return integers from [low, high) in the shape of `input`, and in its dtype if none is given.

    Written `randint_like(input, high)` or `randint_like(input, low, high)`.
    """
    data = like("randint_like", input, dtype, layout, device, pin_memory, memory_format)
    low, high = (0, low) if high is None else (low or 0, high)
    if not is_whole(low) or not is_whole(high):
        raise mismatch("randint_like", input, low, high)
    return drawn(chance.random_from, data, generator, requires_grad, int(low), int(high))


@public(out="cast")
def bernoulli(input: Any, p: Any = None, *, generator: Any = None) -> Any:
    """Return 1 with the probability that each element gives, else 0.

    Args:
        input: a tensor of probabilities.
        p: one probability for all, which replaces those of `input`.
        generator: the source of random numbers; None for the default one.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if a probability is not between 0 and 1.
    Derivative: 0.
    Source: torch.bernoulli

    >>> torch.tensor([0.0, 1.0]).bernoulli()
    tensor([0., 1.])
    """
    check_input("bernoulli", input)
    if p is None:
        return F.bernoulli(input, generator)
    data = like("bernoulli", input, None, None, None, False, preserve_format)
    return drawn(chance.bernoulli_float, data, generator, False, p)


@public(out="same")
def multinomial(input: Any, num_samples: Any, replacement: bool = False, *, generator: Any = None) -> Any:
    """Return indices drawn with the probabilities that are in proportion to the weights in each row.

    Args:
        input: a vector or matrix of weights.
        num_samples: how many indices per row.
        replacement: whether an index can be drawn twice.
        generator: the source of random numbers; None for the default one.
    Shape: (n,) → (num_samples,); (m, n) → (m, num_samples).
    Returns: an int64 tensor.
    Raises: RuntimeError for negative weights, or too few of them to draw from.
    Source: torch.multinomial

    >>> torch.multinomial(torch.tensor([0.0, 1.0]), 1)
    tensor([1])
    """
    check_input("multinomial", input)
    return F.multinomial(input, whole("multinomial", "num_samples", 2, num_samples), replacement, generator)
