"""Trading time for memory: a part of a program forgets what it saved for backward and computes it again."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from ..autograd.function import Function
from ..autograd.run import backward
from ..core import modes
from ..core.modes import Within
from ..core.nested_passes import here
from ..core.tensor_state import TensorBase
from ..left_out import refuse
from ..left_out import refusing as _refusing
from .recompute import CheckpointError, Frame, drawing_from, recomputing, states, unnoticed

__all__ = [
    "CheckpointError", "CheckpointFunction", "check_backward_validity", "checkpoint", "checkpoint_sequential",
    "detach_variable", "noop_context_fn", "set_checkpoint_early_stop",
]  # fmt: skip

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
    with unnoticed(frame.forget, frame.remember), forward_context:
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
