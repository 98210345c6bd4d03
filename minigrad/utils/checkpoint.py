"""Checkpointing: activations that are computed again in the backward pass.

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
import functools
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..autograd.function import Function
from ..autograd.graph import pop_hooks, push_hooks
from ..autograd.run import backward
from ..core import modes
from ..core.modes import Within
from ..core.nested_passes import here
from ..core.saved_values import kept_apart, unpack_each
from ..core.tensor_state import TensorBase, Tensors, alias
from ..left_out import refuse
from ..left_out import refusing as _refusing
from ..ops.generator import default_generator

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_early_stop",
]


# ─── How a checkpointed call without reentrant autograd forgets its saved tensors and computes them again


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
def hidden_hooks(*hooks: Callable[[Any], Any]) -> Iterator[None]:
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
        hooks = hidden_hooks(lambda tensor: self.collect(work, tensor), lambda tensor: tensor)
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


# ─── Trading time for memory: a part of a program forgets what it saved for backward and computes it
# again


UNSAID = (
    "{}: the use_reentrant parameter should be passed explicitly. {} use_reentrant=False is recommended, but "
    "if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs "
    "for more details on the differences between the two variants."
)
LIMITED = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
    "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
    ".backward() without passing the `inputs` argument."
)
SUPPRESSED = (
    "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised "
    "during the checkpointed forward. This is not supported because checkpoint cannot return a value for a "
    "failed forward."
)


class Settings:
    """What `set_checkpoint_early_stop` overrides, in all threads, while it is not None."""

    early_stop: bool | None = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Set, for calls of `checkpoint` inside, whether a function that runs again is left as soon as all needed
    tensors are there.
    """
    before, Settings.early_stop = Settings.early_stop, enable
    try:
        yield
    finally:
        Settings.early_stop = before


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Return two contexts that do nothing: the default of `context_fn`."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def describe(tensor: Any) -> dict[str, Any]:
    """Return what must be equal between a saved tensor and the recomputed one."""
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


CHECKS: dict[str, Callable[[Any], Any]] = {"default": describe, "none": lambda tensor: None}


def warn_unsaid(name: str, since: str) -> bool:
    """Warn that `use_reentrant` was not given, and return its default."""
    warnings.warn(UNSAID.format(name, since), stacklevel=3)
    return True


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn, determinism_check: str = "default",
    debug: bool = False, early_stop: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """Return `function(*args, **kwargs)`. The graph keeps no intermediate values: backward runs it again.

    `use_reentrant=False` records the graph as usual and computes its saved tensors again when one of them is
    needed: see Note [Recomputing]. `True` (the default, with a warning) leaves one node whose backward runs
    the function with gradients and a backward of its own; it takes no keyword arguments.

    Without reentrant autograd only: `context_fn` gives two context managers, for the first run and the later
    ones; `determinism_check="none"` does not compare shapes and dtypes; `early_stop=False` always runs the
    function to its end. `preserve_rng_state=True` (the default, for both) lets random numbers, minigrad's and
    NumPy's global ones, come again as they did. There is no `debug`.
    """
    if use_reentrant is None:
        since = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
        use_reentrant = warn_unsaid("torch.utils.checkpoint", since)
    preserve = kwargs.pop("preserve_rng_state", True)
    refuse("checkpoint", debug=debug)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in CHECKS:
        raise ValueError(f"determinism_check should be one of {list(CHECKS)}, but got {determinism_check}")
    forward_context, recompute_context = context_fn()
    random = states() if preserve else None

    def again(*args: Any) -> None:
        with drawing_from(random), recompute_context:
            function(*args, **kwargs)

    if not modes.is_grad_enabled():
        return function(*args, **kwargs)
    stop = early_stop if Settings.early_stop is None else Settings.early_stop
    frame = Frame(again, args, stop, CHECKS[determinism_check])
    with hidden_hooks(frame.forget, frame.remember), forward_context:
        result = function(*args, **kwargs)
        frame.completed = True
    if not frame.completed:
        raise RuntimeError(SUPPRESSED)
    return result


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call `functions` (or the children of a module) one after the other, in `segments` parts of which all
    but the last are checkpointed.
    """
    if use_reentrant is None:
        since = "In version 2.9 we will raise an exception if use_reentrant is not passed."
        use_reentrant = warn_unsaid("torch.utils.checkpoint.checkpoint_sequential", since)
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if hasattr(functions, "children"):
        functions = list(functions.children())
    size = len(functions) // segments
    for start in range(0, size * (segments - 1), size):
        part = functools.partial(one_after_the_other, functions[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    done = size * (segments - 1)
    return one_after_the_other(functions[done:], input)


def one_after_the_other(functions: Iterable[Any], value: Any) -> Any:
    """Return the result of calling each function on the result of the one before."""
    for function in functions:
        value = function(value)
    return value


# ── with reentrant autograd
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs with every tensor as a new leaf; raise RuntimeError unless they are a tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(x.detach().requires_grad_(x.requires_grad) if is_tensor(x) else x for x in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no input needs a gradient."""
    if not any(t.requires_grad for t in inputs if is_tensor(t)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def is_tensor(x: Any) -> bool:
    """Return whether `x` is a tensor."""
    return isinstance(x, TensorBase)


class CheckpointFunction(Function):
    """Runs a function without recording; its backward runs it again, recorded, and a backward inside."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Save the inputs and nothing else."""
        check_backward_validity(args)
        ctx.function = run_function
        ctx.random = states() if preserve_rng_state else None
        ctx.inputs = [None if is_tensor(a) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if is_tensor(a)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with Within(grad_enabled=False):
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Run the function again and go backward through it. RuntimeError in a pass limited to inputs."""
        if here.limited:
            raise RuntimeError(LIMITED)
        inputs = list(ctx.inputs)
        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = tensor
        leaves = detach_variable(tuple(inputs))
        with recomputing(), drawing_from(ctx.random):
            outputs = ctx.function(*leaves)
        if is_tensor(outputs):
            outputs = (outputs,)
        wanted = [(o, g) for o, g in zip(outputs, args, strict=False) if is_tensor(o) and o.requires_grad]
        if not wanted:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in wanted], [g for _, g in wanted])
        return (None, None, *(x.grad if is_tensor(x) else None for x in leaves))


__getattr__ = _refusing("utils.checkpoint")
