"""Tensor state without arithmetic: data, place in the graph, gradient, storage.

Note [Threads]
    Threads may run ops and backward over the same leaves and graphs. CPython switches threads only where a
    function is called or a loop repeats, so a test and the assignment after it cannot be separated. Anything
    that becomes shared is created first, and then stored if its place is still free. A lock for each deposit
    would cost as much as the deposit.
"""

from __future__ import annotations

import weakref
from typing import Any, ClassVar

import numpy as np

from . import dtypes, modes
from . import nested_passes as anomaly
from .hooks import HookDict
from .node import AccumulateGrad, Node
from .storage import InferenceStorage, Storage, View

IN_INTERIOR = "leaf variable has been moved into the graph interior"
IN_PLACE_ON_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."


class TensorBase:
    """The state of a tensor.

    - `_data`: a NumPy scalar or array (see Note [Storage]).
    - `_fn`, `_nr`: the node that made the tensor, and the number of the tensor among that node's outputs;
      None and 0 for a leaf.
    - `_acc`: of a leaf: None if it requires no gradient, True if it does, then a weak reference to its
      AccumulateGrad.
    - `_grad`: the gradient, a tensor or None.
    - `_storage`: None until the memory is shared or modified in place.
    - `_view`: None unless the tensor is a view.
    """

    __slots__ = ("__dict__", "__weakref__", "_acc", "_data", "_fn", "_grad", "_nr", "_storage", "_view")

    result_class: ClassVar[type[TensorBase]]  # what ops return; set once by `Tensor`
    regenerate: ClassVar[Any] = None  # updates a view's grad_fn; set once by `inplace`
    _backward_hooks: HookDict | None = None  # of a leaf; hooks of a result live on its node
    _retains: bool = False
    _paused: Any = None  # of a leaf whose requires_grad was switched off: what `_acc` was
    _post_accumulate: HookDict | None = None
    _bits: int = 0  # CONJUGATE: its numbers are the conjugates of `_data`; NEGATIVE: their negatives
    _apart: bool = False  # unpacked by a hook: instead of another tensor, with memory of its own
    _inference: bool = False  # made in inference mode: always outside any graph
    _tangent: TensorBase | None = None  # of a dual tensor in forward mode
    _batched: tuple[Any, ...] = ()  # the calls of `func.vmap` on whose examples it depends
    _tangent_base: Any = None  # whose tangent that of a view is part of, if not its base's; False: its own

    _data: Any
    _fn: Node | None
    _nr: int
    _acc: Any
    _grad: TensorBase | None
    _storage: Storage | None
    _view: View | None

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are computed for this tensor."""
        if self._acc is not None or self._fn is not None:
            return True
        return self._view is not None and self._view.base.requires_grad

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        if self._view is not None:
            TensorBase.regenerate(self)
        return self._fn

    @property
    def output_nr(self) -> int:
        """The number of this tensor among the outputs of `grad_fn`."""
        return self._nr

    @property
    def is_leaf(self) -> bool:
        """True if no node made it: the user created it, or it needs no gradient."""
        return self.grad_fn is None

    @property
    def _version(self) -> int:
        """How often its memory was modified since it was created."""
        if self._inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        storage = self._storage
        if storage is None and self._fn is not None:
            storage = self._fn._storage_of(self._nr)  # of a tensor that a node returned as a saved value
        return 0 if storage is None else storage.version


_new = object.__new__


class Tensors(tuple[Any, ...]):
    """Tensors, or None instead of some, that an op takes as one argument: the indices of `x[i, j]`.

    `versions` are those at which a node saved them; empty if none of them had been modified.
    """

    versions: tuple[int, ...] = ()

    @property
    def are_untouched(self) -> bool:
        """Whether the memory of none of them was shared or modified."""
        return not [t for t in self if t is not None and t._storage is not None]


def keep_together(tensors: Tensors) -> Tensors:
    """Return tensors that are one argument, with the versions at which they are saved."""
    kept = Tensors(tensors)
    given = [t for t in tensors if t is not None]
    for t in given:
        check_saved(t)
    kept.versions = tuple(t._version for t in given)
    return kept


def check_saved(tensor: TensorBase) -> None:
    """Raise RuntimeError with PyTorch's text for an inference tensor, which no node may save."""
    if tensor._inference:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference "
            "mode in computation tracked by autograd. To work around this, you can make a clone to get a "
            "normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
            "`torch.inference_mode()`."
        )


def flatten_arguments(values: Any) -> list[Any]:
    """Return the arguments of an op, with tensors that are one argument listed separately."""
    return [t for v in values for t in ([x for x in v if x is not None] if isinstance(v, Tensors) else [v])]


def wrap(data: Any) -> Any:
    """Return a tensor on raw data that needs no gradient."""
    t = _new(TensorBase.result_class)
    t._data = data
    t._nr = 0
    t._fn = t._acc = t._grad = t._storage = t._view = None
    return t


def attach(data: Any, fn: Node | None, nr: int = 0) -> Any:
    """Return a tensor on raw data that node `fn` made."""
    t = _new(TensorBase.result_class)
    t._data = data
    t._fn = fn
    t._nr = nr
    t._acc = t._grad = t._storage = t._view = None
    return t


def accumulator(leaf: TensorBase) -> AccumulateGrad:
    """Return the AccumulateGrad of a leaf that needs a gradient: the existing one, or a new one."""
    known = leaf._acc
    if known is not True:
        node = known()
        if node is not None:
            return node
    node = AccumulateGrad(leaf)
    reference = weakref.ref(node)
    if leaf._acc is not known:  # another thread was faster: see Note [Threads]
        return accumulator(leaf)
    leaf._acc = reference
    if leaf._backward_hooks:
        node._extra_made.tensor_hooks[0] = leaf._backward_hooks
    if leaf._post_accumulate:
        node._extra = node._extra_made  # not plain: the engine then calls it where user code may run
    if modes.active and modes.anomaly.enabled:
        anomaly.remember(node)
    return node


def edge(t: TensorBase) -> Node | None:
    """Return the node that receives the gradient of `t` (its output number is `t._nr`), or None."""
    if t._view is not None:
        TensorBase.regenerate(t)
    if t._fn is not None:
        return t._fn
    return None if t._acc is None else accumulator(t)


def is_plain(t: TensorBase) -> bool:
    """Return whether a tensor that shares memory or was modified is otherwise ordinary: a parameter that an
    optimizer has changed, or a view whose history is up to date (see `views.regenerate`).
    """
    view, storage = t._view, t._storage
    if view is not None and (
        view.version != storage.version  # type: ignore[union-attr]
        or (t._fn is None and view.base.requires_grad)
    ):
        return False
    kind = storage.__class__
    if kind is not Storage and (kind is InferenceStorage or t._fn is not None):
        return False
    return not (t._bits or t._apart)


def carrier_of(t: TensorBase) -> Any:
    """Return the node through which a node that saved `t` finds its Storage: the one that made it, or its
    AccumulateGrad. None if there is none.
    """
    acc = t._acc or t._paused
    return t._fn or (None if acc in (None, True) else acc())


def as_class(cls: Any, t: TensorBase) -> Any:
    """Return the tensor `t`, which nobody else uses, as an instance of another class."""
    modes.repeat_for_each()
    result = _new(cls)
    for name in ("_data", "_fn", "_nr", "_acc", "_grad", "_storage", "_view"):
        setattr(result, name, getattr(t, name))
    if t._bits:
        result._bits = t._bits
    return result


def share(t: TensorBase) -> Storage:
    """Return the Storage of `t`, created now for the first alias or in-place op. See Note [Storage]."""
    if t._storage is not None:
        return t._storage
    data, carrier = t._data, carrier_of(t)
    storage = None if carrier is None else carrier._storage_of(t._nr)  # exists if t is a node's saved value
    if storage is None:
        storage = Storage(None if isinstance(data, np.ndarray) else np.array(data))
    if t._storage is not None:  # another thread was faster: see Note [Threads]
        return t._storage
    t._data, t._storage = data if storage.array is None else storage.array, storage
    if carrier is not None:
        carrier._set_storage(t._nr, storage)
    return storage


def written_memory(t: TensorBase) -> np.ndarray:
    """Return the memory of `t` for the library to write into, which counts as a write; no graph notes it."""
    storage = share(t)
    if modes.active and modes.state.mutation is not None:
        modes.state.mutation.before_write(t._data)
    storage.version += 1
    return t._data


def alias(t: TensorBase, data: np.ndarray) -> Any:
    """Return a tensor on `data`, another view of the memory of `t`; both share one Storage."""
    storage = share(t)
    if storage.array is not None and not isinstance(data, np.ndarray):
        data = storage.array  # the scalar has just become this
    result = wrap(data)
    result._storage = storage
    if t._inference:
        result._inference = True
    if t._bits:
        result._bits = t._bits
    return result


def mark_inference(t: TensorBase) -> None:
    """Make a new tensor, whose memory is not shared, an inference tensor."""
    if not isinstance(t._data, np.ndarray):
        t._data = np.array(t._data)
    t._storage = InferenceStorage(t._data if t._data.ndim == 0 else None)
    t._inference = True


def fresh(data: Any) -> Any:
    """Return a tensor on new data; in inference mode, an inference tensor."""
    t = wrap(data)
    if modes.active and modes.state.inference:
        mark_inference(t)
    return t


CONJUGATE, NEGATIVE = 1, 2  # see `TensorBase._bits`


def numbers(t: TensorBase) -> Any:
    """Return the numbers of `t` as raw data, for other uses than in an op: in `func.vmap` they are those of
    one example.
    """
    if t._batched:
        modes.repeat_for_each()
    return operand(t)


def operand(t: TensorBase) -> Any:
    """Return the numbers of `t` for an op, conjugated or negated if its bits say so."""
    return read_as(t._bits, t._data) if t._bits else t._data


def read_as(bits: int, data: Any) -> Any:
    """Return memory as the bits say that it is read. Conversely, return what memory must contain to be read
    so.
    """
    if bits & CONJUGATE:
        data = np.conjugate(data)
    return np.negative(data) if bits & NEGATIVE else data


def check_can_require_grad(data: Any) -> None:
    """Raise RuntimeError unless the dtype can have gradients."""
    if data.dtype not in dtypes.DIFFERENTIABLE:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
