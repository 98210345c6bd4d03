"""New tensors of random numbers. The same seed gives the same numbers as PyTorch on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, dtypes
from ..core.devices import unfilled_like
from ..core.guards import check_sizes, refuse_dtype
from ..core.public import public, shown_as
from ..core.tensor_state import TensorBase
from ..ops import random_numbers as random_numbers_module
from ..ops.arguments import fit_number, is_integer_like
from .data import leaf
from .factories import like_maker, maker, sized

__all__ = [
    "bernoulli",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]


def random_numbers(op: Any, array: np.ndarray, generator: Any, *args: Any) -> np.ndarray:
    """The random numbers that a kernel draws in the shape and dtype of `array`."""
    return np.asarray(op.op.kernel(array, *args, generator))


@sized
def rand(size: tuple[int, ...], *, generator: Any = None, dtype: Any) -> Any:
    """Return numbers drawn uniformly from [0, 1).

    Args:
        size: the sizes, one by one or in a tuple.
        generator: the source of random numbers; None for the default one.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is not an integer.
    Source: torch.rand

    >>> torch.rand(2, 3).shape
    torch.Size([2, 3])
    """
    array = np.zeros(check_sizes(size), dtype.numpy)
    return random_numbers(random_numbers_module.uniform, array, generator, 0.0, 1.0)


@sized
def randn(size: tuple[int, ...], *, generator: Any = None, dtype: Any) -> Any:
    """Return normally distributed numbers with mean 0 and variance 1.

    Args:
        size: the sizes, one by one or in a tuple.
        generator: the source of random numbers; None for the default one.
        dtype, layout, device, pin_memory, requires_grad: properties of the result; the dtype is the default
            one if none is given.
    Shape: `size`.
    Returns: a new leaf.
    Raises: TypeError if a size is not an integer.
    Source: torch.randn

    >>> torch.randn(2, 3).shape
    torch.Size([2, 3])
    """
    array = np.zeros(check_sizes(size), dtype.numpy)
    return random_numbers(random_numbers_module.normal, array, generator, 0.0, 1.0)


@maker
@shown_as(lambda low=0, high=None, size=None, *, generator=None, dtype=None: None)
def randint(*bounds: Any, generator: Any = None, dtype: Any, **named: Any) -> Any:
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
    names = ("low", "high", "size") if len(bounds) + len(named) == 3 else ("high", "size")
    given = dict(zip([name for name in names if name not in named], bounds, strict=True)) | named
    array = np.zeros(check_sizes(given["size"]), (dtype or dtypes.int64).numpy)
    low, high = given.get("low", 0), given["high"]
    return random_numbers(random_numbers_module.random_from, array, generator, low, high)


@maker
def randperm(n: Any, *, generator: Any = None, dtype: Any = dtypes.int64) -> Any:
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
    check_sizes((n,))
    refuse_dtype(dtype, "randperm")
    fit_number(n, dtype)
    order = random_numbers_module.draws.permutation(random_numbers_module.source_of(generator), n)
    return order.astype(dtype.numpy, copy=False)


@maker
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, dtype: Any) -> Any:
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
    if size is not None:
        array = np.zeros(check_sizes(size), dtype.numpy)
        return random_numbers(random_numbers_module.normal, array, generator, float(mean), float(std))
    if not isinstance(mean, TensorBase):
        return F.normal_float_tensor(mean, std, generator)
    run = F.normal_tensor_tensor if isinstance(std, TensorBase) else F.normal_tensor_float
    return run(mean, std, generator)


@like_maker
def rand_like(input: Any, *, generator: Any = None) -> Any:
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
    return random_numbers(random_numbers_module.uniform, input, generator, 0.0, 1.0)


@like_maker
def randn_like(input: Any, *, generator: Any = None) -> Any:
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
    return random_numbers(random_numbers_module.normal, input, generator, 0.0, 1.0)


@like_maker
def randint_like(input: Any, low: Any = None, high: Any = None, *, generator: Any = None) -> Any:
    """Return integers from [low, high) in the shape of `input`, and in its dtype if none is given.

    Written `randint_like(input, high)` or `randint_like(input, low, high)`.
    """
    low, high = (0, low) if high is None else (low or 0, high)
    if not (is_integer_like(low) and is_integer_like(high)):
        raise TypeError("randint_like() received an invalid combination of arguments")
    return random_numbers(random_numbers_module.random_from, input, generator, int(low), int(high))


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
    if p is None:
        return F.bernoulli(input, generator)
    return leaf(
        random_numbers(
            random_numbers_module.bernoulli_float, unfilled_like(input._data, input._data.dtype), generator, p
        )
    )


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
    return F.multinomial(input, num_samples, replacement, generator)
