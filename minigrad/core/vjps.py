"""What a vjp takes, and vjps whose gradients come from one function."""

from __future__ import annotations

from typing import Any


def parameters(function: Any) -> tuple[str, ...]:
    """Return the names of the positional parameters of a function."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


def arguments(vjp: Any) -> tuple[str, ...]:
    """Return the names that a vjp takes, without `g`. A vjp may be an op of `F`; then `g` is its first."""
    if hasattr(vjp, "op"):
        return vjp.op.params[1:]
    return vjp.names if hasattr(vjp, "names") else parameters(vjp)[1:]


class Part:
    """The vjp of one input of an op whose gradients come from one function, `together(g, wanted, …)`. That
    function returns all gradients; `wanted` says for each input whether its gradient is needed.
    """

    def __init__(self, together: Any, i: int, count: int) -> None:
        self.together, self.names, self.i = together, parameters(together)[2:], i
        self.wanted = tuple(i == k for k in range(count))

    def __call__(self, g: Any, *values: Any) -> Any:
        return self.together(g, self.wanted, *values)[self.i]


def jointly(function: Any, *inputs: str) -> dict[str, Any]:
    """Return the vjps of `inputs` whose gradients come from one function. See `Part`. On raw arrays the
    function is called once for all inputs.
    """
    return {name: Part(function, i, len(inputs)) for i, name in enumerate(inputs)}
