"""The context of a `Function`, `ctx`, and the call of its backward.

Note [Saved outputs]
    A Function that saves its own output would make a cycle: the output refers to the node, the node to the
    output. So an output is kept as raw data and rebuilt when it is asked for. Everything else that is saved
    is kept as it is, and `ctx.saved_tensors[0] is x` holds for an input.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from ...core import F, check_broadcast, dialect, modes
from ...core.apply import sum_gradient_to
from ...core.guards import check_written_shape
from ...core.node import RELEASED, Node
from ...core.saved_values import (
    PackedValue,
    SavedTensor,
    default_hooks,
    modification_error,
    pack,
    saved_tensor,
    unpack_entry,
)
from ...core.tensor_state import TensorBase, attach, check_saved, numbers, wrap

# ─── What the backward of a custom Function is given, and what it may give


OTHER_FIELD = (
    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
    "got false.  (Could this error message be improved?  If so, please report an enhancement request to "
    "PyTorch.)"
)
BOTH_NAMES = (
    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
    "one of them."
)


def user_backward(cls: Any) -> Any:
    """The user's `backward`, which may also be called `vjp`."""
    base = cls.base
    if cls.vjp is base.vjp:
        return cls.backward
    if cls.backward is not base.backward:
        raise RuntimeError(BOTH_NAMES)
    return cls.vjp


def call_backward(node: Any, gradient: Any) -> Any:
    """What the user's backward gives for `gradient`, as the engine gives it: a list for several outputs, of
    which some may be None. Observers see when it starts and ends.
    """
    if gradient.__class__ is np.ndarray:
        grads = [wrap(gradient)]  # as nearly always
    else:
        grads = gradient if isinstance(gradient, list) else [gradient] if node._outputs == 1 else []
        grads = [
            zero_gradients(node, i) if g is None else g if isinstance(g, TensorBase) else wrap(g)
            for i, g in enumerate(grads or [None] * node._outputs)
        ]
    method, watchers = user_backward(node._forward_cls), modes.observers()
    for watcher in watchers:
        watcher.custom_starts(node)
    try:
        return method(node, *grads)
    finally:
        for watcher in watchers:
            watcher.custom_ended()


def zero_gradients(node: Any, i: int) -> Any:
    """What stands for the missing gradient of output `i`: zeros if they are materialized; None for anything
    but a tensor.
    """
    kind = node._made[i] if node._materialize else None
    return None if kind is None else wrap(np.zeros(*kind)[()])


def check_gradients(node: Any, results: Any, raw: bool) -> tuple[Any, ...]:
    """One gradient per edge, `raw` or a tensor, from what the user's backward gave; RuntimeError if it is not
    what it must be. Superfluous None at the end is allowed.
    """
    results = results if isinstance(results, tuple) else (results,)
    count, expected = len(results), len(node._sent)
    if count != expected and (count < expected or any(r is not None for r in results[expected:])):
        raise RuntimeError(
            f"function {type(node).__name__} returned an incorrect number of gradients (expected {expected}, "
            f"got {count})"
        )
    sent, fits = [], True
    for i, (gradient, kind) in enumerate(zip(results, node._sent)):
        if kind is None and gradient is not None:
            raise RuntimeError(
                f"function {type(node).__name__} returned a gradient different than None at position "
                f"{i + 1}, but the corresponding forward input was not a Variable"
            )
        if isinstance(gradient, TensorBase):
            fits = fits and gradient._data.dtype is kind[1] and gradient._data.shape == kind[0]
        elif gradient is not None:
            raise RuntimeError(f"expected Variable or None (got {type(gradient).__name__})")
        if kind is not None:
            sent.append(gradient)
    if not fits:
        kinds = [kind for kind in node._sent if kind is not None]
        sent = [g if g is None else fit_gradient(node, i, g, *kinds[i]) for i, g in enumerate(sent)]
    return tuple([g if g is None else numbers(g) for g in sent]) if raw else tuple(sent)


def fit_gradient(node: Any, i: int, gradient: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The gradient for edge `i` in the shape and dtype of the input; RuntimeError if it does not fit.

    The first one of a Function in place on a view is written into the gradient of the base.
    """
    if node._next[i] is None:
        return gradient
    if node._in_place_on_view and i == 0:
        return written_over(shape, gradient)
    name = "torch::autograd::CopySlices" if node._in_place_on_view else type(node).__name__
    gradient = sum_gradient_to(name, i, gradient, shape)
    given = gradient._data.dtype
    if given.kind != "f" and (given.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(OTHER_FIELD)
    return gradient if gradient._data.dtype == dtype else F.to(gradient, dtype)


def written_over(shape: tuple[int, ...], gradient: Any) -> Any:
    """A gradient that can be written into memory of this shape; RuntimeError with PyTorch's text if not."""
    size = gradient._data.shape
    check_broadcast(shape, size)
    check_written_shape(shape, np.broadcast_shapes(shape, size))
    return gradient


# ─── The node of a custom Function, which is also the `ctx` that the Function's methods receive


def is_among(t: Any, others: Iterable[Any]) -> bool:
    """Return whether `t` is one of the others."""
    for other in others:  # noqa: SIM110 - `any` takes 0.3 µs longer
        if other is t:
            return True
    return False


class SavedTensorData:
    """A tensor that a Function saved: the tensor itself, or, of an output, its numbers and output number."""

    __slots__ = ("data", "nr", "tensor", "version")

    def __init__(self, tensor: Any, is_output: bool) -> None:
        self.tensor = None if is_output else tensor
        self.data, self.nr = tensor._data, tensor._nr
        self.version = 0 if is_output and tensor._storage is None else tensor._version


class SavedByFunction(SavedTensor):
    """One of `ctx.saved_tensors`, as `_raw_saved_tensors` gives it."""

    __slots__ = ()

    def _entry(self) -> Any:
        kept, i = self._node._kept, int(self._name)
        return kept[i] if i < len(kept) else None

    def _set(self, packed: PackedValue) -> None:
        kept = list(self._node._kept)
        kept[int(self._name)] = packed
        self._node._kept = tuple(kept)

    def _tensor(self, checked: bool) -> Any:
        return self._node._unpack(int(self._name), checked)

    def _is_output(self) -> bool:
        entry = self._entry()
        return (
            entry.is_output if isinstance(entry, PackedValue) else entry is not None and entry.tensor is None
        )


FORWARD_ONLY = (
    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
)


class FunctionCtx:
    """Methods that `forward` or `setup_context` may call on `ctx`; they take effect when `forward` has
    returned.
    """

    def save_for_backward(self, *tensors: Any) -> None:
        """Save tensors (or None) for `backward`, which reads them as `ctx.saved_tensors`."""
        self.to_save: Any = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Save tensors (or None) for `jvp`, which reads them as `ctx.saved_tensors`."""
        if not all(t is None or isinstance(t, TensorBase) for t in tensors):
            raise AssertionError(FORWARD_ONLY)
        self.saved_for_forward: Any = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Mark inputs that `forward` modified in place; it must return them."""
        self.dirty_tensors: Any = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Mark outputs that require no gradient."""
        self.non_differentiable: Any = args

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether missing gradients reach `backward` and `jvp` as zeros (the default) or as None."""
        self.materialize_grads = value


class BackwardCFunction(Node, FunctionCtx):
    """The node of a custom Function and its `ctx`; each Function has a subclass of its own.

    `needs_input_grad` says of each argument of `forward` whether it needs a gradient. What `ctx` was asked
    for (`to_save` and its kin) is forgotten when the call is done.
    """

    __slots__ = (
        "_creation",  # how its outputs that are views were made, see `views`; unset where there is none
        "_in_place_on_view",  # whether it runs inside a CopySlices
        "_kept",  # what `save_for_backward` got: None, `SavedTensorData` or `Packed`
        "_materialize",
        "_sent",  # per input its shape and dtype, None if it is not a tensor; `_made` is the same per output
        "dirty_tensors",
        "needs_input_grad",
        "non_differentiable",
        "_outputs",
        "saved_for_forward",
        "to_save",
    )
    _speaks: ClassVar[bool] = True
    _plain: ClassVar[bool] = False
    _forward_cls: ClassVar[Any]
    _kept: tuple[Any, ...]
    _creation: str
    _in_place_on_view: bool
    _materialize: bool
    _sent: tuple[Any, ...]
    needs_input_grad: tuple[bool, ...]

    def _set_materialize(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but expected "
                "(bool)"
            )
        self._materialize = value

    materialize_grads: Any = property(None, _set_materialize)

    def name(self) -> str:
        """`<Function's name>Backward`."""
        return type(self).__name__

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors of `save_for_backward`, checked for in-place changes; inside `jvp` those of
        `save_for_forward`.
        """
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        if self._check is RELEASED:
            raise RuntimeError(dialect.second_backward_error())
        return tuple([self._unpack(i) for i in range(len(self._kept))])

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """Old name of `saved_tensors`."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """Per saved tensor an object with which hooks can be registered for it."""
        if self._check is RELEASED:
            raise RuntimeError(dialect.second_backward_error())
        return tuple(saved_tensor(SavedByFunction, self, str(i)) for i in range(len(self._kept)))

    def _unpack(self, i: int, checked: bool = True) -> Any:
        """The saved tensor number `i`."""
        entry = self._kept[i]
        if entry is None:
            return None
        if isinstance(entry, PackedValue):
            return unpack_entry(self, str(i), entry)
        tensor = entry.tensor
        storage = self._storage_of(entry.nr) if tensor is None else tensor._storage
        if checked and storage is not None and storage.version != entry.version:
            carrier = self if tensor is None else tensor.grad_fn
            nr = entry.nr if tensor is None else tensor._nr
            raise RuntimeError(modification_error(entry.data, carrier, nr, storage.version, entry.version))
        if tensor is not None:
            return tensor
        result = attach(entry.data, self, entry.nr)
        result._storage = storage
        return result

    def _keep(self, tensors: tuple[Any, ...], outputs: list[Any]) -> None:
        """Save `tensors`, through the saved-tensor hooks in force. See Note [Saved outputs]."""
        kept: list[Any] = []
        hooks = default_hooks()
        for i, t in enumerate(tensors):
            if t is None:
                kept.append(None)
                continue
            if t._inference:
                check_saved(t)
            is_output = t._fn is self or (is_among(t, outputs) and not t.is_leaf)
            kept.append(
                SavedTensorData(t, is_output) if hooks is None else pack(self, str(i), t, hooks, is_output)
            )
        self._kept = tuple(kept)

    def _release(self) -> None:
        """Forget the saved tensors. A Function that asks for none can run again."""
        self._kept = ()
        self._check = RELEASED

    def _get_user_fn(self) -> Any:
        """The user's `backward`, which may also be called `vjp`."""
        return user_backward(self._forward_cls)

    def apply(self, *args: Any) -> Any:
        """The user's backward: on gradients as tensors, its results as they are; for the engine, on a raw
        gradient (a list of them for several outputs), checked and raw.
        """
        if len(args) != 1 or isinstance(args[0], TensorBase):
            return self._get_user_fn()(self, *args)
        return check_gradients(self, call_backward(self, args[0]), True)

    def apply_jvp(self, *args: Any) -> Any:
        """The user's jvp on the tangents of the inputs."""
        return self._forward_cls.jvp(self, *args)

    def _apply_tensors(self, gradient: Any) -> tuple[Any, ...]:
        """The user's backward for the engine, on tensors, recorded."""
        return check_gradients(self, call_backward(self, gradient), False)

    def __repr__(self) -> str:
        # The name under which PyTorch shows it, and the documents with it.
        return f"<torch.autograd.function.{type(self).__name__} object at 0x{id(self):012x}>"
