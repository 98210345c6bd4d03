"""Functions of two and three operands, as functions and methods, and the operators of integers.

Which op runs, and so which node the graph shows, depends on which operands are tensors.
"""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..creation.arguments import fitted
from ..ops import activations as ac
from ..ops import arithmetic as ar
from ..ops import rounding
from ..ops import ternary as te
from ..ops.checks import NUMBERS, check_tensors, choice, invalid, of_kinds


@public("function method method_", out="cast", also="divide true_divide")
@choice
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Return the quotient of two operands, element by element; integers give the default float.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with `input`, or a number.
        rounding_mode: None for the true quotient, "floor" to round down, "trunc" to round toward zero.
    Shape: the broadcast shape of both operands.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast. RuntimeError for another `rounding_mode`.
    Derivative: `g / other` for `input`, `-g * input / other ** 2` for `other`; 0 if the quotient is rounded.
    Source: torch.div

    >>> torch.div(torch.tensor([7.0, -7.0]), 2, rounding_mode='floor')
    tensor([ 3., -4.])
    """
    if rounding_mode is None:
        return ar.div, (input, other)
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return rounding.div_rounded, (input, other, rounding_mode)


def check_bound(input: Any, bound: Any) -> None:
    """RuntimeError in PyTorch's words if the common dtype cannot have the number `bound`."""
    if bound is None or (
        input._data.dtype in dtypes.FAST_ARRAYS and -1e30 < bound.real < 1e30 and not bound.imag
    ):
        return
    if isinstance(bound, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    fitted(bound, dtypes.OF_NUMPY[dtypes.result_type(input._data, bound)])


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
    given = [bound for bound in (min, max) if bound is not None]
    if not given:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    tensors = {isinstance(bound, TensorBase) for bound in given}
    if len(tensors) > 1:
        raise invalid("clamp", input, *given)
    if True in tensors:
        return te.clamp, (input, min, max)
    check_bound(input, min)
    check_bound(input, max)
    return te.clamp_numbers, (input, min, max)


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
    return one_bound("clamp_min", input, min, te.clamp_min_tensor, te.clamp_min)


@public("function method function_ method_", out="cast")
@choice
def clamp_max(input: Any, max: Any) -> Any:
    """Return the smaller of each element and `max`, a number or a tensor."""
    return one_bound("clamp_max", input, max, te.clamp_max_tensor, te.clamp_max)


@public("function method method_", out="cast")
@choice
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """Return the point between `input` and `end`: `input + weight · (end - input)`."""
    is_number = isinstance(weight, NUMBERS)
    expected = dtypes.of(input._data)
    for name, other in (("end", end), ("weight", weight)):
        if is_number and other is weight:
            continue
        found = dtypes.of(other._data)
        if found is not expected and not (other is weight and other._data.ndim == 0):
            raise RuntimeError(f"expected dtype {expected.c_name} for `{name}` but got dtype {found.c_name}")
    return te.lerp if is_number else te.lerp_tensor, (input, end, weight)


@public("function method method_", out="cast")
@choice
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Return `input + value * tensor1 * tensor2`, element by element.

    Args:
        input: a tensor of any shape.
        tensor1, tensor2: tensors that broadcast with `input`.
        value: a number.
    Shape: the broadcast shape of the three tensors.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast.
    Derivative: `g` for `input`, `g * value * tensor2` for `tensor1`, `g * value * tensor1` for `tensor2`.
    Source: torch.addcmul

    >>> torch.addcmul(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([3.0]), value=10)
    tensor([61.])
    """
    check_tensors(te.addcmul.op, (input, tensor1, tensor2))
    return te.addcmul, (input, tensor1, tensor2, value)


@public("function method method_", out="cast")
@choice
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Return `input + value * tensor1 / tensor2`, element by element.

    Args:
        input: a tensor of any shape.
        tensor1, tensor2: tensors that broadcast with `input`.
        value: a number.
    Shape: the broadcast shape of the three tensors.
    Returns: a new tensor.
    Raises: RuntimeError if the shapes do not broadcast.
    Derivative: `g` for `input`, `g * value / tensor2` for `tensor1`, `-g * value * tensor1 / tensor2 ** 2`
        for `tensor2`.
    Source: torch.addcdiv

    >>> torch.addcdiv(torch.tensor([1.0]), torch.tensor([6.0]), torch.tensor([3.0]), value=10)
    tensor([21.])
    """
    check_tensors(te.addcdiv.op, (input, tensor1, tensor2))
    return te.addcdiv, (input, tensor1, tensor2, value)


@public()
def prelu(input: Any, weight: Any) -> Any:
    """Return x where x > 0, else `weight · x`: one weight, or one for each channel (dimension 1)."""
    if input._data.dtype != weight._data.dtype:
        kinds = f"{input.dtype.title} and {weight.dtype.title}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {kinds}")
    count, ndim = weight.numel(), input.ndim
    channels = input.shape[1] if ndim > 1 else 1
    if weight.ndim > 1 or (count != 1 and (not ndim or channels != count)):
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{count} and channel size = {channels}."
        )
    if ndim != weight.ndim:
        weight = weight.reshape([count if d == 1 else 1 for d in range(ndim)])
    return ac._prelu_kernel(input, weight)
