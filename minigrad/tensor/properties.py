"""Properties of tensors and dtypes: shape, `Size`, `finfo`, `result_type`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import F, dtypes
from ..core.dtypes import kind_name
from ..core.guards import NUMBERS, check_dtype, is_integer
from ..core.public import public
from ..core.tensor_state import CONJUGATE, NEGATIVE, TensorBase, as_class, share
from ..creation.data import construct
from .memory import UntypedStorage

# ─── `torch.Size`, the shape of a tensor


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of integers with `numel()`; its parts and sums are shapes too."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return checked_size((*self, *other))

    def __radd__(self, other: Any) -> Any:
        return checked_size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        return Size(super().__mul__(times))

    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if index.__class__ is slice else found

    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


def checked_size(sizes: Any) -> Size:
    """Return a shape; TypeError with PyTorch's text for anything but an integer."""
    for i, n in enumerate(sizes):
        if not is_integer(n):
            raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{kind_name(n)}')")
    return Size(sizes)


# ─── Properties of tensors and dtypes, and what Python asks of a container


def no(what: str) -> Any:
    """Return a property that is False for every tensor here."""
    return property(lambda self: False, doc=f"Always False: there are no {what} tensors here.")


@public()
def is_same_size(input: Any, other: Any) -> bool:
    """Return whether two tensors have the same shape."""
    return input._data.shape == other._data.shape


@public()
def is_signed(input: Any) -> bool:
    """Return whether the dtype has negative numbers."""
    return dtypes.of(input._data).is_signed


def write_into_view(part: Any, value: Any) -> None:
    """Write a tensor or a number into a view."""
    part.copy_(value) if isinstance(value, TensorBase) else part.fill_(value)


class Properties(TensorBase):
    """Kind and memory of a tensor."""

    __slots__ = ()

    is_cuda, is_meta, is_nested, is_sparse = no("CUDA"), no("meta"), no("nested"), no("sparse")

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self._data.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._data.nbytes

    @property
    def name(self) -> None:
        """None: tensors have no names."""

    @property
    def grad_dtype(self) -> Any:
        """The dtype of the tensor's gradient: its own."""
        return dtypes.of(self._data)

    def ndimension(self) -> int:
        """Return the number of dimensions."""
        return self._data.ndim

    def untyped_storage(self) -> UntypedStorage:
        """Return the memory that the tensor is part of, as bytes."""
        share(self)
        return UntypedStorage(self._data)

    def as_subclass(self, cls: Any) -> Any:
        """Return the same memory as a tensor of the class `cls`."""
        if not isinstance(cls, type):
            raise TypeError(f"cls must be a type (got {dtypes.kind_name(cls)})")
        return as_class(cls, self.detach())  # type: ignore[attr-defined]

    def new(self, *args: Any) -> Any:
        """Return what the old constructor of the tensor's dtype makes."""
        return construct(args, dtypes.of(self._data))

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (TensorBase, *NUMBERS)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        return bool((self == element).any())  # type: ignore[attr-defined]

    def __reversed__(self) -> Any:
        if not self._data.ndim:
            return self
        return self.flip(0)  # type: ignore[attr-defined]

    def __delitem__(self, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    @public("function")
    def is_complex(self) -> bool:
        """Return whether the elements are complex numbers."""
        return self._data.dtype.kind == "c"

    @public("function")
    def is_floating_point(self) -> bool:
        """Return whether the elements are floating-point numbers."""
        return self._data.dtype.kind == "f"

    @public("function")
    def is_conj(self) -> bool:
        """Return whether this is a view of which the numbers are conjugates of those in its memory."""
        return bool(self._bits & CONJUGATE)

    @public("function")
    def is_neg(self) -> bool:
        """Return whether this is a view of which the numbers are negatives of those in its memory."""
        return bool(self._bits & NEGATIVE)

    @property
    def real(self) -> Any:
        """The real part, as a view; a tensor of real numbers itself."""
        return F.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        write_into_view(F.real(self), value)

    @property
    def imag(self) -> Any:
        """The imaginary part, as a view; RuntimeError for real numbers."""
        return F.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        write_into_view(F.imag(self), value)


@public("function")
def result_type(tensor1: Any, tensor2: Any) -> Any:
    """Return the dtype that an op on two tensors or numbers works in."""
    raws = [x._data if isinstance(x, TensorBase) else x for x in (tensor1, tensor2)]
    return dtypes.OF_NUMPY[dtypes.result_type(*raws)]


@public("function")
def can_cast(from_: Any, to: Any) -> bool:
    """Return whether a result of one dtype may be written into a tensor of another: bools into integers,
    these into floats, these into complex numbers, not back.
    """
    return bool(dtypes.as_dtype(from_).category <= dtypes.as_dtype(to).category)


@public("function")
def promote_types(type1: Any, type2: Any) -> Any:
    """Return the smallest dtype that holds both."""
    kinds = map(dtypes.as_dtype, (type1, type2))
    return dtypes.OF_NUMPY[dtypes.result_type(*(np.empty(1, kind.numpy) for kind in kinds))]


class Limits:
    """What `finfo` and `iinfo` share."""

    shown: tuple[str, ...] = ()

    def __repr__(self) -> str:
        values = ((n, getattr(self, n)) for n in self.shown)
        described = (f"{n}={v:.6g}" if isinstance(v, float) else f"{n}={v}" for n, v in values)
        return f"{type(self).__name__}({', '.join(described)})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(repr(self))


class finfo(Limits):
    """The limits of a floating-point dtype (of a complex one, of its parts): `bits`, `eps`, `max`, `min`,
    `tiny`, `smallest_normal`, `resolution`, `dtype`. TypeError for integers.
    """

    shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny", "dtype")

    def __init__(self, type: Any = None) -> None:
        kind = dtypes.get_default_dtype() if type is None else type
        check_dtype("finfo", "type", kind, 1)
        if kind.category < 2:
            raise TypeError(f"torch.finfo() requires a floating point input type, not {kind}")
        known = np.finfo(kind.to_real().numpy)
        self.bits, self.dtype = known.bits, kind.to_real().name
        self.eps, self.max, self.min = float(known.eps), float(known.max), float(known.min)
        self.tiny = self.smallest_normal = float(known.tiny)
        self.resolution = 10.0**-known.precision


class iinfo(Limits):
    """The limits of an integer dtype: `bits`, `max`, `min`, `dtype`. TypeError for others."""

    shown = ("min", "max", "dtype")

    def __init__(self, type: Any) -> None:
        check_dtype("iinfo", "type", type, 1)
        if type.category != 1:
            raise TypeError(f"torch.iinfo() requires an integer input type, not {type}")
        known = np.iinfo(type.numpy)
        self.bits, self.dtype = known.bits, type.name
        self.max, self.min = known.max, known.min
