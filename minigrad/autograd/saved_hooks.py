"""Hooks for the tensors that a graph saves: PyTorch's `torch.autograd.graph.saved_tensors_hooks` and kin."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from ..core import modes
from ..core.saved_hooks import PAIR, must_be_callable
from ..core.storage import root
from ..core.tensor_state import numbers, share, wrap

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
