"""New tensors made from a tensor, random numbers in its memory, and ways out to other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import creation
from ..core import dtypes
from ..core.devices import CPU, check_device, device, layout, preserve_format, strided
from ..core.guards import check_sizes, check_tensor
from ..core.public import public, shown_as
from ..core.tensor_state import TensorBase
from ..inplace.in_place import in_place
from ..ops import random_numbers
from ..ops.arguments import dtype_of

OF_NEW = shown_as(
    lambda self, size, *, dtype=None, device=None, requires_grad=False, layout=strided, pin_memory=False: None
)


def in_dtype(t: TensorBase, options: dict[str, Any]) -> dict[str, Any]:
    """`options` of a new tensor, whose dtype is that of `t` if none is given."""
    return options if options.get("dtype") is not None else options | {"dtype": dtypes.of(t._data)}


class Making(TensorBase):
    """New tensors in the dtype of this one, random numbers written into it, and where it is."""

    __slots__ = ()

    @OF_NEW
    def new_zeros(self, size: Any, **options: Any) -> Any:
        """Return a tensor of zeros in the dtype of this one.

        Args:
            size: the sizes, one by one or in a tuple.
            dtype, device, requires_grad, layout, pin_memory: as for `torch.zeros`; the dtype is that of the
                tensor if none is given.
        Shape: `size`.
        Returns: a new leaf.
        Raises: TypeError if a size is not an integer.
        Source: torch.Tensor.new_zeros

        >>> torch.tensor([1, 2]).new_zeros(3)
        tensor([0, 0, 0])
        """
        return creation.zeros(check_sizes(size), **in_dtype(self, options))

    @OF_NEW
    def new_ones(self, size: Any, **options: Any) -> Any:
        """Return ones of shape `size` (numbers or one sequence)."""
        return creation.ones(size, **in_dtype(self, options))

    @OF_NEW
    def new_empty(self, size: Any, **options: Any) -> Any:
        """Return an uninitialized tensor in the dtype of this one; minigrad fills it with zeros.

        Args:
            size: the sizes, one by one or in a tuple.
            dtype, device, requires_grad, layout, pin_memory: as for `torch.zeros`; the dtype is that of the
                tensor if none is given.
        Shape: `size`.
        Returns: a new leaf.
        Raises: TypeError if a size is not an integer.
        Source: torch.Tensor.new_empty

        >>> torch.tensor([1, 2]).new_empty(3).shape
        torch.Size([3])
        """
        return creation.empty(size, **in_dtype(self, options))

    @shown_as(
        lambda self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=strided,
        pin_memory=False: None
    )  # fmt: skip
    def new_full(self, size: Any, fill_value: Any, **options: Any) -> Any:
        """Return a tensor of shape `size` full of `fill_value`."""
        return creation.full(size, fill_value, **in_dtype(self, options))

    def new_tensor(
        self, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Any:
        """Return a copy of `data` as a leaf, in the dtype of this tensor.

        Args:
            data: numbers, nested lists, an array or a tensor.
            dtype, device, requires_grad: as for `torch.tensor`.
        Shape: that of `data`.
        Returns: a new leaf.
        Raises: ValueError if nested lists have different lengths.
        Source: torch.Tensor.new_tensor

        >>> torch.tensor([1.0]).new_tensor([1, 2])
        tensor([1., 2.])
        """
        kind = dtype_of("new_tensor", dtype) or dtypes.of(self._data)
        return creation.tensor(data, dtype=kind, device=device, requires_grad=requires_grad)

    @shown_as(lambda self, from_=0.0, to=1.0, *, generator=None: None)
    def uniform_(self, from_: Any = 0.0, to: Any = 1.0, *, generator: Any = None, **named: Any) -> Any:
        """Fill the tensor with numbers drawn uniformly from [from, to), in place.

        Args:
            from_, to: the bounds; `from` by name too.
            generator: the source of random numbers; None for the default one.
        Shape: the same as that of the tensor.
        Returns: the tensor itself.
        Raises: RuntimeError if the tensor is a leaf that requires a gradient.
        Derivative: 0.
        Source: torch.Tensor.uniform_

        >>> torch.empty(2).uniform_(2, 3) >= 2
        tensor([True, True])
        """
        low = named.pop("from", from_)
        if named:
            raise TypeError(f"uniform_() got unexpected keyword arguments: {', '.join(named)}")
        return in_place(random_numbers.uniform.op, self, low, to, generator)

    def normal_(self, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> Any:
        """Fill the tensor with normally distributed numbers, in place.

        Args:
            mean: the mean.
            std: the standard deviation.
            generator: the source of random numbers; None for the default one.
        Shape: the same as that of the tensor.
        Returns: the tensor itself.
        Raises: RuntimeError if the tensor is a leaf that requires a gradient.
        Derivative: 0.
        Source: torch.Tensor.normal_

        >>> torch.zeros(2).normal_(5.0, 0.0)
        tensor([5., 5.])
        """
        return in_place(random_numbers.normal.op, self, mean, std, generator)

    @shown_as(lambda self, from_=0, to=None, *, generator=None: None)
    def random_(self, *bounds: Any, to: Any = None, generator: Any = None, **named: Any) -> Any:
        """Fill the tensor with random integers, in place.

        Args:
            from_, to: the bounds of [from, to); one number is `to`. Without them any integer that the dtype
                holds exactly, from 0.
            generator: the source of random numbers; None for the default one.
        Shape: the same as that of the tensor.
        Returns: the tensor itself.
        Raises: RuntimeError if the tensor is a leaf that requires a gradient.
        Derivative: 0.
        Source: torch.Tensor.random_

        >>> torch.zeros(2).random_(0, 1)
        tensor([0., 0.])
        """
        given = [named["from"], *bounds] if "from" in named else list(bounds)
        given += [] if to is None else [to]
        if len(given) > 2 or set(named) - {"from"}:
            raise TypeError("random_() takes at most two bounds")
        op = (random_numbers.random, random_numbers.random_to, random_numbers.random_from)[len(given)]
        return in_place(op.op, self, *map(int, given), generator)

    def exponential_(self, lambd: Any = 1.0, *, generator: Any = None) -> Any:
        """Write exponentially distributed numbers of rate `lambd` into the tensor."""
        return in_place(random_numbers.exponential.op, self, lambd, generator)

    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Any:
        """Write 1 with probability `p`, a number or a tensor that broadcasts, else 0 into the tensor."""
        op = random_numbers.bernoulli_tensor if isinstance(p, TensorBase) else random_numbers.bernoulli_float
        return in_place(op.op, self, p, generator)

    @property
    def device(self) -> device:
        """The CPU."""
        return CPU

    @property
    def layout(self) -> layout:
        """`strided`."""
        return strided

    def cpu(self, memory_format: Any = preserve_format) -> Any:
        """Return the tensor itself: there is one device, the CPU.

        Args:
            memory_format: the order of the memory, as for `contiguous`.
        Shape: the same as that of the tensor.
        Returns: the tensor itself.
        Raises: nothing.
        Derivative: `g`.
        Source: torch.Tensor.cpu

        >>> torch.tensor([1, 2]).cpu()
        tensor([1, 2])
        """
        return self

    @public("function")
    def get_device(self) -> int:
        """Return -1, the number of the CPU.

        Args: none.
        Shape: any.
        Returns: an integer.
        Raises: nothing.
        Source: torch.Tensor.get_device

        >>> torch.tensor([1, 2]).get_device()
        -1
        """
        check_tensor("get_device", self)
        return -1

    @property
    def is_cpu(self) -> bool:
        """Always True."""
        return True

    @shown_as(lambda self, device=None, non_blocking=False, memory_format=preserve_format: None)
    def cuda(self, *args: Any, **named: Any) -> Any:
        """RuntimeError: minigrad runs on the CPU only."""
        check_device("cuda")

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        array = np.asarray(array)
        return creation.from_numpy(array.astype("uint8") if array.dtype == bool else array)
