"""The autograd attributes of a tensor: requires_grad, the gradient, and hooks on it."""

from __future__ import annotations

import weakref
from typing import Any

from ..core import F, dialect, dtypes, modes
from ..core.accumulate import call_leaf
from ..core.guards import check_data
from ..core.hooks import HookDict, RemovableHandle
from ..core.node import sequence_numbers
from ..core.public import public
from ..core.storage import SameCounter
from ..core.tensor_state import TensorBase, alias, carrier_of, mark_inference, share, wrap

NOT_LEAF = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
    "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
)
IN_TRANSFORM = (
    "You are attempting to call Tensor.{call}(){aside} inside of a function being transformed by a functorch "
    "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, "
    "jacfwd, hessian) or call {call}() outside of a function being transformed instead."
)
NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
    "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for "
    "a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
    "mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for "
    "more information."
)
GRAD_DTYPE = (
    "attempting to assign a gradient with dtype '{}' to a tensor with grad_dtype '{}'. The gradient must "
    "match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype "
    "attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the "
    "dtypes of a tensor and its gradient may break downstream systems that assume they match."
)


class Autograd(TensorBase):
    """The part of Tensor with requires_grad, grad, backward and hooks."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are computed for this tensor. Can be set on leaves only."""
        if self._acc is not None or self._fn is not None:
            return True
        return self._view is not None and self._view.base.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value is not True and value is not False:
            raise RuntimeError("requires_grad must be a bool")
        self._set_requires_grad(value, "floating point and complex")

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def _set_requires_grad(self, value: bool, kinds: str) -> None:
        """Set the flag of a leaf; `kinds` of dtypes can have it. A leaf that is switched off keeps its
        AccumulateGrad, which adds nothing meanwhile.
        """
        if self._fn is not None:
            raise RuntimeError(NOT_LEAF.partition(" If")[0] if value else NOT_LEAF)
        if value:
            if self._data.dtype not in dtypes.DIFFERENTIABLE:
                raise RuntimeError(f"only Tensors of {kinds} dtype can require gradients")
            if self._inference and not modes.state.inference:
                raise RuntimeError(
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
                )
            self._acc = self._acc or self._paused or True
        elif self._acc is not None:
            if self._acc is not True:
                self._paused = self._acc
            self._acc = None
        modes.notify("asked", self)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set whether the tensor requires a gradient, in place, and return the tensor.

        Args:
            requires_grad: True or False.
        Shape: the same as that of the tensor.
        Returns: the tensor itself.
        Raises: RuntimeError if the dtype is not a floating or complex one, or if it is set to False on a
            non-leaf.
        Source: torch.Tensor.requires_grad_

        >>> torch.tensor([1.0]).requires_grad_()
        tensor([1.], requires_grad=True)
        """
        if modes.state.transforms:
            aside = " (or perhaps using torch.autograd.functional.* APIs)"
            raise RuntimeError(IN_TRANSFORM.format(call="requires_grad_", aside=aside))
        if not requires_grad or self._fn is None:
            self._set_requires_grad(requires_grad, "floating point")
        return self

    @property
    def grad(self) -> Any:
        """The gradient that backward calls have added up here, or None."""
        if not self._retains and self._grad is None and self._fn is not None:
            dialect.warn_of_dialect(NON_LEAF_GRAD)
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            check_grad(self, value)
        before, self._grad = self._grad, value
        modes.notify("grad_set", self, before)

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def retains_grad(self) -> bool | None:
        """Whether `retain_grad()` keeps the gradient of this tensor, which is not a leaf."""
        return True if self._retains else dialect.retains_grad_unset()

    def retain_grad(self) -> None:
        """Keep the gradient of a non-leaf tensor in its `.grad` during the backward pass.

        Args: none.
        Shape: any.
        Returns: None.
        Raises: RuntimeError if the tensor does not require a gradient.
        Source: torch.Tensor.retain_grad

        >>> x = torch.tensor([2.0], requires_grad=True)
        >>> y = x * 3
        >>> y.retain_grad()
        >>> y.sum().backward()
        >>> y.grad
        tensor([1.])
        """
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if modes.state.transforms:
            raise RuntimeError(IN_TRANSFORM.format(call="retain_grad", aside=""))
        fn = self.grad_fn
        if fn is not None and not self._retains:
            self._retains = True
            fn._extra_made.retain[self._nr] = weakref.ref(self)
            modes.notify("retained", self)

    def _receive(self, node: Any, gradient: Any) -> None:
        """Add the gradient that a user calls this leaf's AccumulateGrad with."""
        call_leaf(node, gradient)

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Register a function that is called with the gradient of the tensor in each backward pass.

        Args:
            hook: takes the gradient and returns None or the gradient to use instead.
        Shape: any.
        Returns: a handle whose `remove()` removes the hook.
        Raises: RuntimeError if the tensor does not require a gradient.
        Source: torch.Tensor.register_hook

        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> handle = x.register_hook(lambda g: 2 * g)
        >>> (x ** 2).backward()
        >>> x.grad
        tensor([12.])
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        modes.repeat_for_each()
        fn = self.grad_fn
        if fn is not None:
            return RemovableHandle(fn._extra_made.tensor_hooks.setdefault(self._nr, HookDict()), hook)
        if self._backward_hooks is None:
            self._backward_hooks = HookDict()
        node = carrier_of(self)
        if node is not None:
            node._extra_made.tensor_hooks[0] = self._backward_hooks
        return RemovableHandle(self._backward_hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> RemovableHandle:
        """Call `hook(leaf)` after backward has added to this leaf's `.grad`."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        modes.repeat_for_each()
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self._post_accumulate is None:
            self._post_accumulate = HookDict()
        node = carrier_of(self)
        if node is not None:
            node._extra = node._extra_made
        return RemovableHandle(self._post_accumulate, hook)

    @public("function")
    def detach(self) -> Any:
        """Return the tensor without its history: it shares the memory and requires no gradient.

        Args: none.
        Shape: the same as that of the tensor.
        Returns: a tensor that shares the same memory.
        Raises: nothing.
        Source: torch.Tensor.detach

        >>> torch.tensor([1.0], requires_grad=True).detach()
        tensor([1.])
        """
        result = alias(self, self._data)
        if modes.active and modes.state.tape is not None:
            modes.state.tape.record("detach", (self,), result)
        modes.notify("detached", self, result, "detach")
        return result

    @public("function")
    def detach_(self) -> Any:
        """Cut the tensor from its graph in place, so that it becomes a leaf, and return the tensor.

        Args: none.
        Shape: the same as that of the tensor.
        Returns: the tensor itself.
        Raises: RuntimeError if the tensor is a view.
        Source: torch.Tensor.detach_

        >>> (torch.tensor([1.0], requires_grad=True) * 2).detach_()
        tensor([2.])
        """
        modes.repeat_for_each()
        if modes.active and modes.state.inference:
            return self  # autograd is not asked
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
                "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
                "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
                "torch/optim/optimizer.py as the solution."
            )
        if self._fn is None:
            self.requires_grad_(False)
        else:
            share(self).detached = next(sequence_numbers)
            modes.notify("detached", self, self, "detach")
        self._fn, self._nr = None, 0
        if self._tangent is not None:
            self._tangent = None
        return self

    @property
    def data(self) -> Any:
        """The same memory outside the graph, with a version of its own: autograd does not see what is
        written.
        """
        share(self)
        modes.repeat_for_each()
        result = wrap(self._data)
        if self._bits:
            result._bits = self._bits
        if self._inference:
            mark_inference(result)
        share(result).array = self._data if self._data.ndim == 0 else None
        modes.notify("detached", self, result, "data")
        return result

    @data.setter
    def data(self, value: TensorBase) -> None:
        check_data(value)
        if self.requires_grad and value._data.dtype not in dtypes.DIFFERENTIABLE:
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        modes.repeat_for_each()
        share(value)
        storage, data = share(self), self._data
        self._data = value._data
        self._view = None  # other memory: no view of its base any more
        if self._bits != value._bits:
            self._bits = value._bits
        self._storage = SameCounter(storage, self._data, None if self._fn is None else data)
        carrier = carrier_of(self)
        if carrier is not None:
            carrier._set_storage(self._nr, self._storage)

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def _copy_for_grad(self, memory: Any) -> Any:
        return F.copy(wrap(memory), self)


def check_grad(t: TensorBase, value: Any) -> None:
    """The checks PyTorch makes when `.grad` is assigned."""
    if not isinstance(value, TensorBase):
        kind = type(value).__name__
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {kind}")
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    given, own = list(value._data.shape), list(t._data.shape)
    if given != own:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{given}' to a tensor of size '{own}'. Please ensure "
            "that the gradient and the tensor are the same size"
        )
    if value._data.dtype != t._data.dtype:
        raise RuntimeError(GRAD_DTYPE.format(dtypes.of(value._data).c_name, dtypes.of(t._data).title))
