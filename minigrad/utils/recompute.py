"""How a checkpointed call without reentrant autograd forgets its saved tensors and computes them again.

Note [Recomputing]
    In a checkpointed call every tensor that a node saves is replaced by an empty `Holder`. The first of them
    that a backward pass unpacks runs the function again; the tensors saved then, in the same order, are the
    ones that were forgotten, and each is given to its holder's node once. They belong to that pass: another
    pass computes them again. An exception ends the function as soon as the last one is there.

    Calls nest: the inputs of an inner call count as tensors saved in the outer one, so that unpacking them
    runs the outer function first. While a function runs again, only the hooks that collect its tensors are
    active, and checkpointed calls inside it forget their tensors again.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..autograd.saved_hooks import pop_hooks, push_hooks
from ..core import modes
from ..core.modes import Within
from ..core.nested_passes import here
from ..core.saved import kept_apart, unpack_each
from ..core.tensor_state import TensorBase, Tensors, alias
from ..ops.generator import default_generator

ONCE = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you "
    "are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue "
    "with details on your use case."
)


class CheckpointError(RuntimeError):
    """The function did not save the same tensors when it ran again."""


class StopRecomputation(Exception):
    """Leaves a function that runs again when all its tensors are there."""


class Holder:
    """Stands in a node for a tensor that was not kept, with its description."""

    __slots__ = ("__weakref__", "description")

    def __init__(self, description: Any) -> None:
        self.description = description


class Pass:
    """What one backward pass computed again: `count` tensors so far, by holder those not yet unpacked."""

    def __init__(self) -> None:
        self.count = 0
        self.done = False
        self.tensors: WeakKeyDictionary[Holder, TensorBase] = WeakKeyDictionary()


def notes() -> dict[Any, Any]:
    """Return what the backward pass that runs now has computed again.

    A saved value that is read outside of any pass is not kept.
    """
    return {} if here.task is None else here.task.notes


@contextlib.contextmanager
def recomputing() -> Iterator[None]:
    """Record what runs inside, and notify the observers that it runs for the second time."""
    watchers = modes.observers()
    for watcher in watchers:
        watcher.recomputed(True)
    try:
        with Within(grad_enabled=True):
            yield
    finally:
        for watcher in watchers:
            watcher.recomputed(False)


@contextlib.contextmanager
def unnoticed(*hooks: Callable[[Any], Any]) -> Iterator[None]:
    """Pass what nodes save inside through a pair of hooks, without a notice to the observers."""
    push_hooks(*hooks)
    try:
        yield
    finally:
        pop_hooks()


class Frame:
    """One checkpointed call: its arguments (tensors as the enclosing hooks save them), the holders it gave
    out, and how to run it again.

    `describe` gives what must be equal between a saved tensor and the recomputed one.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], early_stop: bool,
        describe: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        self.function, self.early_stop, self.describe = function, early_stop, describe
        self.args = [kept_apart(a) if isinstance(a, TensorBase) else a for a in args]
        self.holders: list[weakref.ref[Holder]] = []
        self.completed = False
        self.lenient = False  # backward ran inside the function: the numbers of tensors differ

    def forget(self, tensor: Any) -> Holder:
        """Return a holder for a tensor: the pack hook of the first run."""
        holder = Holder(self.describe(tensor))
        self.holders.append(weakref.ref(holder))
        return holder

    def remember(self, holder: Holder) -> Any:
        """Return the tensor of a holder, computed again if this pass has not done so: the unpack hook.

        Raise CheckpointError if this pass has unpacked it before.
        """
        work = notes().setdefault(self, Pass())
        if not work.done:
            self.run_again(work)
            work.done = True
            self.check(work)
        tensor = work.tensors.pop(holder, None)
        if tensor is None:
            raise CheckpointError(ONCE)
        return tensor

    def run_again(self, work: Pass) -> None:
        """Run the function again and collect what it saves."""
        args = [unpack_each(None, "", a)[0] if isinstance(a, Tensors) else a for a in self.args]
        hooks = unnoticed(lambda tensor: self.collect(work, tensor), lambda tensor: tensor)
        with recomputing(), contextlib.suppress(StopRecomputation), hooks:
            self.function(*args)

    def collect(self, work: Pass, tensor: Any) -> Any:
        """Keep a tensor of a later run, without its graph: the pack hook of that run."""
        if tensor.requires_grad:
            tensor = alias(tensor, tensor._data)
        index = work.count
        work.count += 1
        if index >= len(self.holders):
            if not self.completed:
                self.lenient = True
                return tensor
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
                "original forward pass.\n"
            )
        holder = self.holders[index]()
        if holder is not None:  # else a backward inside the function has freed it
            work.tensors[holder] = tensor
        if self.early_stop and work.count == len(self.holders):
            raise StopRecomputation
        return tensor

    def check(self, work: Pass) -> None:
        """Raise CheckpointError unless the same number of tensors of the same kinds was saved again."""
        if self.lenient:
            return
        if len(self.holders) != work.count:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward "
                f"and recomputation.\nNumber of tensors saved during forward: {len(self.holders)}\nNumber of "
                f"tensors saved during recomputation: {work.count}.\n"
            )
        different = ""
        for i, holder in enumerate(reference() for reference in self.holders):
            found = None if holder is None else self.describe(work.tensors[holder])
            if holder is not None and found != holder.description:
                different += (
                    f"tensor at position {i}:\nsaved metadata: {holder.description}\n"
                    f"recomputed metadata: {found}\n"
                )
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata "
                f"than during the forward pass.\n{different}.\n"
            )


def states() -> tuple[Any, Any]:
    """Return the states of the default generator and of NumPy's global one."""
    return default_generator.get_state(), np.random.get_state()


def set_states(states: tuple[Any, Any]) -> None:
    """Set the states of both generators."""
    default_generator.set_state(states[0])
    np.random.set_state(states[1])


@contextlib.contextmanager
def drawing_from(kept: tuple[Any, Any] | None) -> Iterator[None]:
    """Draw the random numbers that follow these states, if there are any; afterwards go on as before."""
    if kept is None:
        yield
        return
    before = states()
    set_states(kept)
    try:
        yield
    finally:
        set_states(before)
