"""The node of a custom Function, which is also the `ctx` that the Function's methods receive.

Note [Saved outputs]
    A Function that saves its own output would make a cycle: the output refers to the node, the node to the
    output. So an output is kept as raw data and rebuilt when it is asked for. Everything else that is saved
    is kept as it is, and `ctx.saved_tensors[0] is x` holds for an input.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, ClassVar

from ...core import dialect
from ...core.node import RELEASED, Node
from ...core.saved import modified
from ...core.saved_hooks import Packed, SavedTensor, default_hooks, pack, saved_tensor, unpack_entry
from ...core.tensor_state import TensorBase, attach, check_saved
from .gradients import call_backward, checked, user_backward


def is_among(t: Any, others: Iterable[Any]) -> bool:
    """Return whether `t` is one of the others."""
    for other in others:  # noqa: SIM110 - `any` takes 0.3 µs longer
        if other is t:
            return True
    return False


class Kept:
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

    def _set(self, packed: Packed) -> None:
        kept = list(self._node._kept)
        kept[int(self._name)] = packed
        self._node._kept = tuple(kept)

    def _tensor(self, checked: bool) -> Any:
        return self._node._unpack(int(self._name), checked)

    def _is_output(self) -> bool:
        entry = self._entry()
        return entry.is_output if isinstance(entry, Packed) else entry is not None and entry.tensor is None


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
        "_kept",  # what `save_for_backward` got: None, `Kept` or `Packed`
        "_materialize",
        "_sent",  # per input its shape and dtype, None for what is no tensor; `_made` is the same per output
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
        if isinstance(entry, Packed):
            return unpack_entry(self, str(i), entry)
        tensor = entry.tensor
        storage = self._storage_of(entry.nr) if tensor is None else tensor._storage
        if checked and storage is not None and storage.version != entry.version:
            carrier = self if tensor is None else tensor.grad_fn
            nr = entry.nr if tensor is None else tensor._nr
            raise RuntimeError(modified(entry.data, carrier, nr, storage.version, entry.version))
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
            kept.append(Kept(t, is_output) if hooks is None else pack(self, str(i), t, hooks, is_output))
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
        return checked(self, call_backward(self, args[0]), True)

    def apply_jvp(self, *args: Any) -> Any:
        """The user's jvp on the tangents of the inputs."""
        return self._forward_cls.jvp(self, *args)

    def _apply_tensors(self, gradient: Any) -> tuple[Any, ...]:
        """The user's backward for the engine, on tensors, recorded."""
        return checked(self, call_backward(self, gradient), False)

    def __repr__(self) -> str:
        # The name under which PyTorch shows it, and the documents with it.
        return f"<torch.autograd.function.{type(self).__name__} object at 0x{id(self):012x}>"
