"""Comparisons, logic, and the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, check_broadcast, differentiable
from ..core.public import public, publish
from .checks import named, no_kernel, of_kinds, only, same_dtype


def comparison(function: Any, name: str, meaning: str, also: str = "") -> None:
    """Declare and publish a comparison by a NumPy function. It has no derivative, and the result is bool."""

    def compare(self, other):
        return function(self, other)

    compare.__name__ = name
    compare.__doc__ = f"""Return whether each element {meaning} the other.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
    Shape: the broadcast shape of both operands.
    Returns: a boolean tensor; it has no derivative.
    Raises: RuntimeError if the shapes do not broadcast.
    Source: torch.{name}

    >>> torch.{name}(torch.tensor([1, 2, 3]), 2).tolist()
    {function((1, 2, 3), 2).tolist()}
    """
    check = None if name in ("eq", "ne") else no_kernel(f"{name}_cpu")
    node = name.capitalize() + "Comparison"  # which no graph has
    call = differentiable(node=node, elementwise=True, forms="", check=check)(compare)

    def called(input: Any, other: Any) -> Any:
        of_kinds(name, input, other, call, call)
        return call(input, other)

    publish(named(called, compare), name, "function method", "cast", also)


comparison(np.equal, "eq", "equals")
comparison(np.not_equal, "ne", "differs from", "not_equal")
comparison(np.less, "lt", "is less than", "less")
comparison(np.less_equal, "le", "is at most", "less_equal")
comparison(np.greater, "gt", "is greater than", "greater")
comparison(np.greater_equal, "ge", "is at least", "greater_equal")


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
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._data))


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
    return input._data.shape == other._data.shape and bool(np.all(F.eq(input, other)._data))


FORMS = "function method method_"


def of_bits(function: Any, doc: str, kernel: str = "", categories: str = "biu") -> Any:
    """Declare an op on integers by a NumPy function; `kernel` is what PyTorch's error calls it."""

    def combine(self, other):
        return function(self, other)

    combine.__name__ = function.__name__ if function.__name__ in SAME else f"bitwise_{function.__name__}"
    combine.__doc__ = doc
    check = only(categories, (kernel or combine.__name__) + "_cpu")
    return differentiable(elementwise=True, forms=FORMS, check=check)(combine)


SAME = ("bitwise_and", "bitwise_or", "bitwise_xor")
bitwise_and = of_bits(np.bitwise_and, "Return the bits that both integers have; of bools, whether both hold.")
bitwise_or = of_bits(np.bitwise_or, "Return the bits that either integer has; of bools, whether one holds.")
bitwise_xor = of_bits(
    np.bitwise_xor, "Return the bits that only one integer has; of bools, whether they differ."
)
bitwise_left_shift = of_bits(
    np.left_shift, "Return the bits moved up by `other` places: times 2 to the power of it.", "lshift", "iu"
)
bitwise_right_shift = of_bits(
    np.right_shift, "Return the bits moved down by `other` places; the sign stays.", "rshift", "iu"
)


@differentiable(elementwise=True, numbers=False, forms=FORMS)
def logical_and(self, other):
    """Return whether both elements are non-zero."""
    return np.logical_and(self, other)


@differentiable(elementwise=True, numbers=False, forms=FORMS)
def logical_or(self, other):
    """Return whether one of both elements is non-zero."""
    return np.logical_or(self, other)


@differentiable(elementwise=True, numbers=False, forms=FORMS)
def logical_xor(self, other):
    """Return whether exactly one of both elements is non-zero."""
    return np.logical_xor(self, other)


@differentiable(elementwise=True, forms=FORMS)
def logical_not(self):
    """Return whether the element is zero."""
    return np.logical_not(self)


@differentiable(elementwise=True, check=only("biu", "bitwise_not_cpu"), forms=FORMS)
def bitwise_not(self):
    """Return all bits of an integer inverted; of a bool, its opposite."""
    return np.invert(self)
