"""The graph: nodes, the values they saved, and AccumulateGrad at its ends.

Note [Saved values]
    A node of an op saves, in one slot per name, what the op's vjps take. A tensor that belongs to the graph
    is saved as raw NumPy data; it is rebuilt as a Tensor on request, from data, edge, output number and
    version. A constant is saved as the tensor itself. Numbers, shapes and dims are saved as they are. A
    result is saved as raw data too, so a node never refers to the tensor that refers to it, and no reference
    cycle arises. `_check` is None while all values are raw and unversioned, which is the case that needs no
    checks. Otherwise it is a tuple with the version at which each tensor was saved. Releasing drops the
    tensors and keeps the rest: a node that saved no tensor can run again.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any, ClassVar

import numpy as np

from . import dialect
from .hooks import HookDict, RemovableHandle
from .storage import Storage

sequence_numbers = itertools.count()
LAST = 2**64 - 1  # AccumulateGrad's sequence number: it runs as soon as it is ready


RELEASED = "released"  # the value of `Node._check` after backward has freed the saved tensors


class Extra:
    """What only few nodes have: hooks and metadata.

    `tensor_hooks` maps an output number to the hooks of that tensor. `retain` maps an output number to the
    tensor that keeps its gradient (weakly). `pre` and `post` are the node's own hooks. With `unpacks`,
    reading the saved values calls user code. `tangents` are those of saved tensors, by name. `is_moved` says
    that the user has changed the sequence number: the node may be newer than what uses its output.
    """

    __slots__ = (
        "__weakref__", "is_moved", "metadata", "post", "pre", "retain", "tangents", "tensor_hooks", "unpacks"
    )  # fmt: skip

    def __init__(self) -> None:
        self.metadata: dict[Any, Any] = {}
        self.tensor_hooks: dict[int, HookDict] = {}
        self.retain: dict[int, weakref.ref[Any]] = {}
        self.pre, self.post = HookDict(), HookDict()
        self.unpacks = self.is_moved = False
        self.tangents: dict[str, Any] = {}

    @property
    def is_plain(self) -> bool:
        """Whether the plain loop may run the node: it only keeps gradients."""
        called = self.pre or self.post or any(self.tensor_hooks.values())
        return not (self.unpacks or self.is_moved or called)


class Node:
    """A step of the backward pass: the derivative of one op that ran, and where its gradients go.

    Subclasses are made by `differentiable`, one per op, and by `autograd.Function`. They have
    `apply(gradient) -> tuple` on raw arrays (with a second argument unless it `_speaks`) and
    `_apply_tensors(gradient) -> tuple` on tensors, which leaves a graph. For a node with several outputs
    (`_outputs > 1`) the argument is a list.
    """

    __slots__ = ("_cast", "_check", "_extra", "_limit", "_made", "_next", "_nrs", "_seq", "_storage")

    _outputs: int = 1
    _speaks: ClassVar[bool] = False  # True when running it calls user code
    _plain: ClassVar[bool] = True  # it has one output, and running it only sends gradients
    op: ClassVar[Any] = None
    _next: tuple[Node | None, ...]
    _nrs: tuple[int, ...] | None  # output numbers of the edges; None when all are 0
    _seq: int
    _check: Any
    # per input None or (shape, dtype) to which its gradient is brought back; after them those of the output
    _cast: tuple[Any, ...] | None
    _made: tuple[Any, ...]  # (shape, dtype) per output, where a node notes it: see `output_of`
    _storage: Storage | dict[int, Storage] | None
    _extra: Extra | None
    _limit: Any  # of the root of a limited pass that kept its graph: see `limit_of`

    def _begin(self, edges: tuple[Node | None, ...], nrs: Any = None, seq: int | None = None) -> None:
        """Fill the slots of a node that is not an op's: its edges, their output numbers, its sequence
        number."""
        self._next = edges
        self._nrs = nrs if nrs and any(nrs) else None
        self._seq = next(sequence_numbers) if seq is None else seq
        self._check = self._cast = self._storage = self._extra = None

    def name(self) -> str:
        """Return the name of the node in the current dialect."""
        return dialect.full_name(type(self).__name__)

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Per input of the op, the node that receives its gradient (None if it needs none) and the output
        number there.
        """
        return tuple(zip(self._next, self._nrs or (0,) * len(self._next), strict=True))

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary in which users can store anything about this node."""
        return self._extra_made.metadata

    @property
    def _extra_made(self) -> Extra:
        """The record of hooks and metadata, created on first use."""
        if self._extra is None:
            self._extra = Extra()
        return self._extra

    def register_hook(self, fn: Any) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after this node; its result replaces `grad_inputs`."""
        return RemovableHandle(self._extra_made.post, fn)

    def register_prehook(self, fn: Any) -> RemovableHandle:
        """Call `fn(grad_outputs)` before this node runs; its result replaces `grad_outputs`."""
        return RemovableHandle(self._extra_made.pre, fn)

    def _sequence_nr(self) -> int:
        return self._seq

    def _set_sequence_nr(self, number: int) -> None:
        self._seq = number
        self._extra_made.is_moved = True

    requires_grad: ClassVar[bool] = True

    def __call__(self, *gradients: Any, **kwargs: Any) -> Any:
        """Return the gradients of the inputs (one, or a tuple) from those of the outputs, recorded in grad
        mode. No hooks run, and gradients are not brought back to the shapes of inputs that were broadcast.
        """
        if self._speaks:
            raise TypeError(f"'{type(self).__name__}' object is not callable")
        if kwargs:
            raise TypeError("keyword arguments are not supported")
        if len(gradients) != self._outputs:
            raise TypeError(f"expected {self._outputs} arguments, got {len(gradients)} instead")
        for i, gradient in enumerate(gradients):
            if gradient is not None and not hasattr(gradient, "_data"):
                raise TypeError(f"argument {i} is not a Variable")
        sent = self._call(list(gradients))
        return sent[0] if len(sent) == 1 else sent

    def _call(self, gradients: list[Any]) -> tuple[Any, ...]:
        """Do what `__call__` does, on checked gradients."""
        if all(g is None for g in gradients):
            return (None,) * len(self._next)
        cast, self._cast = self._cast, None
        try:
            return self._apply_tensors(gradients if self._outputs > 1 else gradients[0])
        finally:
            self._cast = cast

    def _storage_of(self, nr: int) -> Storage | None:
        """Return the Storage of output `nr`, if it has one. See Note [Storage]."""
        s = self._storage
        return s.get(nr) if type(s) is dict else s  # type: ignore[return-value]

    def _set_storage(self, nr: int, storage: Storage) -> None:
        """Give the Storage of output `nr` to the nodes that saved it."""
        if self._outputs == 1:
            self._storage = storage
        else:
            self._storage = {**(self._storage or {}), nr: storage}  # type: ignore[dict-item]

    def apply(self, gradient: Any, keep: bool = True) -> tuple[Any, ...]:
        """Return the gradients of the inputs from those of the outputs, as raw arrays. Unless `keep`, release
        the saved values afterwards.
        """
        raise NotImplementedError

    def apply_rows(self, gradients: Any) -> tuple[Any, ...]:
        """`apply` on many gradients at once, each a row of an array, one after the other; what is sent has
        rows too.
        """
        return join_rows([self.apply(gradient) for gradient in rows_of(gradients)])

    def _apply_tensors(self, gradient: Any) -> tuple[Any, ...]:
        """Do what `apply` does on tensors, recorded."""
        raise NotImplementedError

    def apply_nothing(self) -> tuple[None, ...]:
        """Do the same where no gradient arrived: send none. As in PyTorch, a node of an op still checks its
        saved values, and raises if they were freed or modified.
        """
        return (None,) * len(self._next)

    def _release(self) -> None:
        """Release the saved tensors, if there are any. See Note [Saved values]."""

    def __lt__(self, other: object) -> bool:
        # The engine's heap compares (sequence number, node); nodes of equal number must count as equal.
        return False

    def __repr__(self) -> str:
        return f"<{dialect.node_name(type(self).__name__)} object at 0x{id(self):012x}>"


class AccumulateGrad(Node):
    """The end of a path: adds the gradient that arrives to `variable.grad`.

    There is one per leaf while a graph that uses the leaf lives; the leaf refers to it weakly.
    """

    __slots__ = ("__weakref__", "variable")

    variable: Any  # a TensorBase, which stands above
    _plain = False

    def __init__(self, variable: Any) -> None:
        self._next, self._seq = (), LAST
        self._nrs = self._check = self._cast = self._extra = None
        self._storage = variable._storage
        self.variable = variable

    def _call(self, gradients: list[Any]) -> tuple[()]:
        self.variable._receive(self, *gradients)
        return ()


def output_of(node: Node, nr: int) -> tuple[Any, Any] | None:
    """Return the shape and dtype of output `nr` of a node, or None if they are not known.

    A node of a plain elementwise op does not store them. Its output has the shape and dtype stored in
    `_cast`, or else those of any input that needs a gradient.
    """
    while True:
        if isinstance(node, AccumulateGrad):
            return node.variable._data.shape, node.variable._data.dtype
        made: tuple[Any, ...] | None = getattr(node, "_made", None)
        if made is not None:
            return made[nr]
        if node._cast is not None:
            return node._cast[-1]
        behind = next(((n, i) for n, i in node.next_functions if n is not None), None)
        if behind is None:
            return None
        node, nr = behind


def rows_of(gradients: Any) -> Any:
    """The rows one by one: of an array, or of a list of arrays (or None), one for each output of a node."""
    if gradients.__class__ is not list:
        return gradients
    count = next(len(g) for g in gradients if g is not None)
    return [[None if g is None else g[k] for g in gradients] for k in range(count)]


def join_rows(sent: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """What a node sent for one row after the other, as arrays with rows; None for what gets nothing."""
    return tuple([None if column[0] is None else np.array(column) for column in zip(*sent)])
