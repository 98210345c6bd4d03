"""The memory of a tensor: copying, pickling, storage, strides.

Note [Copied memory]
    A copy keeps what PyTorch's storage keeps: all the memory that a tensor is part of, so that its strides
    and offset stay and, in a deep copy, tensors that shared memory share it again. NumPy knows that memory
    as the array at the end of the chain of `base`.
"""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import F, modes
from ..core.devices import CPU, zeros_in_format
from ..core.guards import NUMBERS, check_sizes
from ..core.modes import quiet
from ..core.public import public, shown_as
from ..core.storage import Geometry, address, root, strides_of
from ..core.storage import strided_part as strided
from ..core.tensor_state import TensorBase, as_class, numbers, share, wrap
from ..inplace.in_place import in_place, in_place_view
from ..ops import views as forms
from ..ops.arguments import choice

# ─── The memory of a tensor: storages, resizing, and in-place views


def resize(t: TensorBase, shape: tuple[int, ...]) -> None:
    """Give `t` another shape, in row-major order from its first element on: in the memory that is there if it
    is enough, else in new memory that starts with the old elements.
    """
    storage = share(t)
    data, count = t._data, math.prod(shape)
    whole = root(data)
    there = whole.size - (address(data) - address(whole)) // data.itemsize if whole.size else 0
    if count > there:
        grown = np.zeros(count, data.dtype)
        grown[:there] = strided(data, Geometry((there,), (1,), 0))
        data = grown
    t._data = strided(data, Geometry(shape, strides_of(np.empty(shape, data.dtype)), 0))
    storage.version += 1


class Memory(TensorBase):
    """Views and their bases; `t_()`, `unsqueeze_()`, … which change how a tensor shows its memory.

    The latter count as changes of the memory, although no number changes, and neither the base of a view nor
    its other views follow.
    """

    __slots__ = ()

    @property
    def _base(self) -> Any:
        """The tensor of which this is a view, None if it is none."""
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        """Return whether an op made this tensor as a view of another."""
        return self._view is not None

    @public("function")
    def is_inference(self) -> bool:
        """Return whether this tensor was made in inference mode: it is outside any graph for good."""
        return self._inference

    @shown_as(lambda self, *sizes, memory_format=None: None)
    def resize_(self, size: Any, *, memory_format: Any = None) -> Any:
        """Give the tensor another shape, and more memory if it needs it; RuntimeError if it requires grad."""
        check_sizes(size)
        if self.requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        modes.repeat_for_each()
        resize(self, size)
        if memory_format is not None:
            self._data = zeros_in_format(size, self._data.dtype, memory_format)
        return self

    def t_(self) -> Any:
        """Transpose the matrix in place and return the tensor.

        Args: none.
        Shape: (n, m) → (m, n).
        Returns: the tensor itself.
        Raises: RuntimeError for more than two dimensions.
        Derivative: `g.t()`.
        Source: torch.Tensor.t_

        >>> torch.tensor([[1, 2], [3, 4]]).t_()
        tensor([[1, 3],
                [2, 4]])
        """
        return in_place_view(forms.t_, self)

    def transpose_(self, dim0: int, dim1: int) -> Any:
        """`self = self.transpose(dim0, dim1)`."""
        return in_place_view(forms.transpose_, self, dim0, dim1)

    def unsqueeze_(self, dim: int) -> Any:
        """Add a dimension of size 1 in place and return the tensor.

        Args:
            dim: the position of the new dimension.
        Shape: that of the tensor with a 1 at `dim`.
        Returns: the tensor itself.
        Raises: IndexError if `dim` is out of range.
        Derivative: `g.squeeze(dim)`.
        Source: torch.Tensor.unsqueeze_

        >>> torch.tensor([1, 2]).unsqueeze_(1)
        tensor([[1],
                [2]])
        """
        return in_place_view(forms.unsqueeze_, self, dim)

    def squeeze_(self, dim: Any = None) -> Any:
        """`self = self.squeeze(dim)`."""
        if dim is None:
            return in_place_view(forms.squeeze_, self)
        return in_place_view(forms.squeeze_dim_ if isinstance(dim, int) else forms.squeeze_dims_, self, dim)

    @public("function")
    def as_strided_(self, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
        """`self = self.as_strided(size, stride, storage_offset)`."""
        return in_place_view(
            forms.as_strided_, self, *forms.strided_place(self, size, stride, storage_offset)
        )


class UntypedStorage:
    """The memory of a tensor, and of all that share it, as bytes."""

    device = CPU

    def __init__(self, array: np.ndarray) -> None:
        self._memory = root(array)

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        return address(self._memory)

    def nbytes(self) -> int:
        """Return how many bytes there are."""
        return self._memory.nbytes

    size = __len__ = nbytes


# ─── Copying, filling and pickling tensors


NOT_A_LEAF = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
    "moment.  If you were attempting to deepcopy a module, this may be because of a "
    "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)
HOOKS_STAY = (
    "backward hook {} on tensor will not be serialized.  If this is expected, you can decorate the function "
    "with @torch.utils.hooks.unserializable_hook to suppress this warning"
)


@public("method_ function_", name="fill")
@choice
def fill_in_place(input: Any, value: Any) -> Any:
    """Return a tensor like `input` with one value in every element.

    Args:
        value: a number, or a tensor of one element.
    Shape: the same as that of the tensor.
    Returns: the tensor itself.
    Raises: TypeError if `value` is neither.
    Derivative: 0 for the tensor, `g.sum()` for a tensor `value`.
    Source: torch.Tensor.fill_

    >>> torch.zeros(2).fill_(3)
    tensor([3., 3.])
    """
    return (F.fill_tensor if isinstance(value, TensorBase) else F.fill), (input, value)


fill_in_place.__name__ = "fill"


@public("function")
def fill(input: Any, value: Any) -> Any:
    """Return a tensor like `input` with one value in every element.

    Args:
        input: a tensor of any shape.
        value: a number, or a tensor of one element.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: TypeError if `value` is neither.
    Derivative: 0 for `input`, `g.sum()` for a tensor `value`.
    Source: torch.fill

    >>> torch.fill(torch.zeros(2), 3)
    tensor([3., 3.])
    """
    return (F.fill_new_tensor if isinstance(value, TensorBase) else F.fill_new)(input, value)


class Copying(TensorBase):
    """How `copy.copy`, `copy.deepcopy` and `pickle` treat a tensor."""

    __slots__ = ()

    def copy_(self, other: Any, non_blocking: bool = False) -> Any:
        """Copy `other` into the tensor in place and return the tensor.

        Args:
            other: a tensor that broadcasts to the tensor's shape, or a number; it is converted to the dtype.
            non_blocking: accepted and ignored: there is no other device.
        Shape: that of the tensor.
        Returns: the tensor itself.
        Raises: RuntimeError if the tensor is a leaf that requires a gradient. RuntimeError if the shapes do
            not fit.
        Derivative: 0 for the tensor, `g` for `other`.
        Source: torch.Tensor.copy_

        >>> torch.zeros(2).copy_(torch.tensor([1.0, 2.0]))
        tensor([1., 2.])
        """
        source = wrap(np.asarray(other)[()]) if isinstance(other, NUMBERS) else other
        return in_place(F.copy.op, self, source)

    @public("function")
    def zero_(self) -> Any:
        """Fill the tensor with zeros in place and return the tensor.

        Args: none.
        Shape: that of the tensor.
        Returns: the tensor itself.
        Raises: RuntimeError if the tensor is a leaf that requires a gradient.
        Derivative: 0.
        Source: torch.Tensor.zero_

        >>> torch.ones(2).zero_()
        tensor([0., 0.])
        """
        return in_place(F.zero.op, self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            raise RuntimeError(NOT_A_LEAF)
        if id(self) in memo:
            return memo[id(self)]
        data = numbers(self)
        data = data if self._bits else deep(data, memo)
        result = make(type(self), data, self._acc is not None)
        if self._grad is not None:
            result._grad = self._grad.__deepcopy__(memo)  # type: ignore[attr-defined]
        result.__dict__.update(copy.deepcopy(attributes(self), memo))
        memo[id(self)] = result
        return result

    def __reduce_ex__(self, protocol: Any) -> Any:
        for hook in hooks_of(self):
            if not getattr(hook, "__torch_unserializable__", False):
                warnings.warn(HOOKS_STAY.format(repr(hook)), UserWarning, stacklevel=2)
        return rebuild, (
            type(self),
            *pickle_parts(self),
            self._bits,
            self.requires_grad,
            attributes(self),
        )


def hooks_of(t: TensorBase) -> list[Any]:
    """Return the hooks of a tensor, which for a result live on its node."""
    fn = t._fn
    hooks = t._backward_hooks if fn is None else fn._extra_made.tensor_hooks.get(t._nr) if fn._extra else None
    return list((hooks or {}).values())


def attributes(t: TensorBase) -> dict[str, Any]:
    """What the user noted on a tensor."""
    return {name: value for name, value in t.__dict__.items() if not hasattr(TensorBase, name)}


def make(cls: Any, data: Any, requires_grad: bool) -> Any:
    """Return a leaf of class `cls` on raw data."""
    result = as_class(cls, wrap(data))
    result._acc = True if requires_grad else None
    share(result).version = 1  # it was given its memory, which counts as a change
    return result


def pickle_parts(t: TensorBase) -> tuple[Any, ...]:
    """All the memory that a tensor is part of, as bytes, and where it lies there: dtype, shape, offset and
    strides, in bytes.
    """
    share(t)
    memory = root(t._data)
    return as_bytes(memory), t._data.dtype, t._data.shape, offset(t._data, memory), t._data.strides


def rebuild(
    cls: Any, memory: np.ndarray, dtype: np.dtype, shape: tuple[int, ...], start: int,
    strides: tuple[int, ...], bits: int, requires_grad: bool, noted: dict[str, Any],
) -> Any:  # fmt: skip
    """Return the tensor that `pickle_parts` took apart."""
    memory = memory if memory.flags.writeable else memory.copy()
    result = make(cls, np.ndarray(shape, dtype, memory, start, strides), requires_grad)
    result.__dict__.update({**noted, "_bits": bits} if bits else noted)
    return result


def deep(data: Any, memo: dict[int, Any]) -> Any:
    """Return a copy of raw data, in a copy of all the memory that it is part of. See Note [Copied memory]."""
    if not isinstance(data, np.ndarray):
        return data
    memory = root(data)
    copied = copy.deepcopy(memory, memo)
    if copied.strides != memory.strides:  # memory with gaps, which NumPy closed
        return data.copy()
    return np.ndarray(data.shape, data.dtype, as_bytes(copied), offset(data, memory), data.strides)


def as_bytes(array: np.ndarray) -> np.ndarray:
    """Return the memory of `array`, as bytes."""
    count = 1 + sum((n - 1) * s for n, s in zip(array.shape, array.strides)) // array.itemsize
    flat = as_strided(array, (count if array.size else 0,), (array.itemsize,))
    return quiet(flat.view, np.uint8)


def offset(array: np.ndarray, memory: np.ndarray) -> int:
    """Where `array` starts in `memory`, in bytes."""
    return address(array) - address(memory) if array.size else 0
