"""Which positional arguments a transform differentiates."""

from __future__ import annotations

from typing import Any

Argnums = int | tuple[int, ...]


def checked_argnum(argnum: Any, count: int) -> int:
    """Return one argument number, counted from the front.

    Raise RuntimeError with PyTorch's texts if there is no such argument.
    """
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def checked_argnums(argnums: Any, count: int) -> int | tuple[int, ...]:
    """Return `argnums` checked and counted from the front."""
    if isinstance(argnums, int):
        return checked_argnum(argnums, count)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = tuple(checked_argnum(n, count) for n in argnums)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def selected(args: tuple[Any, ...], argnums: Any) -> Any:
    """Return the argument of that number, or a tuple of those."""
    found = checked_argnums(argnums, len(args))
    return args[found] if isinstance(found, int) else tuple(args[i] for i in found)


def replace(args: tuple[Any, ...], argnums: Any, new: Any) -> tuple[Any, ...]:
    """Return all arguments, with `new` in the places of `argnums`."""
    found = checked_argnums(argnums, len(args))
    pairs = [(found, new)] if isinstance(found, int) else list(zip(found, new, strict=True))
    result = list(args)
    for i, value in pairs:
        result[i] = value
    return tuple(result)
