"""The arguments of transforms, checked with PyTorch's errors: which to differentiate, and `vmap`'s dims."""

from __future__ import annotations

import functools
from typing import Any

from ..autograd.starts import checked_dim, common_size
from . import pytree

Argnums = int | tuple[int, ...]


def checked_argnums(argnums: Any, count: int) -> tuple[int, ...]:
    """Return the argument numbers, counted from the front; raise PyTorch's RuntimeErrors."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = []
    for argnum in argnums if isinstance(argnums, tuple) else (argnums,):
        if not isinstance(argnum, int):
            raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
        if not -count <= argnum < count:
            raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
        found.append(argnum % count)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(found)}")
    return tuple(found)


def selected(args: tuple[Any, ...], argnums: Any) -> Any:
    """Return the argument of that number, or a tuple of those."""
    found = tuple(args[i] for i in checked_argnums(argnums, len(args)))
    return found if isinstance(argnums, tuple) else found[0]


def replace(args: tuple[Any, ...], argnums: Any, new: Any) -> tuple[Any, ...]:
    """Return all arguments, with `new` in the places of `argnums`."""
    result = list(args)
    places = checked_argnums(argnums, len(args))
    for i, value in zip(places, new if isinstance(argnums, tuple) else (new,), strict=True):
        result[i] = value
    return tuple(result)


Dims = Any  # an int, or a nested structure of them and None


def name_of(func: Any) -> str:
    """Return the name by which errors call a function."""
    if hasattr(func, "__name__"):
        return str(func.__name__)
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return repr(func)


def check_out_dims(func: Any, out_dims: Dims) -> None:
    """Raise ValueError unless `out_dims` consists of numbers and None."""
    for d in pytree.flatten(out_dims)[0]:
        if not (d is None or isinstance(d, int)):
            raise ValueError(
                f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a "
                "python collection of ints representing where in the outputs the vmapped dimension should "
                "appear."
            )


def batched(func: Any, in_dims: Dims, args: tuple[Any, ...]) -> tuple[list[Any], list[Any], Any, int]:
    """Return each leaf's batch dimension (or None), the leaves, their structure, and the size of the batch.

    Raise ValueError with PyTorch's texts.
    """
    name = name_of(func)
    who = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{who}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
            f"inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
            "vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = pytree.flatten(args)
    dims = pytree.broadcast_prefix(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{who}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{pytree.flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    dims = [dim_of(who, t, d) for t, d in zip(leaves, dims, strict=True)]
    sizes = [t._data.shape[d] for t, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    return dims, leaves, spec, common_size(sizes)


def dim_of(who: str, leaf: Any, dim: Any) -> int | None:
    """Return one batch dimension, counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{who}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    return checked_dim(who, leaf, dim)


def spread_out_dims(func: Any, out_dims: Dims, spec: Any) -> list[Any]:
    """Return the batch dimension of each leaf of the outputs; raise ValueError if the structures differ."""
    if spec == pytree.LEAF and isinstance(out_dims, tuple) and len(out_dims) == 1:
        return list(out_dims)
    dims = pytree.broadcast_prefix(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            f"structure of `outputs`. out_dims has structure {pytree.flatten(out_dims)[1]} but outputs has "
            f"structure {spec}."
        )
    return dims
