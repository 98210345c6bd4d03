"""New tensors made from a tensor, random numbers in its memory, and ways out to other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import creation
from ..core import dtypes
from ..core.devices import CPU, check_device, device, layout, preserve_format, strided
from ..core.public import public
from ..core.shown_signature import shown_as
from ..core.tensor_state import TensorBase
from ..creation.arguments import dtype_of, mismatch, shape_of, sizes
from ..creation.random import check_generator
from ..inplace.in_place import in_place
from ..ops import random_numbers as chance

OF_NEW = shown_as(
    lambda self, size, *, dtype=None, device=None, requires_grad=False, layout=strided, pin_memory=False: None
)


class Making(TensorBase):
    """New tensors, of the dtype of a tensor if none is given."""

    __slots__ = ()

    @OF_NEW
    def new_zeros(self, *sizes_: Any, size: Any = None, dtype: Any = None, **options: Any) -> Any:
        """Zeros of shape `size` (numbers or one sequence)."""
        shape = sizes("new_zeros", sizes_, size)
        return creation.zeros(shape, dtype=dtype or dtypes.of(self._data), **options)

    @OF_NEW
    def new_ones(self, *sizes_: Any, size: Any = None, dtype: Any = None, **options: Any) -> Any:
        """Ones of shape `size` (numbers or one sequence)."""
        shape = sizes("new_ones", sizes_, size)
        return creation.ones(shape, dtype=dtype or dtypes.of(self._data), **options)

    @OF_NEW
    def new_empty(self, *sizes_: Any, size: Any = None, dtype: Any = None, **options: Any) -> Any:
        """A tensor of shape `size` for numbers to be written to: zeros."""
        shape = sizes("new_empty", sizes_, size)
        return creation.empty(shape, dtype=dtype or dtypes.of(self._data), **options)

    @shown_as(
        lambda self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=strided,
        pin_memory=False: None
    )  # fmt: skip
    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Any:
        """A tensor of shape `size` full of `fill_value`."""
        shape = shape_of("new_full", size)
        return creation.full(shape, fill_value, dtype=dtype or dtypes.of(self._data), **options)

    @shown_as(
        lambda self, size, stride, dtype=None, layout=strided, device=None, requires_grad=False,
        pin_memory=False: None
    )  # fmt: skip
    def new_empty_strided(self, size: Any, stride: Any, *, dtype: Any = None, **options: Any) -> Any:
        """A tensor whose elements lie `stride` elements apart in memory: zeros."""
        kind = dtype or dtypes.of(self._data)
        return creation.empty_strided(size, stride, dtype=kind, **options)

    def new_tensor(
        self, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Any:
        """A copy of `data` as a leaf."""
        kind = dtype_of("new_tensor", dtype) or dtypes.of(self._data)
        return creation.tensor(data, dtype=kind, device=device, requires_grad=requires_grad)


class Random(TensorBase):
    """Random numbers, written into a tensor or drawn with the probabilities that it holds."""

    __slots__ = ()

    @shown_as(lambda self, from_=0.0, to=1.0, *, generator=None: None)
    def uniform_(self, from_: Any = 0.0, to: Any = 1.0, *, generator: Any = None, **named: Any) -> Any:
        """Write numbers from [from, to), each as likely, into the tensor."""
        low = named.pop("from", from_)
        check_generator("uniform_", generator)
        if named:
            raise mismatch("uniform_", *named.values())
        return in_place(chance.uniform.op, self, low, to, generator)

    def normal_(self, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> Any:
        """Write normally distributed numbers into the tensor."""
        check_generator("normal_", generator)
        return in_place(chance.normal.op, self, mean, std, generator)

    @shown_as(lambda self, from_=0, to=None, *, generator=None: None)
    def random_(self, *bounds: Any, to: Any = None, generator: Any = None, **named: Any) -> Any:
        """Write integers into the tensor: of [0, to), of [from, to), or any that the dtype has from 0 on."""
        check_generator("random_", generator)
        given = [named["from"], *bounds] if "from" in named else list(bounds)
        given += [] if to is None else [to]
        if len(given) > 2 or set(named) - {"from"}:
            raise mismatch("random_", *bounds)
        op = (chance.random, chance.random_to, chance.random_from)[len(given)]
        return in_place(op.op, self, *map(int, given), generator)

    def exponential_(self, lambd: Any = 1.0, *, generator: Any = None) -> Any:
        """Write exponentially distributed numbers of rate `lambd` into the tensor."""
        return in_place(chance.exponential.op, self, lambd, generator)

    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Any:
        """Write 1 with probability `p`, a number or a tensor that broadcasts, else 0 into the tensor."""
        op = chance.bernoulli_tensor if isinstance(p, TensorBase) else chance.bernoulli_float
        return in_place(op.op, self, p, generator)


class Exchange(TensorBase):
    """Where a tensor is, and how NumPy and others take it."""

    __slots__ = ()

    @property
    def device(self) -> device:
        """The CPU."""
        return CPU

    @property
    def layout(self) -> layout:
        """`strided`."""
        return strided

    def cpu(self, memory_format: Any = preserve_format) -> Any:
        """The tensor itself: there is no other device."""
        return self

    @public("function")
    def get_device(self) -> int:
        """-1, as for every tensor on the CPU."""
        return -1

    @property
    def is_cuda(self) -> bool:
        """Always False."""
        return False

    @property
    def is_cpu(self) -> bool:
        """Always True."""
        return True

    @property
    def is_sparse(self) -> bool:
        """Always False."""
        return False

    @shown_as(lambda self, device=None, non_blocking=False, memory_format=preserve_format: None)
    def cuda(self, *args: Any, **named: Any) -> Any:
        """RuntimeError: minigrad runs on the CPU only."""
        check_device("cuda")

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        array = np.asarray(array)
        return creation.from_numpy(array.astype("uint8") if array.dtype == bool else array)
