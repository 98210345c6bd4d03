"""What can be asked of a tensor besides its numbers: its kind and memory; Python's functions on elements."""

from __future__ import annotations

import warnings
from typing import Any

from ..core import dtypes
from ..core.public import public
from ..core.tensor_state import TensorBase, share
from ..creation import constructed
from ..ops.overloads import NUMBERS
from .storages import TypedStorage, UntypedStorage

TYPED_STORAGE = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only "
    "storage class. This should only matter to you if you are using storages directly.  To access "
    "UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)


def no(what: str) -> Any:
    """Return a property that is False for every tensor here."""
    return property(lambda self: False, doc=f"Always False: there are no {what} tensors here.")


def of_sparse(name: str, layout: str = "sparse coordinate tensor layout") -> Any:
    """Return a method of sparse tensors, of which there are none."""

    def method(self: Any) -> Any:
        raise RuntimeError(f"{name} expected {layout} but got Strided")

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "Always RuntimeError: it is for sparse tensors, of which there are none here."
    return method


@public()
def is_same_size(input: Any, other: Any) -> bool:
    """Return whether two tensors have the same shape."""
    return input._data.shape == other._data.shape


@public()
def is_signed(input: Any) -> bool:
    """Return whether the dtype has negative numbers."""
    return dtypes.of(input._data).is_signed


class Properties(TensorBase):
    """Kind and memory of a tensor."""

    __slots__ = ()

    is_meta, is_nested, is_quantized, is_mkldnn = no("meta"), no("nested"), no("quantised"), no("MKL-DNN")
    is_mps, is_xpu, is_xla, is_ipu = no("MPS"), no("XPU"), no("XLA"), no("IPU")
    is_maia, is_mtia, is_vulkan, is_sparse_csr = no("MAIA"), no("MTIA"), no("Vulkan"), no("sparse")
    coalesce, is_coalesced, indices = map(of_sparse, ("coalesce", "is_coalesced", "indices"))
    values = of_sparse("values", "sparse tensor layout")

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

    def is_shared(self) -> bool:
        """Return whether other processes can see the memory; see `share_memory_`."""
        return False

    def is_pinned(self) -> bool:
        """False: there is no device to copy to."""
        return False

    def is_distributed(self) -> bool:
        """False."""
        return False

    def share_memory_(self) -> Any:
        """Return the tensor itself: threads see its memory, other processes do not."""
        return self

    def pin_memory(self) -> Any:
        """Always RuntimeError: there is no device to copy to."""
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def to_dense(self) -> Any:
        """Return the tensor itself, which is dense."""
        return self

    def dense_dim(self) -> int:
        """Return the number of dimensions."""
        return self._data.ndim

    def sparse_dim(self) -> int:
        """0."""
        return 0

    def untyped_storage(self) -> UntypedStorage:
        """Return the memory that the tensor is part of, as bytes."""
        share(self)
        return UntypedStorage(self._data)

    def storage(self) -> TypedStorage:
        """Return the memory that the tensor is part of, as numbers of its dtype; deprecated in PyTorch."""
        warnings.warn(TYPED_STORAGE, UserWarning, stacklevel=2)
        share(self)
        return TypedStorage(self._data)

    def as_subclass(self, cls: Any) -> Any:
        """Return the same memory as a tensor of the class `cls`."""
        if not isinstance(cls, type):
            raise TypeError(f"cls must be a type (got {dtypes.kind_name(cls)})")
        source: Any = self.detach()  # type: ignore[attr-defined]
        result: Any = object.__new__(cls)
        for name in ("_data", "_fn", "_nr", "_acc", "_grad", "_storage", "_view"):
            setattr(result, name, getattr(source, name))
        return result

    def new(self, *args: Any) -> Any:
        """Return what the old constructor of the tensor's dtype makes."""
        return constructed(args, dtypes.of(self._data))


# ── numbers of a tensor for Python
# ─────────────────────────────────────────────────────────────────────────────────────────────────


class Applied(TensorBase):
    """Python's functions on elements, containment, reversal."""

    __slots__ = ()

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
