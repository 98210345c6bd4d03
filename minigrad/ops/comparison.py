"""Comparisons, logic and the bits of integers; bounds: `clamp`, `maximum`, `minimum`.

Where two numbers are equal, `maximum` and `minimum` send half of the gradient to each, and the bounds of
`clamp` count as within.

Which op runs, and so which node the graph shows, depends on which operands are tensors.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import numpy as np

from ..core import F, check_broadcast, differentiable, dtypes, modes
from ..core.guards import check_same_dtype, invalid_arguments, overflow_error
from ..core.public import public, publish
from ..core.tensor_state import TensorBase, numbers
from .arguments import choice, fit_number, name_like, of_kinds
from .kernels import elementwise

# ─── Comparisons, logic, and the bits of integers


def comparison(also: str = "", **how: Any) -> Any:
    """Declare and publish a comparison. It has no derivative, and the result is bool."""

    def declare(function: Any) -> Any:
        name = function.__name__
        node = name.capitalize() + "Comparison"  # which no graph has
        call = differentiable(node=node, elementwise=True, forms="", **how)(function)

        def called(input: Any, other: Any) -> Any:
            of_kinds(name, input, other, call, call)
            return call(input, other)

        publish(name_like(called, function), name, "function method", "cast", also)
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


@comparison("less", kernel=np.less)
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


@comparison("less_equal", kernel=np.less_equal)
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


@comparison("greater", kernel=np.greater)
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


@comparison("greater_equal", kernel=np.greater_equal)
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
    check_same_dtype(self, other, "{0.title} did not match {1.title}")
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
    return all_hold(isclose(input, other, rtol, atol, equal_nan))


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
    return input._data.shape == other._data.shape and all_hold(F.eq(input, other))


def all_hold(t: TensorBase) -> bool:
    """Return whether all elements hold: observers are notified."""
    value = bool(np.all(numbers(t)))
    modes.notify("answered", t, value)
    return value


bits = partial(differentiable, elementwise=True, forms="function method method_")  # declares one on integers


@bits(kernel=np.bitwise_and)
def bitwise_and(self, other):
    """Return the bits that both integers have; of bools, whether both hold."""


@bits(kernel=np.bitwise_or)
def bitwise_or(self, other):
    """Return the bits that either integer has; of bools, whether one holds."""


@bits(kernel=np.bitwise_xor)
def bitwise_xor(self, other):
    """Return the bits that only one integer has; of bools, whether they differ."""


@bits(kernel=np.left_shift)
def bitwise_left_shift(self, other):
    """Return the bits moved up by `other` places: times 2 to the power of it."""


@bits(kernel=np.right_shift)
def bitwise_right_shift(self, other):
    """Return the bits moved down by `other` places; the sign stays."""


@bits(kernel=np.invert)
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


# ─── Functions of three operands: bounds, a sum with a product or quotient, and the point between two


# ── of two
# ─────────────────────────────────────────────────────────────────────────────────────────────────


# Declares an op that chooses one of two tensors' elements.
of_two = partial(differentiable, elementwise=True, numbers=False, forms="function method")


def share_of(g: Any, self: Any, other: Any, lost: Any) -> Any:
    """The gradient where one of two was chosen: half of it where they are equal, none where it `lost`."""
    halved = F.where(F.eq(self, other), F.div_scalar(g, 2), g)
    return F.masked_fill(halved, lost, 0)


@of_two(
    self=lambda g, self, other: share_of(g, self, other, F.lt(self, other)),
    other=lambda g, self, other: share_of(g, self, other, F.gt(self, other)),
)
def maximum(self, other):
    """Return the larger of two elements, element by element; NaN if one of them is NaN.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast. TypeError if an operand is a number.
    Derivative: `g` for the larger element; half of `g` for each if they are equal.
    Source: torch.maximum

    >>> torch.maximum(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0]))
    tensor([3., 5.])
    """
    return np.maximum(self, other)


@of_two(
    self=lambda g, self, other: share_of(g, self, other, F.gt(self, other)),
    other=lambda g, self, other: share_of(g, self, other, F.lt(self, other)),
)
def minimum(self, other):
    """Return the smaller of two tensors, element by element; NaN if either is."""
    return np.minimum(self, other)


def first_wins(better: Any, other: Any) -> Any:
    """Where `fmax` and `fmin` take the first: it is better, or the second is NaN, which alone differs from
    itself.
    """
    return F.logical_or(better, F.ne(other, other))


@of_two(
    self=lambda g, self, other: F.masked_fill(g, F.logical_not(first_wins(F.ge(self, other), other)), 0),
    other=lambda g, self, other: F.masked_fill(g, first_wins(F.ge(self, other), other), 0),
    jvp=lambda self_t, other_t, self, other: (
        other_t + first_wins(F.gt(self, other), other) * (self_t - other_t)
    ),
)
def fmax(self, other):
    """Return the larger of two elements, element by element; of a number and NaN the number.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast. TypeError if an operand is a number.
    Derivative: `g` for the element that is taken; of equal ones the first.
    Source: torch.fmax

    >>> torch.fmax(torch.tensor([1.0, float("nan")]), torch.tensor([3.0, 2.0]))
    tensor([3., 2.])
    """
    return np.fmax(self, other)


@of_two(
    self=lambda g, self, other: F.masked_fill(g, F.logical_not(first_wins(F.le(self, other), other)), 0),
    other=lambda g, self, other: F.masked_fill(g, first_wins(F.le(self, other), other), 0),
    jvp=lambda self_t, other_t, self, other: (
        other_t + first_wins(F.le(self, other), other) * (self_t - other_t)
    ),
)
def fmin(self, other):
    """Return the smaller of two elements, element by element; of a number and NaN the number.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast. TypeError if an operand is a number.
    Derivative: `g` for the element that is taken; of equal ones the first.
    Source: torch.fmin

    >>> torch.fmin(torch.tensor([1.0, float("nan")]), torch.tensor([3.0, 2.0]))
    tensor([1., 2.])
    """
    return np.fmin(self, other)


# ── within bounds
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def clamp_kernel(self: Any, min: Any = None, max: Any = None) -> Any:
    """`self` between two bounds, of which one may be None; where they cross, `max` holds."""
    low = self if min is None else np.maximum(self, min)
    return low if max is None else np.minimum(low, max)


def inner_vjp(g, self, min, max):
    """Return the gradient where `self` is within its bounds."""
    within = [F.ge(self, min)] if min is not None else []
    within += [F.le(self, max)] if max is not None else []
    return F.where(reduce(F.logical_and, within), g, 0.0)


def min_vjp(g, self, min, max):
    """Return the gradient where the lower bound was taken."""
    below = F.lt(self, min)
    return F.where(below if max is None else F.logical_and(F.lt(min, max), below), g, 0.0)


def max_vjp(g, self, min, max):
    """Return the gradient where the upper bound was taken."""
    above = F.gt(self, max)
    return F.where(above if min is None else F.logical_or(F.lt(max, min), above), g, 0.0)


@elementwise(name="clamp", self=inner_vjp, min=min_vjp, max=max_vjp, kernel=clamp_kernel)
def clamp_op(self, min=None, max=None):
    """Return each element brought between those of `min` and `max`, tensors of which one may be left out."""


@elementwise(self=inner_vjp, node="ClampBackward1", kernel=clamp_kernel)
def clamp_numbers(self, min=None, max=None):
    """Return each element brought between two numbers, of which one may be left out."""


# Declare an op with one bound.
upper = partial(elementwise, self=lambda g, self, max: inner_vjp(g, self, None, max), kernel=np.minimum)
lower = partial(elementwise, self=lambda g, self, min: inner_vjp(g, self, min, None), kernel=np.maximum)


@upper(name="clamp_max")
def clamp_max_op(self, max):
    """Return the smaller of each element and a number."""


@upper(max=lambda g, self, max: max_vjp(g, self, None, max), node="ClampMaxBackward1")
def clamp_max_tensor(self, max):
    """Return the smaller of each element and that of another tensor."""


@lower(name="clamp_min")
def clamp_min_op(self, min):
    """Return the greater of each element and a number."""


@lower(min=lambda g, self, min: min_vjp(g, self, min, None), node="ClampMinBackward1")
def clamp_min_tensor(self, min):
    """Return the greater of each element and that of another tensor."""


# ─── Functions of two and three operands, as functions and methods, and the operators of integers


def check_bound(input: Any, bound: Any) -> None:
    """RuntimeError in PyTorch's words if the common dtype cannot have the number `bound`."""
    if bound is None or (
        input._data.dtype in dtypes.FAST_ARRAYS and -1e30 < bound.real < 1e30 and not bound.imag
    ):
        return
    if isinstance(bound, complex):
        raise overflow_error("double")
    fit_number(bound, dtypes.OF_NUMPY[dtypes.result_type(input._data, bound)])


@public("function method function_ method_", out="cast", also="clip")
@choice
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Return each element limited to the range from `min` to `max`.

    Args:
        input: a tensor of any shape.
        min: the lower bound, a number or a tensor; None for no lower bound.
        max: the upper bound, a number or a tensor; None for no upper bound.
    Shape: the broadcast shape of `input` and the bounds.
    Returns: a new tensor.
    Raises: RuntimeError if both bounds are None.
    Derivative: `g` where the element lies within the bounds, else 0.
    Source: torch.clamp

    >>> torch.clamp(torch.tensor([-1.0, 0.5, 2.0]), min=0, max=1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, TensorBase) or isinstance(max, TensorBase):
        if not all(bound is None or isinstance(bound, TensorBase) for bound in (min, max)):
            raise invalid_arguments("clamp", input, min, max)
        return clamp_op, (input, min, max)
    check_bound(input, min)
    check_bound(input, max)
    return clamp_numbers, (input, min, max)


def one_bound(name: str, input: Any, bound: Any, tensors: Any, number: Any) -> Any:
    """Return the op for one bound."""
    call = of_kinds(name, input, bound, tensors, number)
    if call is number:
        check_bound(input, bound)
    return call, (input, bound)


@public("function method function_ method_", out="cast")
@choice
def clamp_min(input: Any, min: Any) -> Any:
    """Return the greater of each element and `min`, a number or a tensor."""
    return one_bound("clamp_min", input, min, clamp_min_tensor, clamp_min_op)


@public("function method function_ method_", out="cast")
@choice
def clamp_max(input: Any, max: Any) -> Any:
    """Return the smaller of each element and `max`, a number or a tensor."""
    return one_bound("clamp_max", input, max, clamp_max_tensor, clamp_max_op)
