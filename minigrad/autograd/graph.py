"""The graph that backward walks: nodes, edges, hooks on several tensors, versions: `torch.autograd.graph`."""

from __future__ import annotations

import abc
import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..core import modes
from ..core import node as graph
from ..core.backward_pass import Task, will_run
from ..core.hook_calls import call
from ..core.hooks import RemovableHandle
from ..core.nested_passes import here
from ..core.node import AccumulateGrad
from ..core.tensor_state import TensorBase, carrier_of, edge, share
from .saved_hooks import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)


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


__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


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
