"""Tensor state without arithmetic: data, place in the graph, gradient, storage."""

from __future__ import annotations

import weakref
from typing import Any, ClassVar

import numpy as np

from . import dtypes
from .graph import AccumulateGrad, Node
from .hooks import HookDict
from .storage import Storage, View

IN_PLACE_ON_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."


class TensorBase:
    """The state of a tensor.

    `_data`     NumPy scalar or array (see Note [Storage])
    `_fn, _nr`  the node that made it and the number among that node's outputs; None, 0 for a leaf
    `_acc`      of a leaf: None if it needs no gradient, True if it does, then a weak reference to its
    AccumulateGrad `_grad`     the gradient, a tensor or None `_storage`  None until memory is shared or
    written to `_view`     None unless it is a view
    """

    __slots__ = ("__dict__", "__weakref__", "_acc", "_data", "_fn", "_grad", "_nr", "_storage", "_view")

    result_class: ClassVar[type[TensorBase]]  # what ops return; set once by `Tensor`
    regenerate: ClassVar[Any] = None  # brings a view's grad_fn up to date; set once by `inplace`
    run_backward: ClassVar[Any] = None  # `autograd.backward`, which stands above; set once there
    _backward_hooks: HookDict | None = None  # of a leaf; hooks of a result live on its node
    _retains: bool = False
    _post_accumulate: HookDict | None = None
    _inference: bool = False  # made in inference mode: outside any graph for good
    _tangent: TensorBase | None = None  # of a dual tensor in forward mode

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
        return self._acc is not None or self.grad_fn is not None

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        if self._view is not None:
            TensorBase.regenerate(self)
        return self._fn

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this tensor is."""
        return self._nr

    @property
    def is_leaf(self) -> bool:
        """True when no node made it: made by the user, or needing no gradient."""
        return self.grad_fn is None

    @property
    def _version(self) -> int:
        """How often its memory was written to since it was made."""
        return 0 if self._storage is None else self._storage.version


_new = object.__new__


def wrap(data: Any) -> Any:
    """A tensor on raw data that needs no gradient."""
    return attach(data, None)


def attach(data: Any, fn: Node | None, nr: int = 0) -> Any:
    """A tensor on raw data that node `fn` made."""
    t = _new(TensorBase.result_class)
    t._data = data
    t._fn = fn
    t._nr = nr
    t._acc = t._grad = t._storage = t._view = None
    return t


def accumulator(leaf: TensorBase) -> AccumulateGrad:
    """The AccumulateGrad of a leaf that needs a gradient: the one that lives, or a new one."""
    if leaf._acc is not True:
        node = leaf._acc()
        if node is not None:
            return node
    node = AccumulateGrad(leaf)
    leaf._acc = weakref.ref(node)
    if leaf._backward_hooks:
        node.extra.tensor_hooks[0] = leaf._backward_hooks
    if leaf._post_accumulate:
        node._extra = node.extra  # no plain node: the engine then calls it where user code may run
    return node


def edge(t: TensorBase) -> Node | None:
    """The node that receives the gradient of `t` (its output number is `t._nr`), or None."""
    if t._view is not None:
        TensorBase.regenerate(t)
    if t._fn is not None:
        return t._fn
    return None if t._acc is None else accumulator(t)


def share(t: TensorBase) -> Storage:
    """The Storage of `t`, made now if this is the first alias or in-place op. See Note [Storage]."""
    if t._storage is not None:
        return t._storage
    data = t._data
    if isinstance(data, np.ndarray):
        storage = Storage()
    else:
        t._data = np.array(data)
        storage = Storage(t._data)
    t._storage = storage
    carrier = t._fn or (t._acc() if t._acc not in (None, True) else None)
    if carrier is not None:
        carrier.set_storage(t._nr, storage)
    return storage


def alias(t: TensorBase, data: np.ndarray) -> Any:
    """A tensor on `data`, memory of `t` seen in another way; they share one Storage."""
    storage = share(t)
    result = wrap(data)
    result._storage = storage
    return result


def raw(t: TensorBase) -> Any:
    """The numbers of `t`."""
    return t._data


def deposit(node: AccumulateGrad, gradient: Any, owned: bool) -> None:
    """Add raw `gradient` to the leaf's `.grad`.

    `owned` says that nobody else can see `gradient`, so that it may become `.grad` as it is. An existing
    gradient is added to in place, as in PyTorch, so that whoever shares its memory sees the sum.
    """
    leaf = node.variable
    grad = leaf._grad
    if grad is None:
        if gradient.__class__ is np.ndarray and not (owned and gradient.flags.c_contiguous):
            gradient = np.array(gradient, order="C")
        leaf._grad = wrap(gradient)
    else:
        storage = share(grad)
        np.add(grad._data, gradient, out=grad._data)
        storage.version += 1


def deposit_tensor(node: AccumulateGrad, gradient: TensorBase) -> None:
    """Add a gradient that has a graph (`create_graph=True`) to the leaf's `.grad`, leaving a graph."""
    leaf = node.variable
    if leaf._grad is None:
        leaf._grad = gradient._copy_for_grad()  # type: ignore[attr-defined]
    else:
        leaf._grad = leaf._grad + gradient  # type: ignore[operator]


def check_can_require_grad(data: Any) -> None:
    """RuntimeError unless the dtype can carry gradients."""
    if data.dtype not in dtypes.DIFFERENTIABLE:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")


AccumulateGrad.deposit_tensor = staticmethod(deposit_tensor)
