"""class Tensor: autograd's attributes, conversion, printing."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .. import dialect, dtypes, modes, printing
from ..hooks import HookDict, RemovableHandle
from ..op import F
from ..tensor_base import TensorBase, alias, check_can_require_grad, share, wrap
from .arithmetic import Arithmetic, Comparison, InPlace
from .shapes import Algebra, Shape

NOT_LEAF = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
    "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
)
NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
    "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for "
    "a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
    "mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for "
    "more information."
)


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple with `numel()`."""

    __slots__ = ()

    def numel(self) -> int:
        """Number of elements."""
        n = 1
        for k in self:
            n *= k
        return n

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class Autograd(TensorBase):
    """Gradients: who needs them, where they are kept, who is told."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are computed for this tensor. Can be set on leaves only."""
        return self._acc is not None or self.grad_fn is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if self.grad_fn is not None:
            raise RuntimeError(NOT_LEAF.partition(" If")[0] if value else NOT_LEAF)
        if value:
            if self._data.dtype not in dtypes.DIFFERENTIABLE:
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
            self._acc = self._acc or True
        else:
            self._acc = None

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set `requires_grad` in place and return the tensor."""
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        if not requires_grad or self.grad_fn is None:
            self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Any:
        """The gradient that backward calls have added up here, or None."""
        if self._fn is not None and not self._retains and self._grad is None:
            dialect.warn(NON_LEAF_GRAD, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def retains_grad(self) -> bool | None:
        """Whether `retain_grad()` keeps the gradient of this tensor, which is not a leaf."""
        return True if self._retains and self._fn is not None else dialect.retains_grad_unset()

    def retain_grad(self) -> None:
        """Keep this tensor's gradient in `.grad` although it is not a leaf; nothing changes for a leaf."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        fn = self.grad_fn
        if fn is not None and not self._retains:
            self._retains = True
            fn.extra.retain[self._nr] = weakref.ref(self)

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Run backward from this tensor and add the gradients of the leaves to their `.grad`.

        `gradient` (of this tensor's shape) may be left out for one element, where it is 1. See
        `autograd.backward`.
        """
        TensorBase.run_backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call `hook(grad)` each time this tensor's gradient is computed; what it returns replaces the
        gradient.
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        fn = self.grad_fn
        if fn is not None:
            return RemovableHandle(fn.extra.tensor_hooks.setdefault(self._nr, HookDict()), hook)
        if self._backward_hooks is None:
            self._backward_hooks = HookDict()
        node = None if self._acc is True else self._acc()
        if node is not None:
            node.extra.tensor_hooks[0] = self._backward_hooks
        return RemovableHandle(self._backward_hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> RemovableHandle:
        """Call `hook(leaf)` after backward has added to this leaf's `.grad`."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self._post_accumulate is None:
            self._post_accumulate = HookDict()
        node = None if self._acc is True else self._acc()
        if node is not None:
            node._extra = node.extra
        return RemovableHandle(self._post_accumulate, hook)

    def detach(self) -> Any:
        """The same memory outside the graph."""
        share(self)
        result = alias(self, self._data)
        if modes.active:
            for observer in modes.observers():
                observer.detached(self, result)
        return result

    def detach_(self) -> Any:
        """Take this tensor out of its graph."""
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
                "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
                "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
                "torch/optim/optimizer.py as the solution."
            )
        self._fn, self._nr, self._acc = None, 0, None
        return self

    @property
    def data(self) -> Any:
        """The same memory outside the graph, with a version of its own: autograd does not see what is
        written.
        """
        share(self)
        result = wrap(self._data)
        share(result).array = self._data if self._data.ndim == 0 else None
        return result

    @data.setter
    def data(self, value: TensorBase) -> None:
        share(self)
        self._data = np.asarray(value._data)

    def _copy_for_grad(self) -> Any:
        return F.copy(wrap(np.empty_like(self._data)), self)


def check_grad(t: TensorBase, value: Any) -> None:
    """The checks PyTorch makes when `.grad` is assigned."""
    if not isinstance(value, TensorBase):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
        )
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if value._data.shape != t._data.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value._data.shape)}' to a tensor of size "
            f"'{list(t._data.shape)}'. Please ensure that the gradient and the tensor are the same size"
        )
    if value._data.dtype != t._data.dtype:
        ours, theirs = dtypes.of(t._data), dtypes.of(value._data)
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{theirs.title}' to a tensor with dtype "
            f"'{ours.title}'. Please ensure that the gradient and the tensor have the same dtype"
        )


class Conversion(TensorBase):
    """To Python, to NumPy, to other dtypes, to text."""

    __slots__ = ()

    @property
    def shape(self) -> Size:
        """Sizes of all dimensions."""
        return Size(self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        """Sizes of all dimensions, or of one."""
        return self.shape if dim is None else self._data.shape[dim]

    @property
    def dtype(self) -> dtypes.dtype:
        """The data type."""
        return dtypes.of(self._data)

    @property
    def device(self) -> str:
        """Always "cpu"."""
        return "cpu"

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._data.ndim

    def dim(self) -> Any:
        """Number of dimensions."""
        return self._data.ndim

    def numel(self) -> int:
        """Number of elements."""
        return self._data.size

    def item(self) -> Any:
        """The one element as a Python number."""
        if self._data.size != 1:
            raise RuntimeError(f"a Tensor with {self._data.size} elements cannot be converted to Scalar")
        return self._data.item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers (a number for a 0-dim tensor)."""
        return self._data.tolist()

    def numpy(self) -> np.ndarray:
        """The tensor's memory as a NumPy array; RuntimeError for a tensor that requires grad."""
        if self.requires_grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        share(self)
        return self._data

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return array if dtype is None and not copy else np.array(array, dtype=dtype)

    __array_priority__ = 1000

    def __bool__(self) -> bool:
        if self._data.size != 1:
            what = "no values" if self._data.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self._data.item())

    def __float__(self) -> float:
        return float(only(self))

    def __int__(self) -> int:
        return int(only(self))

    def __index__(self) -> int:
        if self._data.ndim or self._data.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data)

    def clone(self) -> Any:
        """A copy that gradients flow through."""
        return F.clone(self)

    def contiguous(self) -> Any:
        """The tensor itself if its memory is in row-major order, else a copy."""
        return self if np.ndim(self._data) == 0 or self._data.flags.c_contiguous else F.clone(self)

    def to(self, dtype: dtypes.dtype) -> Any:
        """The tensor in another dtype (itself if it has it)."""
        if not isinstance(dtype, dtypes.dtype):
            if str(dtype) == "cpu":
                return self
            raise RuntimeError(f"minigrad runs on the CPU only; cannot move a tensor to {dtype!r}")
        return self if dtypes.of(self._data) is dtype else F.to(self, dtype.numpy)

    def float(self) -> Any:
        """As float32."""
        return self.to(dtypes.float32)

    def double(self) -> Any:
        """As float64."""
        return self.to(dtypes.float64)

    def long(self) -> Any:
        """As int64."""
        return self.to(dtypes.int64)

    def int(self) -> Any:
        """As int32."""
        return self.to(dtypes.int32)

    def bool(self) -> Any:
        """As bool."""
        return self.to(dtypes.bool_)

    def element_size(self) -> Any:
        """Bytes per element."""
        return self._data.itemsize

    def __repr__(self) -> str:
        return describe(self)

    def __format__(self, spec: str) -> str:
        if self._data.ndim == 0 and type(self) is Tensor:
            return format(self._data.item(), spec)
        return object.__format__(self, spec)


def only(t: TensorBase) -> Any:
    """The one element; PyTorch's error for more."""
    if t._data.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return t._data.item()


def describe(t: TensorBase, prefix: str = "tensor(") -> str:
    """The text of a tensor as PyTorch prints it."""
    fn = t.grad_fn
    return printing.format_tensor(
        t._data,
        default_float=dtypes.get_default_dtype().numpy,
        requires_grad=t._acc is not None,
        grad_fn=None if fn is None else fn.name().rpartition("::")[2],
        class_prefix=prefix,
    )


class Tensor(Autograd, Conversion, Arithmetic, Comparison, InPlace, Shape, Algebra):
    """A multi-dimensional array of one dtype that remembers how it was computed.

    `Tensor(data)` makes a float32 copy of a sequence, as PyTorch's old constructor does; use
    `minigrad.tensor`.
    """

    __slots__ = ()
    __hash__ = object.__hash__

    def __new__(cls, data: Any = (), *args: Any) -> Any:
        """A leaf of the default dtype."""
        from ..creation import tensor

        t = object.__new__(cls)
        source = tensor(data, dtype=dtypes.get_default_dtype())
        for name in ("_data", "_fn", "_nr", "_acc", "_grad", "_storage", "_view"):
            setattr(t, name, getattr(source, name))
        return t


TensorBase.result_class = Tensor
__all__ = ["Size", "Tensor", "check_can_require_grad"]
