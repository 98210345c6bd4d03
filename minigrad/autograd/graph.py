"""The graph that backward walks, and hooks for the tensors that it saves: `torch.autograd.graph`."""

from __future__ import annotations

import abc
import contextlib
import functools
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from ..core import modes
from ..core import node as graph
from ..core.accumulate import call
from ..core.engine import Task, will_run
from ..core.hooks import RemovableHandle
from ..core.nested_passes import here
from ..core.node import AccumulateGrad
from ..core.saved_values import PAIR, must_be_callable
from ..core.storage import root
from ..core.tensor_state import TensorBase, carrier_of, edge, numbers, share, wrap

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


# ─── Hooks for the tensors that a graph saves: PyTorch's `torch.autograd.graph.saved_tensors_hooks` and
# kin


PUSH = "_push_saved_tensors_default_hooks"
DISABLE = (
    "_saved_tensors_hooks_disable(): incompatible function arguments. The following argument types are "
    "supported:\n    1. (error_message: str, fail_if_non_empty: bool = True) -> None\n\nInvoked with: {!r}"
)


def push_hooks(*hooks: Callable[[Any], Any]) -> None:
    """Set a pair of hooks (pack, unpack) for the saved tensors of this thread.

    Raises TypeError unless both are callable, and RuntimeError where such hooks are disabled.
    """
    must_be_callable(PUSH, PAIR, hooks, hooks)
    if modes.state.hooks_refused is not None:
        raise RuntimeError(modes.state.hooks_refused)
    modes.switch("saved_hooks", (*modes.state.saved_hooks, hooks))


def pop_hooks() -> None:
    """Remove the innermost pair of hooks."""
    modes.switch("saved_hooks", modes.state.saved_hooks[:-1])


class saved_tensors_hooks:
    """Context manager that passes every tensor saved for backward through a pair of hooks.

    The graph keeps what `pack_hook(tensor)` returns. Reading the saved tensor calls `unpack_hook` on it. Of
    nested pairs only the innermost is called.

    Args:
        pack_hook: function of the saved tensor.
        unpack_hook: function that turns the packed value back into a tensor.

    Raises:
        RuntimeError: such hooks are disabled, or pack_hook modifies its input in place.
        TypeError: a hook cannot be called.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.item(), torch.tensor):
        ...     y = x**2
        >>> y.backward()
        >>> x.grad
        tensor(6.)

    Source: PyTorch's page `torch.autograd.graph.saved_tensors_hooks`.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        push_hooks(self.pack_hook, self.unpack_hook)
        modes.notify("mode_changed", "saved_tensors_hooks", True)

    def __exit__(self, *exc: object) -> None:
        pop_hooks()
        modes.notify("mode_changed", "saved_tensors_hooks", False)


class save_on_cpu(saved_tensors_hooks):
    """Context manager that keeps saved tensors in the CPU's memory, where minigrad keeps all tensors.

    Args:
        pin_memory: True keeps copies instead of the tensors.
        device_type: accepted and ignored.

    Raises:
        RuntimeError: hooks on saved tensors are disabled.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> with torch.autograd.graph.save_on_cpu():
        ...     (x**2).backward()
        >>> x.grad
        tensor(6.)

    Source: PyTorch's page `torch.autograd.graph.save_on_cpu`.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Any) -> Any:
            return tensor.clone() if pin_memory else tensor

        super().__init__(pack, lambda packed: packed)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Return a context manager in which `saved_tensors_hooks` raises an error.

    Args:
        error_message: text of the error.

    Returns:
        The context manager.

    Raises:
        RuntimeError: hooks are active already.
        TypeError: error_message is not a text.

    Example:
        >>> with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     with torch.autograd.graph.save_on_cpu():
        ...         pass
        Traceback (most recent call last):
        RuntimeError: not here

    Source: PyTorch's page `torch.autograd.graph.disable_saved_tensors_hooks`.
    """
    before = modes.state.hooks_refused
    if not isinstance(error_message, str):
        raise TypeError(DISABLE.format(error_message))
    try:
        if modes.state.saved_hooks:
            raise RuntimeError(error_message)
        modes.switch("hooks_refused", error_message)
        yield
    finally:
        modes.switch("hooks_refused", before)


OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
    "originally recorded."
)


class Handle:
    """Object that the graph stores instead of a saved tensor inside `allow_mutation_on_saved_tensors`."""

    __slots__ = ("__weakref__",)


class MutationContext:
    """What `allow_mutation_on_saved_tensors` keeps, until its end: by handle the tensors that nobody wrote to
    since they were saved (`original`) and copies of the others (`cloned`).

    `tid_to_weakhandle` finds the handle of a tensor in one version; `sid_to_tid` lists, for an array that
    owns memory (by id), the tensors saved there. PyTorch looks at where a tensor starts and so misses views
    that start elsewhere, whose gradients are then wrong; here the whole memory counts.
    """

    active: bool = False  # in any thread, as in PyTorch

    def __init__(self) -> None:
        self.cloned: WeakKeyDictionary[Handle, Any] = WeakKeyDictionary()
        self.original: WeakKeyDictionary[Handle, Any] = WeakKeyDictionary()
        self.tid_to_weakhandle: WeakValueDictionary[Any, Handle] = WeakValueDictionary()
        self.sid_to_tid: dict[int, set[Any]] = {}

    def pack(self, tensor: Any) -> Handle:
        """Save `tensor`; a tensor saved before in this version already has its handle."""
        share(tensor)
        sid = id(root(tensor._data))
        tid = (id(tensor), sid, tensor._version)
        self.sid_to_tid.setdefault(sid, set()).add(tid)
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None or self.original.get(handle) is not tensor:  # else one that died had this id
            handle = self.tid_to_weakhandle[tid] = Handle()
            self.original[handle] = tensor
        return handle

    def unpack(self, handle: Handle) -> Any:
        """Return the tensor as it was saved; raise PyTorch's AssertionError outside of the context."""
        found = self.cloned.get(handle)
        if found is None:
            found = self.original.get(handle)
        if found is None or not MutationContext.active:
            raise AssertionError(OUTSIDE)
        return found

    def before_write(self, array: np.ndarray) -> None:
        """Copy the saved tensors that use the memory of `array`, before it is modified."""
        for tid in self.sid_to_tid.get(id(root(array)), ()):
            handle = self.tid_to_weakhandle.get(tid)
            if handle is not None and handle in self.original:
                self.cloned[handle] = wrap(np.array(numbers(self.original.pop(handle))))

    def clear(self) -> None:
        """Forget everything."""
        for kept in (self.cloned, self.original, self.tid_to_weakhandle, self.sid_to_tid):
            kept.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[MutationContext]:
    """Return a context manager in which saved tensors may be modified in place.

    A saved tensor is copied before it is modified, and backward uses the copy. Forward and backward must both
    run inside.

    Returns:
        The context manager; it gives the object that holds the copies.

    Raises:
        AssertionError: backward runs outside of the block.
        RuntimeError: the context managers are nested.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
        ...     y = x * 1
        ...     z = y**2
        ...     _ = y.zero_()
        ...     z.backward()
        >>> x.grad
        tensor(6.)

    Source: PyTorch's page `torch.autograd.graph.allow_mutation_on_saved_tensors`.
    """
    context = MutationContext()
    with saved_tensors_hooks(context.pack, context.unpack):
        before = modes.switch("mutation", context)
        try:
            if MutationContext.active:
                raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
            MutationContext.active = True
            yield context
        finally:
            context.clear()
            MutationContext.active = False
            modes.switch("mutation", before)


# ─── The graph that backward walks: nodes, edges, hooks on several tensors, versions:
# `torch.autograd.graph`


class GradientEdge(NamedTuple):
    """Edge of the graph to which the gradient of one tensor flows.

    `backward` and `grad` accept it instead of the tensor. It does not keep the tensor alive.

    Args:
        node: node that receives the gradient.
        output_nr: index of the tensor among the outputs of the node's op.
        ownership_token: always None; a node keeps its graph alive itself.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> edge = torch.autograd.graph.get_gradient_edge(x)
        >>> torch.autograd.grad(x * x, torch.autograd.graph.GradientEdge(edge.node, edge.output_nr))
        (tensor(6.),)

    Source: PyTorch's page `torch.autograd.graph.GradientEdge`.
    """

    node: graph.Node
    output_nr: int
    ownership_token: graph.Node | None = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Return the edge of the graph to which the gradient of a tensor flows.

    Args:
        tensor: tensor that requires a gradient.

    Returns:
        A GradientEdge.

    Raises:
        RuntimeError: the tensor requires no gradient.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> torch.autograd.grad(x * x, torch.autograd.graph.get_gradient_edge(x))
        (tensor(6.),)

    Source: PyTorch's page `torch.autograd.graph.get_gradient_edge`.
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(node_of(tensor), tensor.output_nr)


def node_of(tensor: Any) -> graph.Node:
    """The node where the gradient of a tensor (or of a GradientEdge) arrives."""
    if isinstance(tensor, GradientEdge):
        return tensor.node
    node = edge(tensor) if tensor.requires_grad else None
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    return node


class Node(abc.ABC):
    """Abstract base class of all nodes, for `isinstance` and `issubclass`.

    No class of nodes inherits from it.

    Raises:
        TypeError: it is instantiated.

    Example:
        >>> isinstance((torch.ones(1, requires_grad=True) * 2).grad_fn, torch.autograd.graph.Node)
        True

    Source: PyTorch's page `torch.autograd.graph.Node`.
    """

    @abc.abstractmethod
    def name(self) -> str:
        """Return the node's name."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Return the nodes to which the gradients of the inputs go, each with its output number."""

    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """Return a dictionary for notes on the node, which nodes have as an attribute."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        return True if cls is Node and issubclass(subclass, graph.Node) else NotImplemented


def increment_version(tensor: TensorBase | Iterable[TensorBase]) -> None:
    """Increase the version counter of tensors whose memory was modified without autograd noticing.

    Args:
        tensor: tensor or several tensors.

    Returns:
        None.

    Example:
        >>> x = torch.ones(1)
        >>> torch.autograd.graph.increment_version(x)
        >>> x._version
        1

    Source: PyTorch's page `torch.autograd.graph.increment_version`.
    """
    try:
        tensors = [tensor] if isinstance(tensor, TensorBase) else list(tensor)
    except TypeError:
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input") from None
    for t in tensors:
        if not isinstance(t, TensorBase):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if not t._inference:
            share(t).version += 1


class MultiHandle(RemovableHandle):
    """Removes a hook from all of its tensors."""

    def __init__(self, handles: Iterable[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook; nothing happens if it is gone already."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors: Any, fn: Callable[[Any], Any], *, mode: str = "all") -> MultiHandle:
    """Register a hook that is called once per backward call for several tensors.

    Args:
        tensors: tensors that require a gradient.
        fn: function of the list of gradients ("all"), or of one gradient ("any"); its result is ignored.
        mode: "all" calls fn when every gradient that the call computes has arrived; "any" calls it with the
            first.

    Returns:
        A handle whose `remove()` removes the hook.

    Raises:
        ValueError: mode is neither "all" nor "any".
        AssertionError: a tensor requires no gradient.

    Example:
        >>> x, y = (torch.ones(1, requires_grad=True) for _ in range(2))
        >>> handle = torch.autograd.graph.register_multi_grad_hook((x, y), lambda grads: print(len(grads)))
        >>> (x + y).sum().backward()
        2

    Source: PyTorch's page `torch.autograd.graph.register_multi_grad_hook`.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of {('all', 'any')} but got {mode}")
    if mode == "any":
        hook = Together(fn, [], 0)
        return MultiHandle(
            [t.register_hook(functools.partial(hook.first)) for t in tensors if t.requires_grad]
        )
    together = Together(fn, [Place(t) for t in tensors], len(tensors))
    return MultiHandle(t.register_hook(functools.partial(together.arrived, i)) for i, t in enumerate(tensors))


class Place:
    """Where the gradient of a tensor arrives, without keeping that node: the node has the hook, the hook
    refers to this. In the dictionaries of a pass it stands for the node.
    """

    def __init__(self, tensor: TensorBase) -> None:
        node = node_of(tensor)
        self.leaf = weakref.ref(tensor) if isinstance(node, AccumulateGrad) else None
        self._extra_made = weakref.ref(node._extra_made)
        self.hash = hash(node)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, node: object) -> bool:
        return isinstance(node, graph.Node) and node._extra is not None and node._extra is self._extra_made()

    def is_awaited(self, task: Task) -> bool:
        """Return whether a gradient will arrive here in this pass; as in PyTorch, the only root of the pass
        does not count.
        """
        if self.leaf is None:
            return self != task.root and will_run(task, self)  # type: ignore[arg-type]
        leaf = self.leaf()
        node = None if leaf is None else carrier_of(leaf)
        runs = node is not None and node is not task.root and will_run(task, node)
        if runs and task.needed is not None and node not in task.needed:
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently running "
                "autograd.grad(). This is currently not supported."
            )
        return runs


class Together:
    """A hook on several tensors, which waits for all gradients, or takes the first. What has arrived is noted
    in the pass.
    """

    def __init__(self, fn: Callable[[Any], Any], places: list[Place], count: int) -> None:
        self.fn, self.places, self.count = fn, places, count

    def notes(self) -> dict[Any, Any]:
        """Return the notes of the pass in which the hook runs."""
        if here.task is None:
            raise AssertionError("expected this hook to be called inside a backward call")
        return here.task.notes

    def call(self, grads: tuple[Any, ...], argument: Any) -> None:
        """Call the user's hook, whose result is ignored, and tell the observers."""
        call(modes.observers(), here.hooked, "multi", self.fn, 0, grads, argument)

    def arrived(self, i: int, grad: Any) -> None:
        """Store the gradient of tensor `i`, which has been computed."""
        notes = self.notes()
        if self not in notes:
            notes[self] = [sum(place.is_awaited(here.task) for place in self.places), [None] * self.count]
        state = notes[self]
        state[0] -= 1
        state[1][i] = grad
        if state[0] == 0:
            del notes[self]
            self.call(tuple(state[1]), state[1])

    def first(self, grad: Any) -> None:
        """Take the first gradient of each pass."""
        notes = self.notes()
        if self not in notes:
            notes[self] = True
            self.call((grad,), grad)
