"""Hooks for the tensors that a graph saves: PyTorch's `torch.autograd.graph.saved_tensors_hooks` and kin."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from ..core import modes
from ..core.saved_hooks import PAIR, must_be_callable
from ..core.tensor_state import numbers, share, wrap

PUSH = "_push_saved_tensors_default_hooks"
DISABLE = (
    "_saved_tensors_hooks_disable(): incompatible function arguments. The following argument types are "
    "supported:\n    1. (error_message: str, fail_if_non_empty: bool = True) -> None\n\nInvoked with: {!r}"
)


def push_hooks(*hooks: Callable[[Any], Any]) -> None:
    """Set a pair (pack, unpack) for the saved tensors of this thread.

    TypeError unless they can be called; RuntimeError where such hooks are disabled.
    """
    must_be_callable(PUSH, PAIR, hooks, hooks)
    if modes.state.hooks_refused is not None:
        raise RuntimeError(modes.state.hooks_refused)
    modes.switch("saved_hooks", (*modes.state.saved_hooks, hooks))


def pop_hooks() -> None:
    """Take the innermost pair away."""
    modes.switch("saved_hooks", modes.state.saved_hooks[:-1])


class saved_tensors_hooks:
    """Inside, every tensor that an op saves for backward goes through `pack_hook(tensor)`; the graph keeps
    what that gives, and `unpack_hook` turns it into a tensor again whenever it is read.

    Of nested pairs only the innermost counts. RuntimeError where such hooks are disabled.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        push_hooks(self.pack_hook, self.unpack_hook)
        modes.announce("saved_tensors_hooks", True)

    def __exit__(self, *exc: object) -> None:
        pop_hooks()
        modes.announce("saved_tensors_hooks", False)


class save_on_cpu(saved_tensors_hooks):
    """Inside, saved tensors are kept in the CPU's memory, where all of minigrad's are: they are kept as they
    are, with `pin_memory` as copies.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Any) -> Any:
            return tensor.clone() if pin_memory else tensor

        super().__init__(pack, lambda packed: packed)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, `saved_tensors_hooks` raises RuntimeError with this message; it does so at once where hooks are
    in force.
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
    """What the graph keeps instead of a saved tensor while `allow_mutation_on_saved_tensors` keeps that."""

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
        """Keep `tensor`; a tensor that was saved before in this version has its handle already."""
        share(tensor)
        sid = id(owner(tensor._data))
        tid = (id(tensor), sid, tensor._version)
        self.sid_to_tid.setdefault(sid, set()).add(tid)
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None or self.original.get(handle) is not tensor:  # else one that died had this id
            handle = self.tid_to_weakhandle[tid] = Handle()
            self.original[handle] = tensor
        return handle

    def unpack(self, handle: Handle) -> Any:
        """The tensor as it was saved. AssertionError with PyTorch's text outside of the context."""
        found = self.cloned.get(handle)
        if found is None:
            found = self.original.get(handle)
        if found is None or not MutationContext.active:
            raise AssertionError(OUTSIDE)
        return found

    def before_write(self, array: np.ndarray) -> None:
        """Copy what was saved of the memory of `array`, which is going to be written to."""
        for tid in self.sid_to_tid.get(id(owner(array)), ()):
            handle = self.tid_to_weakhandle.get(tid)
            if handle is not None and handle in self.original:
                self.cloned[handle] = wrap(np.array(numbers(self.original.pop(handle))))

    def clear(self) -> None:
        """Forget everything."""
        for kept in (self.cloned, self.original, self.tid_to_weakhandle, self.sid_to_tid):
            kept.clear()


def owner(array: np.ndarray) -> np.ndarray:
    """The array whose memory this one shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[MutationContext]:
    """Inside, saved tensors may be written to: they are copied before that, and backward uses the copies.

    Forward and backward must both run inside: AssertionError with PyTorch's text otherwise. RuntimeError if
    nested. Gives the context that keeps the copies.
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
