"""Which positional arguments a transform differentiates."""

from __future__ import annotations

from typing import Any

Argnums = int | tuple[int, ...]


def place(argnum: Any, count: int) -> int:
    """One argument number, counted from the front; RuntimeError with PyTorch's texts if there is no such
    argument.
    """
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def places(argnums: Any, count: int) -> int | tuple[int, ...]:
    """`argnums` counted from the front and checked."""
    if isinstance(argnums, int):
        return place(argnums, count)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = tuple(place(n, count) for n in argnums)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def wanted(args: tuple[Any, ...], argnums: Any) -> Any:
    """The argument of that number, or a tuple of those."""
    found = places(argnums, len(args))
    return args[found] if isinstance(found, int) else tuple(args[i] for i in found)


def replace(args: tuple[Any, ...], argnums: Any, new: Any) -> tuple[Any, ...]:
    """All arguments, with `new` in the places of `argnums`."""
    found = places(argnums, len(args))
    pairs = [(found, new)] if isinstance(found, int) else list(zip(found, new, strict=True))
    result = list(args)
    for i, value in pairs:
        result[i] = value
    return tuple(result)
