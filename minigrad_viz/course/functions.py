"""A Function that somebody wrote, tried: its value, the gradients that it gives, and what it saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import minigrad

from ..protocol import is_tensor, pytorch
from .answers import attempt, library_of


class Tried(NamedTuple):
    """What a Function gave: its result, the gradients of its inputs, the tensors that it saved."""

    result: Any
    gradients: tuple[Any, ...]
    saved: tuple[Any, ...]


def function_of(answer: object) -> type[Any] | None:
    """The Function that an answer is, or whose `apply` it is; None for anything else."""
    written = answer if isinstance(answer, type) else getattr(answer, "__self__", None)
    known = [library.autograd.Function for library in (minigrad, pytorch()) if library]
    if isinstance(written, type) and issubclass(written, tuple(known)) and written not in known:
        return written
    return None


def tried(written: type[Any], inputs: Sequence[Any], sent: Any) -> Tried:
    """`written` applied to `inputs`, in double precision, and the gradients when `sent` comes back to it.

    Raised if what somebody wrote raises.
    """
    return attempt(lambda: through(library_of(written), written.apply, inputs, sent))


def through(library: Any, operation: Callable[..., Any], inputs: Sequence[Any], sent: Any) -> Tried:
    """`operation` applied to `inputs`, and the gradients when `sent` comes back to it."""
    given = [library.tensor(value, dtype=library.float64, requires_grad=True) for value in inputs]
    result = operation(*given)
    if not is_tensor(result):
        raise TypeError(f"forward returned {type(result).__name__}, not a tensor")
    saved = getattr(result.grad_fn, "saved_tensors", ())
    came = library.tensor(sent, dtype=library.float64)
    return Tried(result, library.autograd.grad(result, given, came, allow_unused=True), saved)
