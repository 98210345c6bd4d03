"""Comparisons, logic, and the bits of integers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..core import F, check_broadcast, differentiable
from ..core.public import public, publish
from ..core.tensor_state import numbers
from .checks import named, of_kinds, only, same_dtype


def comparison(also: str = "", **how: Any) -> Any:
    """Declare and publish a comparison. It has no derivative, and the result is bool."""

    def declare(function: Any) -> Any:
        name = function.__name__
        node = name.capitalize() + "Comparison"  # which no graph has
        call = differentiable(node=node, elementwise=True, forms="", **how)(function)

        def called(input: Any, other: Any) -> Any:
            of_kinds(name, input, other, call, call)
            return call(input, other)

        publish(named(called, function), name, "function method", "cast", also)
        return called

    return declare


@comparison(kernel=np.equal)
def eq(self, other):
    """Return whether each element equals the other.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
    Shape: the broadcast shape of both operands.
    Returns: a boolean tensor; it has no derivative.
    Raises: RuntimeError if the shapes do not broadcast.
    Source: torch.eq

    >>> torch.eq(torch.tensor([1, 2, 3]), 2).tolist()
    [False, True, False]
    """


@comparison("not_equal", kernel=np.not_equal)
def ne(self, other):
    """Return whether each element differs from the other.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
    Shape: the broadcast shape of both operands.
    Returns: a boolean tensor; it has no derivative.
    Raises: RuntimeError if the shapes do not broadcast.
    Source: torch.ne

    >>> torch.ne(torch.tensor([1, 2, 3]), 2).tolist()
    [True, False, True]
    """


@comparison("less", kernel=np.less, check=only("biuf", "lt_cpu"))
def lt(self, other):
    """Return whether each element is less than the other.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
    Shape: the broadcast shape of both operands.
    Returns: a boolean tensor; it has no derivative.
    Raises: RuntimeError if the shapes do not broadcast.
    Source: torch.lt

    >>> torch.lt(torch.tensor([1, 2, 3]), 2).tolist()
    [True, False, False]
    """


@comparison("less_equal", kernel=np.less_equal, check=only("biuf", "le_cpu"))
def le(self, other):
    """Return whether each element is at most the other.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
    Shape: the broadcast shape of both operands.
    Returns: a boolean tensor; it has no derivative.
    Raises: RuntimeError if the shapes do not broadcast.
    Source: torch.le

    >>> torch.le(torch.tensor([1, 2, 3]), 2).tolist()
    [True, True, False]
    """


@comparison("greater", kernel=np.greater, check=only("biuf", "gt_cpu"))
def gt(self, other):
    """Return whether each element is greater than the other.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
    Shape: the broadcast shape of both operands.
    Returns: a boolean tensor; it has no derivative.
    Raises: RuntimeError if the shapes do not broadcast.
    Source: torch.gt

    >>> torch.gt(torch.tensor([1, 2, 3]), 2).tolist()
    [False, False, True]
    """


@comparison("greater_equal", kernel=np.greater_equal, check=only("biuf", "ge_cpu"))
def ge(self, other):
    """Return whether each element is at least the other.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
    Shape: the broadcast shape of both operands.
    Returns: a boolean tensor; it has no derivative.
    Raises: RuntimeError if the shapes do not broadcast.
    Source: torch.ge

    >>> torch.ge(torch.tensor([1, 2, 3]), 2).tolist()
    [False, True, True]
    """


@differentiable(forms="function method", out="")
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether elements differ by at most `atol + rtol * abs(other)`.

    Args:
        input, other: tensors of the same dtype whose shapes broadcast.
        rtol, atol: the relative and the absolute tolerance.
        equal_nan: whether two NaNs count as close.
    Shape: the broadcast shape of both operands.
    Returns: a boolean tensor.
    Raises: RuntimeError if the dtypes differ.
    Source: torch.isclose

    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    same_dtype(self, other, "{0.title} did not match {1.title}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance:g}")
    check_broadcast(self.shape, other.shape)
    return np.isclose(self, other, rtol, atol, equal_nan)


@public()
def allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements of two tensors are close; see `isclose`.

    Args:
        input, other: tensors of the same dtype whose shapes broadcast.
        rtol, atol: the relative and the absolute tolerance.
        equal_nan: whether two NaNs count as close.
    Shape: any two shapes that broadcast.
    Returns: True or False.
    Raises: RuntimeError if the dtypes differ.
    Source: torch.allclose

    >>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]))
    True
    """
    return bool(np.all(numbers(isclose(input, other, rtol, atol, equal_nan))))


@public()
def equal(input: Any, other: Any) -> bool:
    """Return whether two tensors have the same shape and the same elements.

    Args:
        input, other: two tensors.
    Shape: any two shapes.
    Returns: True or False.
    Raises: TypeError if `input` or `other` is not a tensor.
    Source: torch.equal

    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    True
    """
    return input._data.shape == other._data.shape and bool(np.all(numbers(F.eq(input, other))))


bits = partial(differentiable, elementwise=True, forms="function method method_")  # declares one on integers


@bits(kernel=np.bitwise_and, check=only("biu", "bitwise_and_cpu"))
def bitwise_and(self, other):
    """Return the bits that both integers have; of bools, whether both hold."""


@bits(kernel=np.bitwise_or, check=only("biu", "bitwise_or_cpu"))
def bitwise_or(self, other):
    """Return the bits that either integer has; of bools, whether one holds."""


@bits(kernel=np.bitwise_xor, check=only("biu", "bitwise_xor_cpu"))
def bitwise_xor(self, other):
    """Return the bits that only one integer has; of bools, whether they differ."""


@bits(kernel=np.left_shift, check=only("iu", "lshift_cpu"))
def bitwise_left_shift(self, other):
    """Return the bits moved up by `other` places: times 2 to the power of it."""


@bits(kernel=np.right_shift, check=only("iu", "rshift_cpu"))
def bitwise_right_shift(self, other):
    """Return the bits moved down by `other` places; the sign stays."""


@bits(kernel=np.invert, check=only("biu", "bitwise_not_cpu"))
def bitwise_not(self):
    """Return all bits of an integer inverted; of a bool, its opposite."""


logical = partial(bits, numbers=False)  # declares an op on the truth of elements


@logical(kernel=np.logical_and)
def logical_and(self, other):
    """Return whether both elements are non-zero."""


@logical(kernel=np.logical_or)
def logical_or(self, other):
    """Return whether one of both elements is non-zero."""


@logical(kernel=np.logical_xor)
def logical_xor(self, other):
    """Return whether exactly one of both elements is non-zero."""


@bits(kernel=np.logical_not)
def logical_not(self):
    """Return whether the element is zero."""
